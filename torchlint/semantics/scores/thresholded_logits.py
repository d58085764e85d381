"""Logits that are compared with one half, or rounded, as if they were probabilities."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.memory.references import References
from torchlint.semantics.scores.activations import Activations
from torchlint.semantics.scores.loss_inputs import LossInputs
from torchlint.semantics.scores.outputs import SHAPING, SHAPING_FUNCTIONS, Output

Node = TypeVar("Node")
_Key: TypeAlias = object

_KEEPING = SHAPING | {"detach", "numpy", "data", "cpu", "squeeze", "item", "to", "ravel"}
_ROUNDING = frozenset({"torch.round", "numpy.round", "numpy.rint", "numpy.around", "builtins.round"})
_PROBABILITIES = frozenset({Output.SIGMOID, Output.SOFTMAX, Output.LOG_SOFTMAX})
_DEPTH = 3
_MOST = 8
"""How many calls of a function are looked at."""


@dataclass(frozen=True, eq=False, slots=True)
class Thresholded(Generic[Node]):
    """The ``logits`` that are taken for probabilities, and the call of the ``loss`` that takes them for what they are.

    ``half`` is the number that they are compared with; ``None`` where they are rounded. They may be an array of numpy by then.
    """

    logits: Node
    loss: Node
    half: Node | None
    is_array: bool


class ThresholdedLogits:
    """Follows, in one file, what a loss is given as logits to where it is used otherwise."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._activations = semantics.of(Activations)
        self._references = semantics.of(References)

    @cached_property
    def found(self) -> dict[ast.expr, Thresholded[ast.expr]]:
        """The comparisons and calls that take logits for probabilities."""
        found: dict[ast.expr, Thresholded[ast.expr]] = {}
        seen = set[ast.expr]()
        given = [(loss, self._stripped(value)) for loss, value in self._semantics.of(LossInputs).logits]
        given = [(loss, value) for loss, value in given if not self._is_probability(value)]
        for alike in (self._same_name, self._same_model):
            for loss, value in given:
                for logits in alike(value):
                    for node, taken, half in self._thresholds(logits, seen, 0):
                        if self._is_logit(value):
                            found.setdefault(node, Thresholded(taken, loss, half, self._is_array(node)))
        return found

    def _is_logit(self, value: ast.expr) -> bool:
        """Whether no model that the file does not know may have ended in a sigmoid: then it is the loss that is wrong."""
        if self._semantics.elsewhere.speaks_of("models of probabilities") is not True:
            return True
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        values = [binding.value for binding in bindings] if bindings else [value]
        return all(each is not None and self._is_of_known_model(self._stripped(each)) for each in values)

    def _is_of_known_model(self, value: ast.expr) -> bool:
        """Whether a value is given by a layer of torch, or by a class of modules that the project has."""
        if not isinstance(value, ast.Call):
            return False
        kind = self._semantics.kind(value.func)
        return bool(kind.type is not Type.UNKNOWN and (kind.definition or kind.classes_elsewhere or kind.name))

    def _is_squashed(self, logits: ast.expr) -> bool:
        """Whether the tensor that a name has is made a probability in place: ``logits.sigmoid_()``."""
        if "sigmoid_" not in self._semantics.words.all or not isinstance(logits, ast.Name):
            return False
        uses = (use for binding in self._semantics.bindings.reaching(logits) for use in binding.uses)
        parents = (self._tree.parent(use) for use in uses)
        return any(
            last_name(parent.func if isinstance(parent, ast.Call) else parent) == "sigmoid_"
            for parent in parents
            if isinstance(parent, (ast.Call, ast.Attribute))
        )

    def _is_array(self, node: ast.expr) -> bool:
        """Whether something is computed with numpy, or with Python's own numbers."""
        called = self._semantics.qualified_name(node.func) or "" if isinstance(node, ast.Call) else ""
        return called.startswith(("numpy.", "builtins.")) or any(
            isinstance(part, ast.Attribute) and part.attr in ("numpy", "item") for part in ast.walk(node)
        )

    # --- what is a logit ---------------------------------------------------------------------------------------------

    def _same_name(self, value: ast.expr) -> Iterator[ast.expr]:
        """All uses of the name that what a loss is given has."""
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        for binding in bindings:
            yield from (use for use in binding.uses if set(self._semantics.bindings.reaching(use)) <= set(bindings))

    def _same_model(self, value: ast.expr) -> Iterator[ast.expr]:
        """What else is given by the model whose result a loss is given, looked at behind all names."""
        calls = [value] if isinstance(value, ast.Call) else []
        if isinstance(value, ast.Name):
            bindings = self._semantics.bindings.reaching(value)
            if any(binding.form is not Form.ASSIGNMENT or binding.path for binding in bindings):
                return
            values = [self._stripped(binding.value) for binding in bindings if binding.value is not None]
            calls = [each for each in values if isinstance(each, ast.Call)] if len(values) == 1 else []
        for call in calls:
            key = self._key(call.func)
            yield from self._calls.pop(key, ()) if key is not None else ()

    @cached_property
    def _calls(self) -> dict[_Key, list[ast.Call]]:
        """The calls of models by what is called, a variable or an attribute of instances; not those that were looked at."""
        found: dict[_Key, list[ast.Call]] = {}
        for call in self._tree.of_type(ast.Call):
            if (call.args or call.keywords) and (key := self._key(call.func)) is not None:
                found.setdefault(key, []).append(call)
        return found

    def _key(self, function: ast.expr) -> _Key | None:
        """What tells a model from all others, where it is one for which the file shows no function."""
        if self._semantics.facts.definition(function) is not None or self._semantics.qualified_name(function):
            return None
        if isinstance(function, ast.Attribute):
            if function.attr == "forward":
                return self._key(function.value)
            owner = self._semantics.facts.self_class(function.value)
            is_method = owner is not None and self._semantics.facts.method(owner, function.attr) is not None
            return (owner, function.attr) if owner is not None and not is_method else None
        if not isinstance(function, ast.Name):
            return None
        owner = self._semantics.facts.self_class(function)
        return owner if owner is not None else self._references.of(function)

    def _stripped(self, value: ast.expr) -> ast.expr:
        """A value without what changes its shape or place only."""
        while True:
            match value:
                case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _KEEPING:
                    value = inner
                case ast.Call(func=function, args=[inner, *_]) if self._semantics.qualified_name(function) in SHAPING_FUNCTIONS:
                    value = inner
                case ast.Attribute(value=inner, attr="data"):
                    value = inner
                case _:
                    return value

    def _is_probability(self, value: ast.expr) -> bool:
        origin = self._activations.origin(value)
        return origin is not None and origin.output in _PROBABILITIES

    # --- what becomes of it ------------------------------------------------------------------------------------------

    def _thresholds(
        self, logits: ast.expr, seen: set[ast.expr], depth: int
    ) -> Iterator[tuple[ast.expr, ast.expr, ast.expr | None]]:
        """The comparisons and roundings that a value comes to, each with the value there, and the half it is compared with."""
        if logits in seen or depth > _DEPTH or self._is_squashed(logits):
            return
        seen.add(logits)
        current, parent = logits, self._tree.parent(logits)
        while True:
            match parent:
                case ast.Attribute(attr=name) if name in _KEEPING:
                    call = self._tree.parent(parent)
                    current = call if isinstance(call, ast.Call) and call.func is parent else parent
                case ast.Call(func=function, args=[first, *_]) if first is current and (
                    self._semantics.qualified_name(function) in SHAPING_FUNCTIONS
                ):
                    current = parent
                case ast.Subscript(value=whole) if whole is current and isinstance(parent.ctx, ast.Load):
                    current = parent
                case _:
                    break
            parent = self._tree.parent(current)
        if self._is_probability(current):
            return
        match parent:
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE()], comparators=[right]):
                half = right if left is current else left
                if isinstance(half, ast.Constant) and half.value == 0.5:
                    yield parent, current, half
            case ast.Attribute(attr="round"):
                call = self._tree.parent(parent)
                if isinstance(call, ast.Call) and not call.args and not call.keywords:
                    yield call, current, None
            case ast.Call(func=function, args=[first]) if first is current and not parent.keywords:
                if self._semantics.qualified_name(function) in _ROUNDING:
                    yield parent, current, None
                else:
                    yield from self._within(parent, current, seen, depth)
            case ast.Call():
                yield from self._within(parent, current, seen, depth)
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self._semantics.bindings.of(target)
                for use in self._own_uses(binding):
                    yield from self._thresholds(use, seen, depth + 1)

    def _within(
        self, call: ast.Call, given: ast.expr, seen: set[ast.expr], depth: int
    ) -> Iterator[tuple[ast.expr, ast.expr, ast.expr | None]]:
        """What a function of the file does with a value that it is given, where no call of it gives it a probability."""
        function = self._semantics.facts.definition(call.func)
        sites = self._semantics.facts.call_sites(function) if isinstance(function, FUNCTIONS) else []
        if not isinstance(function, FUNCTIONS) or len(sites) > _MOST:
            return
        for parameter in (*function.args.posonlyargs, *function.args.args):
            all_given = [self._semantics.facts.argument(site, function, parameter) for site in sites]
            if given in all_given and not any(each is None or self._is_probability(each) for each in all_given):
                for use in self._own_uses(self._semantics.bindings.of(parameter)):
                    yield from self._thresholds(use, seen, depth + 1)

    def _own_uses(self, binding: Binding | None) -> list[ast.Name]:
        """The uses of a name that have no value but one."""
        if binding is None:
            return []
        return [use for use in binding.uses if self._semantics.bindings.reaching(use) == (binding,)]
