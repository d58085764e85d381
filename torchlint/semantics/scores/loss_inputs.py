"""Losses that are given what they do not expect: probabilities for logits, logits for log-probabilities."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.kinds.loaded import LoaderTensors
from torchlint.semantics.purpose import Purpose
from torchlint.semantics.scores.activations import Activations, Origin
from torchlint.semantics.scores.chosen_losses import ChosenLosses
from torchlint.semantics.scores.outputs import Output
from torchlint.semantics.shapes.batches import Batches
from torchlint.semantics.shapes.ranks import Ranks

Node = TypeVar("Node")

_EXPECTS = {
    "torch.nn.CrossEntropyLoss": "log-softmax",
    "torch.nn.functional.cross_entropy": "log-softmax",
    "torch.nn.BCEWithLogitsLoss": "sigmoid",
    "torch.nn.functional.binary_cross_entropy_with_logits": "sigmoid",
    "torch.nn.MultiLabelSoftMarginLoss": "sigmoid",
    "torch.nn.functional.multilabel_soft_margin_loss": "sigmoid",
    "torch.nn.NLLLoss": "nothing",
    "torch.nn.functional.nll_loss": "nothing",
    "torch.nn.BCELoss": "probabilities",
    "torch.nn.functional.binary_cross_entropy": "probabilities",
}
"""What a loss applies to its input before it compares."""
_OF_TWO = frozenset({"torch.nn.BCEWithLogitsLoss", "torch.nn.functional.binary_cross_entropy_with_logits"})
_WRONG = {
    "log-softmax": frozenset({Output.SOFTMAX, Output.SIGMOID, Output.LOG_SOFTMAX}),
    "sigmoid": frozenset({Output.SOFTMAX, Output.SIGMOID, Output.LOG_SOFTMAX}),
    "nothing": frozenset({Output.SOFTMAX, Output.SIGMOID, Output.LOGITS}),
    "probabilities": frozenset[Output](),  # logits raise: a question of its own
}
_ORDERING = frozenset({"argmax", "argsort", "size", "shape", "dim", "device", "dtype", "numel", "ndim"})
_CHOOSING = frozenset({"torch.argmax", "torch.argsort", "torch.is_tensor", "builtins.len"})
_SELECTING = frozenset({"max", "topk", "sort"})
"""What gives values and where they were."""
_PASSING = frozenset({"data", "detach", "cpu", "view", "squeeze", "reshape", "float", "to", "cuda"})


@dataclass(frozen=True, eq=False, slots=True)
class WrongInput(Generic[Node]):
    """What the loss ``call``, by its full ``name``, is given although it ``expects`` something else.

    It is of the sort ``output``, made by the call ``made`` of ``operand`` (none for a layer of a ``Sequential``), and
    ``elsewhere`` as well; ``needed`` for more than the loss. ``removable`` is whether the activation can just be left out,
    ``construction`` the only call that makes the loss, if all that is given to it is as wrong. ``harmless`` is whether the
    loss is the same all the same: a log-softmax of log-probabilities.
    """

    call: Node
    name: str
    expects: str
    output: Output
    made: Node
    operand: Node | None
    elsewhere: bool
    needed: bool
    removable: bool
    construction: Node | None
    harmless: bool
    there: str = ""
    """In which other file it is made, if it is ``made`` by calling a model of another file."""
    repeated: bool = False
    """Whether an earlier loss of the file is given what the same layer of a model makes: one change mends both."""
    tried: bool = False
    """Whether only code gives it that tries out what the file defines, and trains nothing."""


@dataclass(frozen=True, slots=True)
class _Loss:
    """A call of a loss: what computes it, what it is given, what it expects."""

    call: ast.Call
    value: ast.expr
    name: str
    expects: str


class LossInputs:
    """Tells what the losses of a file are given."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._activations = semantics.of(Activations)

    @cached_property
    def wrong(self) -> dict[ast.expr, WrongInput[ast.expr]]:
        """The inputs that are not what the loss expects."""
        found: dict[ast.expr, WrongInput[ast.expr]] = {}
        for loss in self._losses:
            origin = self._activations.origin(loss.value)
            if origin is not None and (origin.output in _WRONG[loss.expects] or self._is_mixing(loss, origin)):
                described = self._described(loss, origin)
                found[loss.value] = replace(described, repeated=any(map(partial(self._is_same, described), found.values())))
        return found

    def _is_same(self, wrong: WrongInput[ast.expr], earlier: WrongInput[ast.expr]) -> bool:
        """Whether two losses are given what one activation makes, in another function than theirs, which can be left out."""
        tree = self._semantics.tree
        is_one = wrong.made is earlier.made and wrong.expects == earlier.expects and wrong.removable and earlier.removable
        return is_one and tree.function(wrong.made) not in (tree.function(wrong.call), tree.function(earlier.call))

    @cached_property
    def raw(self) -> dict[ast.Call, WrongInput[ast.expr]]:
        """The losses of probabilities that are given logits, and nothing else."""
        found: dict[ast.Call, WrongInput[ast.expr]] = {}
        for loss in self._losses:
            if loss.expects == "probabilities":
                origin = self._activations.origin(loss.value)
                if origin is not None and origin.output is Output.LOGITS and origin.unique:
                    found[loss.call] = self._described(loss, origin)
        return found

    def _is_mixing(self, loss: _Loss, origin: Origin) -> bool:
        """Whether log-probabilities, which a loss rightly expects, add up to one over the batch: ``log_softmax(x, dim=0)``."""
        return loss.expects == "nothing" and self._is_over_batch(loss, origin)

    def _is_over_batch(self, loss: _Loss, origin: Origin) -> bool:
        """Whether log-probabilities add up to one over a batch, as far as the file tells."""
        if origin.output is not Output.LOG_SOFTMAX or origin.operand is None or not origin.unique:
            return False
        first = 1 if (self._semantics.qualified_name(origin.node.func) or "").startswith("torch.") else 0
        given = [word.value for word in origin.node.keywords if word.arg == "dim"] or origin.node.args[first : first + 1]
        if not any(isinstance(dim, ast.Constant) and dim.value == 0 and dim.value is not False for dim in given):
            return False
        match origin.operand:
            case ast.Call(func=ast.Attribute(attr="t" | "transpose" | "permute")) | ast.Attribute(attr="T" | "mT"):
                return False  # the classes come first
        rank = self._semantics.of(Ranks).of(origin.operand)
        compared = [origin.operand, *loss.call.args[1:2]]
        return rank == 2 or (rank is None and any(map(self._is_batch, compared)))

    def _is_batch(self, node: ast.expr) -> bool:
        """Whether a value is a batch, or is unpacked from what a loader gives: ``y`` of ``for x, y in loader``."""
        return self._semantics.of(Batches).is_batch(node) or self._semantics.of(LoaderTensors).include(node)

    @cached_property
    def _losses(self) -> list[_Loss]:
        losses = map(self._loss, self._semantics.tree.of_type(ast.Call))
        return [loss for loss in losses if loss is not None]

    @cached_property
    def logits(self) -> list[tuple[ast.Call, ast.expr]]:
        """What is given as logits to losses of two classes, with the calls of these."""
        return [(loss.call, loss.value) for loss in self._losses if loss.name in _OF_TWO]

    def _described(self, loss: _Loss, origin: Origin) -> WrongInput[ast.expr]:
        needed = self._is_needed(loss, origin)
        return WrongInput(
            loss.call,
            loss.name,
            loss.expects,
            origin.output,
            origin.node,
            origin.operand,
            not origin.unique,
            needed,
            origin.unique and not origin.stored and not needed and not origin.there,
            self._only_construction(loss) if origin.output is Output.LOGITS else None,
            (loss.expects, origin.output) == ("log-softmax", Output.LOG_SOFTMAX) and not self._is_over_batch(loss, origin),
            origin.there,
            tried=self._is_tried(loss, origin),
        )

    def _is_tried(self, loss: _Loss, origin: Origin) -> bool:
        """Whether what a function of the file is given is made where the file tries it out."""
        purpose = self._semantics.of(Purpose)
        return not origin.there and purpose.is_self_test(origin.node) and not purpose.is_self_test(loss.call)

    def _loss(self, call: ast.Call) -> _Loss | None:
        words = [word.value for word in call.keywords if word.arg == "input"]
        values = [*call.args[:1], *words]
        if len(values) != 1 or isinstance(values[0], ast.Starred):
            return None
        if isinstance(call.func, ast.Attribute) and call.func.attr in torch_api.TENSOR_ATTRIBUTES:
            return None  # a tensor's method, of which there are many
        name = self._semantics.qualified_name(call.func)
        if name is None or name not in _EXPECTS:
            kind = self._semantics.kind(call.func)
            name = kind.name if kind.type is Type.MODULE else None
            if name not in _EXPECTS:
                name = self._semantics.of(ChosenLosses).name(call.func)
        elif name.startswith("torch.nn.") and "functional" not in name:
            return None  # the construction of the loss
        return _Loss(call, values[0], name, _EXPECTS[name]) if name in _EXPECTS else None

    def _is_needed(self, loss: _Loss, origin: Origin) -> bool:
        """Whether the file uses the probabilities for more than losses that expect none, and for more than their order."""
        return any(not self._is_indifferent(use, loss.expects) for use in self._other_uses(origin))

    def _other_uses(self, origin: Origin) -> Iterator[ast.expr]:
        """Where else the results of an activation are used: by the names they went through, by the calls that return them."""
        for binding in origin.names:
            yield from binding.uses
        for function in origin.functions:
            for call in self._calls(function):
                yield from self._uses_of_result(call, origin)

    def _uses_of_result(self, call: ast.Call, origin: Origin) -> Iterator[ast.expr]:
        """The uses of a call's result: those of the names it is assigned to, or the call itself."""
        statement = self._semantics.tree.parent(call)
        if isinstance(statement, ast.Assign) and statement.value is call:
            for target in statement.targets:
                for part in ast.walk(target):
                    binding = self._semantics.bindings.of(part)
                    found = self._activations.origin(call, _steps(binding)) if binding is not None else None
                    if binding is not None and found is not None and found.node is origin.node:
                        yield from binding.uses
            return
        yield call

    @cached_property
    def _forward_calls(self) -> dict[ast.AST, list[ast.Call]]:
        """The calls of the file's modules, by the ``forward`` that they run."""
        found: dict[ast.AST, list[ast.Call]] = {}
        for node in self._semantics.tree.of_type(ast.Call):
            kind = self._semantics.kind(node.func)
            if kind.type is Type.MODULE and isinstance(kind.definition, ast.ClassDef):
                forward = self._semantics.facts.method(kind.definition, "forward")
                if forward is not None:
                    found.setdefault(forward, []).append(node)
        return found

    def _calls(self, function: ast.AST) -> list[ast.Call]:
        named = self._semantics.inference.call_sites(function) if isinstance(function, FUNCTIONS) else []
        return [*named, *self._forward_calls.get(function, ())]

    def _is_indifferent(self, use: ast.expr, expects: str) -> bool:
        """Whether a use would rather have the logits, or would give the same for them: losses, and what looks at the order."""
        tree = self._semantics.tree
        parent = tree.parent(use)
        match parent:
            case ast.Attribute(attr=name):
                if name in _ORDERING:
                    return True
                outer = tree.parent(parent)
                if isinstance(outer, ast.Call) and outer.func is parent:
                    if name in _SELECTING:
                        return self._takes_index_only(outer)
                    return name in _PASSING and self._is_indifferent(outer, expects)
                return name in _PASSING and self._is_indifferent(parent, expects)
            case ast.Call(func=function) if function is not use:
                inner = self._loss(parent)
                if inner is not None and inner.value is use:
                    return inner.expects == expects
                name = self._semantics.qualified_name(function) or ""
                selects = name.startswith("torch.") and name.removeprefix("torch.") in _SELECTING
                return name in _CHOOSING or (selects and self._takes_index_only(parent))
            case ast.Return() | ast.Tuple() | ast.Dict():
                around = tree.function(use)
                return isinstance(around, FUNCTIONS) and self._is_handed_on(around)
            case ast.Subscript(value=value):
                return value is use and self._is_indifferent(parent, expects)
            case ast.Assign(value=value, targets=[target]) if value is use:
                return self._is_passed_name(target, expects)
            case ast.For(iter=rows, target=target) if rows is use:
                return self._is_passed_name(target, expects)
        return False

    def _is_handed_on(self, function: ast.AST) -> bool:
        """Whether a function's results are looked at by themselves: it is a forward that the file calls."""
        return bool(self._calls(function))

    def _is_passed_name(self, target: ast.expr, expects: str) -> bool:
        binding = self._semantics.bindings.of(target)
        return binding is not None and all(self._is_indifferent(use, expects) for use in binding.uses)

    def _takes_index_only(self, call: ast.Call) -> bool:
        """Whether of ``max`` along a dimension, or its like, only the index is used: ``_, predicted = x.max(1)``."""
        match self._semantics.tree.parent(call):
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name() as first, _])]):
                binding = self._semantics.bindings.of(first)
                return binding is not None and not binding.uses
            case ast.Subscript(slice=ast.Constant(value=1)) | ast.Attribute(attr="indices"):
                return True
        return False

    # --- how a loss is made ------------------------------------------------------------------------------------------

    def _only_construction(self, loss: _Loss) -> ast.Call | None:
        """The one call that makes a loss object, all of whose calls are given logits."""
        made = self._construction(loss.call.func)
        for other in self._losses if made is not None else ():
            if other.call is not loss.call and self._construction(other.call.func) is made:
                origin = self._activations.origin(other.value)
                if origin is None or origin.output is not Output.LOGITS:
                    return None
        return made

    def _construction(self, function: ast.expr) -> ast.Call | None:
        """The one call that makes a loss object."""
        made = list(self._activations.constructions(function))
        return made[0] if len(made) == 1 and isinstance(made[0], ast.Call) else None


def _steps(binding: Binding) -> tuple[int | str, ...]:
    return tuple(step for step in binding.path if step is not None)
