"""What a training loop does with gradients: where they are computed, used and wiped, and by which optimizer.

Three acts make a training step: ``backward`` adds to the gradients, ``step`` uses them, ``zero_grad`` wipes them.
`TrainingSteps` finds the calls; what a round does with them, also through functions of the file, `Rounds` says.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backwards import Backward, Backwards
from torchlint.semantics.code.tree import LOOPS, Loop
from torchlint.semantics.training.likely_optimizers import LikelyOptimizers
from torchlint.semantics.training.optimizers import Optimizers, stepped


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A call by which an optimizer changes its parameters: ``optimizer.step()``, ``scaler.step(optimizer)``."""

    call: ast.Call
    optimizer: ast.expr
    is_certain: bool = True
    """Whether the optimizer is one of torch; otherwise it has its name and acts alone to tell."""


@dataclass(frozen=True, slots=True, eq=False)
class ZeroGrad:
    """A call of ``zero_grad``, of an optimizer or a module."""

    call: ast.Call
    of: ast.expr


class TrainingSteps:
    """Finds the acts of training steps in one file, and answers questions about them."""

    def __init__(self, semantics: Semantics) -> None:
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._backwards = semantics.of(Backwards)
        self._optimizers = semantics.of(Optimizers)
        self._likely = semantics.of(LikelyOptimizers)

    @property
    def backwards(self) -> list[Backward]:
        """The calls that surely add to gradients."""
        return self._backwards.all

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of optimizers of torch that the file makes, or that it declares to be given."""
        found: list[Step] = []
        for call in [*self._facts.calls.get("step", ()), *self._facts.calls.get("optimizer_step", ())]:
            optimizer = stepped(call)
            if optimizer is not None and self._optimizers.makings(optimizer):
                found.append(Step(call, optimizer))
        return sorted(found, key=lambda step: _position(step.call))

    @cached_property
    def likely_steps(self) -> list[Step]:
        """The steps of what must be an optimizer, though nothing tells of which kind."""
        likely, certain = self._likely, {step.call for step in self.steps}
        calls = [call for call in self._facts.calls.get("step", ()) if call not in certain]
        found = [Step(call, optimizer, False) for call in calls if (optimizer := likely.steps(call)) is not None]
        return sorted(found, key=lambda step: _position(step.call))

    @cached_property
    def zero_grads(self) -> list[ZeroGrad]:
        """The calls of ``zero_grad``."""
        calls = self._facts.calls.get("zero_grad", ())
        return [ZeroGrad(call, call.func.value) for call in calls if isinstance(call.func, ast.Attribute)]

    def zero_grads_in(self, loop: Loop) -> list[ZeroGrad]:
        """The calls of ``zero_grad`` in a loop, or in functions that are defined there."""
        return self._zero_grads_by_loop.get(loop, [])

    @cached_property
    def _zero_grads_by_loop(self) -> dict[ast.AST, list[ZeroGrad]]:
        found: dict[ast.AST, list[ZeroGrad]] = {}
        for zero in self.zero_grads:
            for parent in self._tree.ancestors(zero.call):
                if isinstance(parent, LOOPS):
                    found.setdefault(parent, []).append(zero)
        return found


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
