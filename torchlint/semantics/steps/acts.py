"""The acts of a training step: backward, unscale, clip, step, update, zero, schedule."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.autograd.backwards import BACKWARDS, Backwards
from torchlint.semantics.code.tree import dotted, last_name, position
from torchlint.semantics.kinds.results import GRAD_SCALERS
from torchlint.semantics.steps.training_steps import TrainingSteps
from torchlint.semantics.training.optimizers import Optimizers, stepped

_CLIPS = frozenset(
    f"torch.nn.utils.{module}{name}"
    for module in ("", "clip_grad.")
    for name in ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "clip_grads_with_norm_")
)
_CLAMPS = frozenset({"clamp_", "clip_", "clamp_max_", "clamp_min_"})
_FIGURES = ("norm", "vector_norm", "abs", "mean", "std", "max", "min", "pow", "square", "item", "histc")
"""What is made of gradients to be looked at, and is another figure where they are scaled."""
_FINITE = frozenset({"isfinite", "isnan", "isinf"})
"""What is asked of a figure that is the same for scaled gradients, as a rule."""
_OF_TORCH = frozenset({"backward", "zero_grad", "step"})
"""Words of a file that trains with what it is given, and imports torch itself for nothing."""
_ENGINES = ("deepspeed", "colossalai", "paddle", "mxnet", "mindspore")
"""Libraries that scale, clip or step by themselves."""


class Deed(Enum):
    """What an act does."""

    BACKWARD = auto()
    UNSCALE = auto()
    CLIP = auto()
    LOOK = auto()
    STEP = auto()
    UPDATE = auto()
    ZERO = auto()
    SCHEDULE = auto()


@dataclass(frozen=True, eq=False, slots=True)
class Act:
    """A call that is a part of a training step, and ``of`` what: the optimizer or scheduler, the loss, what is zeroed.

    ``scaler`` is the GradScaler that scales the loss, or makes the step. An act that is not ``certain`` may be something else.
    """

    deed: Deed
    call: ast.Call
    of: ast.expr | None = None
    scaler: ast.expr | None = None
    certain: bool = True
    models: tuple[str, ...] = ()
    """The models whose gradients are clipped, as they are spelled; empty where that is not in sight."""


class Acts:
    """Finds the acts of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._calls = semantics.facts.calls

    @cached_property
    def all(self) -> list[Act]:
        """The acts, in the order of the text; none where the file uses an engine that acts by itself."""
        words = self._semantics.words.all
        is_torch = "torch" in words or words.issuperset(_OF_TORCH)
        return self.written if is_torch and not any(engine in words for engine in _ENGINES) else []

    @cached_property
    def written(self) -> list[Act]:
        """The acts that are written in the file, whatever acts besides."""
        found = [*self._backwards(), *self._steps(), *self._zeros(), *self._clips(), *self._scalings(), *self._looks()]
        tree = self._semantics.tree
        found = [act for act in found if not isinstance(tree.function(act.call), ast.Lambda)]
        return sorted(found, key=lambda act: position(act.call))

    def is_scaler(self, node: ast.expr) -> bool:
        """Whether an expression gives a GradScaler of torch that is not switched off: by how it is made, or given as."""
        return self.is_made(node) or (self._is_called_scaler(node) and self._is_given(node))

    def is_made(self, node: ast.expr) -> bool:
        """Whether an expression gives a GradScaler that the file makes, and does not switch off."""
        made = [call for call in self._scalers if self._is_kept_as(call, node)]
        if not made:
            return self._semantics.kind(node).name in GRAD_SCALERS and not any(map(_is_off, self._scalers))
        return not any(map(_is_off, made))

    @cached_property
    def _scalers(self) -> list[ast.Call]:
        calls = self._calls.get("GradScaler", ())
        return [call for call in calls if self._semantics.qualified_name(call.func) in GRAD_SCALERS]

    def _is_kept_as(self, made: ast.Call, node: ast.expr) -> bool:
        """Whether the scaler that a call makes is what a name or an attribute refers to."""
        statement = self._semantics.tree.statement(made)
        if not isinstance(statement, ast.Assign):
            return False
        if isinstance(node, ast.Name):
            return any(binding.node in statement.targets for binding in self._semantics.bindings.reaching(node))
        return isinstance(node, ast.Attribute) and any(store in statement.targets for store in self._stores(node))

    def _is_called_scaler(self, node: ast.expr) -> bool:
        kind = self._semantics.kind(node)
        return "scaler" in last_name(node).lower() and not kind.known

    def _is_given(self, node: ast.expr) -> bool:
        """Whether what a scaler is comes from outside: a parameter, or an attribute that another file may set."""
        if isinstance(node, ast.Name):
            bindings = self._semantics.bindings.reaching(node)
            return bool(bindings) and all(binding.form is Form.PARAMETER for binding in bindings)
        return isinstance(node, ast.Attribute) and not any(self._stores(node))

    def _stores(self, node: ast.Attribute) -> Iterator[ast.expr]:
        owner = self._semantics.facts.self_class(node.value)
        for slot in self._semantics.facts.slots(owner, node.attr) if owner is not None else ():
            yield from slot.stores

    # --- the acts ----------------------------------------------------------------------------------------------------

    def _backwards(self) -> Iterator[Act]:
        certain = {backward.call for backward in self._semantics.of(Backwards).all}
        for name in BACKWARDS:
            for call in self._calls.get(name, ()):
                receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
                scaled = self._scaled(receiver) if receiver is not None else None
                if scaled is not None:
                    yield Act(Deed.BACKWARD, call, *scaled)
                else:
                    yield Act(Deed.BACKWARD, call, receiver, certain=call in certain)

    def _scaled(self, loss: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """The loss that is back-propagated, and the scaler that scales it: ``scaler.scale(loss)``, at once or by a name."""
        match loss:
            case ast.Call(func=ast.Attribute(value=scaler, attr="scale"), args=[plain]) if self.is_scaler(scaler):
                return plain, scaler
            case ast.Name():
                bindings = self._semantics.bindings.reaching(loss)
                if len(bindings) == 1 and isinstance(bindings[0].value, ast.Call) and not bindings[0].path:
                    return self._scaled(bindings[0].value)
        return None

    def _steps(self) -> Iterator[Act]:
        steps = self._semantics.of(TrainingSteps)
        certain = {step.call: step.optimizer for step in (*steps.steps, *steps.likely_steps)}
        for name in ("step", "optimizer_step"):
            for call in self._calls.get(name, ()):
                if not isinstance(call.func, ast.Attribute):
                    continue
                owner = call.func.value
                if self._is_scheduler(owner):
                    yield Act(Deed.SCHEDULE, call, owner)
                    continue
                scaler = owner if self.is_scaler(owner) else None
                optimizer = certain.get(call) or stepped(call) or self._closured(call)
                if scaler is not None and call.args:
                    optimizer = call.args[0]
                if optimizer is not None:
                    is_certain = call in certain or scaler is not None or self._is_optimizer(optimizer)
                    yield Act(Deed.STEP, call, optimizer, scaler, is_certain)

    def _closured(self, call: ast.Call) -> ast.expr | None:
        """The optimizer of ``optimizer.step(closure)``."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        return owner if owner is not None and self._is_optimizer(owner) else None

    def _is_optimizer(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type is Type.OPTIMIZER or bool(self._semantics.of(Optimizers).makings(node))

    def _is_scheduler(self, node: ast.expr) -> bool:
        kind = self._semantics.kind(node)
        return kind.type is Type.SCHEDULER or (not kind.known and "sched" in last_name(node).lower())

    def _zeros(self) -> Iterator[Act]:
        for call in self._calls.get("zero_grad", ()):
            if isinstance(call.func, ast.Attribute):
                yield Act(Deed.ZERO, call, call.func.value)

    def _clips(self) -> Iterator[Act]:
        for name in {name.rpartition(".")[2] for name in _CLIPS}:
            for call in self._calls.get(name, ()):
                if self._semantics.qualified_name(call.func) in _CLIPS:
                    yield Act(Deed.CLIP, call, call.args[0] if call.args else None, models=self._models(call.args[:1]))
        for name in _CLAMPS:
            for call in self._calls.get(name, ()):
                if isinstance(call.func, ast.Attribute) and _is_gradient(call.func.value):
                    loop = next(self._semantics.tree.loops(call), None)
                    iterated = [loop.iter] if isinstance(loop, ast.For) else []
                    yield Act(Deed.CLIP, call, call.func.value, models=self._models(iterated))

    def _looks(self) -> Iterator[Act]:
        """What makes a figure of a gradient, ``p.grad.norm()``; asked for only where losses are scaled."""
        for name in _FIGURES if "GradScaler" in self._semantics.words.all else ():
            for call in self._calls.get(name, ()):
                if not isinstance(call.func, ast.Attribute):
                    continue
                given = call.args[:1] if self._semantics.qualified_name(call.func) else [call.func.value]
                for gradient in filter(_is_gradient, given):
                    if self._is_scale_free(call):
                        continue
                    yield Act(Deed.LOOK, call, gradient)

    def _is_scale_free(self, figure: ast.expr) -> bool:
        """Whether what is made of a figure right there is the same for scaled gradients: whether it is finite or zero, a ratio
        of two.
        """
        node: ast.expr = figure
        for _ in range(4):
            match parent := self._semantics.tree.parent(node):
                case (
                    ast.Compare(comparators=[ast.Constant(value=0 | 0.0)])
                    | ast.Compare(left=ast.Constant(value=0 | 0.0), comparators=[_])
                ):
                    return True
                case ast.BinOp(op=ast.Div(), left=left, right=right):
                    other = right if left is node else left
                    return any(isinstance(part, ast.Attribute) and part.attr == "grad" for part in ast.walk(other))
                case ast.Call(func=function) if function is not node and last_name(function) in _FINITE:
                    return True
                case ast.Attribute(attr=name) if name in _FINITE:
                    return True
                case ast.Attribute() | ast.Call():
                    node = parent
                case _:
                    return False
        return False

    def _models(self, given: list[ast.expr]) -> tuple[str, ...]:
        """The models in ``model.parameters()``."""
        owners = [
            dotted(part.func.value)
            for each in given
            for part in ast.walk(each)
            if isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr in ("parameters", "named_parameters")
        ]
        return tuple(owner for owner in owners if owner) if all(owners) else ()

    def _scalings(self) -> Iterator[Act]:
        for call in self._calls.get("unscale_", ()):
            if isinstance(call.func, ast.Attribute):
                yield Act(Deed.UNSCALE, call, call.args[0] if call.args else None, call.func.value)
        for call in self._calls.get("update", ()):
            if isinstance(call.func, ast.Attribute) and self.is_scaler(call.func.value):
                yield Act(Deed.UPDATE, call, None, call.func.value)


def _is_gradient(node: ast.expr) -> bool:
    """Whether an expression is ``p.grad``, or ``p.grad.data``."""
    match node:
        case ast.Attribute(attr="grad"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="grad"), attr="data"):
            return True
    return False


def _is_off(scaler: ast.Call) -> bool:
    """Whether a scaler is made that scales nothing: ``GradScaler(enabled=False)``."""
    return any(
        word.arg == "enabled" and isinstance(word.value, ast.Constant) and not word.value.value for word in scaler.keywords
    )
