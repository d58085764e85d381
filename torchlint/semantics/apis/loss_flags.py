"""Losses that are told by ``size_average`` and ``reduce`` what to do with the losses of single elements."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Grad, Semantics, Type
from torchlint.semantics.apis.deprecations import deprecation, taking
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.code.tree import FUNCTIONS, is_none, last_name

Node = TypeVar("Node")

_BETWEEN = {"PoissonNLLLoss": "eps", "poisson_nll_loss": "eps"}
"""What stands between the flags where something does, and is no ``ignore_index``."""
_AS = {
    "torch.nn.NLLLoss2d": "torch.nn.NLLLoss",
    "torch.nn.functional.nll_loss2d": "torch.nn.functional.nll_loss",
    "torch.nn.modules.loss._Loss": "torch.nn.L1Loss",
    "torch.nn.modules.loss._WeightedLoss": "torch.nn.BCELoss",
}
"""Losses without a row for their flags, that take them where another does: as a whole they are old, or private."""
FLAGS = ("size_average", "reduce")
_TARGETS = re.compile(
    r"(^|_)(targets?|labels?|tgt|gt|ground_?truths?|y|ys|y_?(true|hat|test|val|train)|truths?)$", re.IGNORECASE
)
"""What the second argument of a loss as a function is called, which is no flag."""


@cache
def losses() -> dict[str, tuple[str, ...]]:
    """The losses of torch that took the flags, with their parameters up to ``reduction``; those before the flags are nameless.

    Where the flags stand is read from the table of what torch deprecates.
    """
    found = {name: _parameters(name) for name in sorted(taking("size_average"))}
    return found | {name: found[other] for name, other in _AS.items()}


def _parameters(name: str) -> tuple[str, ...]:
    first, second = (int(deprecation(name, flag).place) for flag in FLAGS)
    between = [_BETWEEN.get(name.rpartition(".")[2], "ignore_index")] * (second - first - 1)
    return (*[""] * first, "size_average", *between, "reduce", "reduction")


def loss_words() -> frozenset[str]:
    """Words of which a file with a call of a loss says one."""
    return frozenset(name.rpartition(".")[2] for name in losses())


@dataclass(frozen=True, eq=False, slots=True)
class Flag(Generic[Node]):
    """One of the flags as a call gives it, by name or by its place, and whether it may well be None where it is no constant."""

    name: str
    value: Node
    may_be_none: bool


@dataclass(frozen=True, eq=False, slots=True)
class FlaggedLoss(Generic[Node]):
    """A loss that is given flags, in the order of the text; ``parameters`` are the names of its positional arguments."""

    flags: tuple[Flag[Node], ...]
    parameters: tuple[str, ...]


class LossFlags:
    """Finds the calls of losses that give flags."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def given(self) -> dict[ast.Call, FlaggedLoss[ast.expr]]:
        """The calls that make, or compute, a loss and give it a flag that is not None."""
        calls = self._semantics.facts.calls
        candidates = [*self._semantics.of(Spellings).calls({*loss_words(), "partial"}), *calls.get("__init__", ())]
        found = ((call, self._flagged(call)) for call in candidates if call.args or call.keywords)
        return {call: flagged for call, flagged in found if flagged is not None}

    def is_plain_loss(self, node: ast.expr) -> bool:
        """Whether a value is one of torch's own losses, and of no class of the file."""
        kind = self._semantics.kind(node)
        return kind.type is Type.MODULE and kind.name in losses() and kind.definition is None

    def _flagged(self, call: ast.Call) -> FlaggedLoss[ast.expr] | None:
        loss, skipped = self._loss(call)
        if loss is None:
            return None
        parameters = (*("",) * skipped, *losses()[loss])
        values = [(word.arg, word.value) for word in call.keywords if word.arg in FLAGS]
        for name, argument in zip(parameters, call.args):
            if isinstance(argument, ast.Starred):
                break
            if name in FLAGS:
                values.append((name, argument))
        if all(is_none(value) for _, value in values):
            return None
        if "functional" not in loss and self._is_taken_for_function(call):
            return None
        values.sort(key=lambda item: (item[1].lineno, item[1].col_offset))
        return FlaggedLoss(tuple(Flag(name or "", value, self._may_be_none(value)) for name, value in values), parameters)

    def _is_taken_for_function(self, call: ast.Call) -> bool:
        """Whether the class of a loss is given what the function takes, `nn.MSELoss(out, targets)`: no flags are meant."""
        if len(call.args) < 2 or any(isinstance(argument, ast.Starred) for argument in call.args[:2]):
            return False
        if self._semantics.kind(call.args[0]).grad is Grad.GRAPH:
            return True
        second = call.args[1]
        return self._semantics.kind(second).type is Type.TENSOR or _TARGETS.search(last_name(second)) is not None

    def _loss(self, call: ast.Call) -> tuple[str | None, int]:
        """The loss that is called, and how many arguments stand before its own."""
        name = self._semantics.qualified_name(call.func)
        if name in losses():
            return name, 0
        if name == "functools.partial" and call.args:
            name = self._semantics.qualified_name(call.args[0])
            return (name, 1) if name in losses() else (None, 0)
        match call.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
                return self._base(call), 0
            case ast.Attribute(value=base, attr="__init__"):
                name = self._semantics.qualified_name(base)
                return (name, 1) if name in losses() else (None, 0)
        return None, 0

    def _base(self, call: ast.Call) -> str | None:
        """The loss that the class around a ``super().__init__()`` is derived from."""
        owner = self._semantics.tree.enclosing_class(call)
        names = [self._semantics.qualified_name(base) for base in owner.bases] if owner is not None else []
        return names[0] if names and names[0] in losses() else None

    def _may_be_none(self, flag: ast.expr) -> bool:
        """Whether a flag is a parameter of the function around it that defaults to None."""
        for binding in self._semantics.bindings.reaching(flag) if isinstance(flag, ast.Name) else ():
            function = binding.scope.node
            if binding.form is Form.PARAMETER and isinstance(function, FUNCTIONS) and isinstance(binding.node, ast.arg):
                default = self._semantics.facts.default(function, binding.node)
                return is_none(default)
        return False
