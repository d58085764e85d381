"""Accumulation of gradients that is undone: they are wiped in every round, and a step uses them every few rounds only."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeGuard, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import LOOPS, Loop, dotted, in_body, walk, walk_body
from torchlint.semantics.training.optimizers import Optimizers, stepped
from torchlint.semantics.training.training_steps import Step, TrainingSteps, ZeroGrad

Node = TypeVar("Node")
Place = TypeVar("Place")


@dataclass(frozen=True, eq=False, slots=True)
class LostRounds(Generic[Node, Place]):
    """The gradients of all rounds but one, which are wiped before ``step`` is made, ``behind`` which they could be."""

    step: Node
    behind: Place


class LostAccumulation:
    """Finds the calls of ``zero_grad`` in a file that undo the accumulation around them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._steps = semantics.of(TrainingSteps)
        self._optimizers = semantics.of(Optimizers)

    @cached_property
    def found(self) -> dict[ast.Call, LostRounds[ast.expr, ast.stmt]]:
        """The calls that wipe in every round what a step needs every few rounds."""
        zeros: dict[Loop, list[ZeroGrad]] = {}
        for zero in self._steps.zero_grads:
            if (loop := self._every_round(zero.call)) is not None:
                zeros.setdefault(loop, []).append(zero)
        found: dict[ast.Call, LostRounds[ast.expr, ast.stmt]] = {}
        for loop, wiping in zeros.items():
            step = self._rare_step(loop)
            if step is None or not self._gathers(loop, step):
                continue
            same = [zero for zero in wiping if self._optimizers.same(zero.of, step.optimizer)]
            if len(same) == len(wiping) == 1:
                found[same[0].call] = LostRounds(step.call, self._semantics.tree.statement(step.call))
        return found

    def _every_round(self, call: ast.Call) -> Loop | None:
        """The loop that makes a call in every round: as a statement of its body, or of a ``with`` there."""
        child: ast.AST = self._semantics.tree.statement(call)
        if not isinstance(child, ast.Expr) or child.value is not call:
            return None
        for parent in self._semantics.tree.ancestors(child):
            if isinstance(parent, LOOPS):
                return parent if in_body(child, parent) else None
            if not isinstance(parent, (ast.With, ast.AsyncWith)):
                return None
            child = parent
        return None

    def _rare_step(self, loop: Loop) -> Step | None:
        """The only step of a loop, which is made every n-th round: ``if (i + 1) % n == 0: optimizer.step()``."""
        parts = list(walk_body(loop.body))
        calls = [part for part in parts if isinstance(part, ast.Call) and self._may_step(part)]
        if len(calls) != 1 or not isinstance(self._semantics.tree.statement(calls[0]), ast.Expr):
            return None
        optimizer = stepped(calls[0])
        if optimizer is None or not self._optimizers.acts_as_optimizer(optimizer):
            return None
        test = self._condition(calls[0], loop)
        return Step(calls[0], optimizer, False) if test is not None and self._counts_rounds(test, loop) else None

    def _may_step(self, call: ast.Call) -> bool:
        """Whether a call may be a step of an optimizer: not that of a schedule."""
        optimizer = stepped(call)
        return optimizer is not None and "sched" not in (dotted(optimizer) or "")

    def _condition(self, step: ast.Call, loop: Loop) -> ast.expr | None:
        """The test of the only ``if`` between a loop and the step in it, which has no other branch that does anything to it."""
        conditions: list[ast.If] = []
        for parent in self._semantics.tree.ancestors(step):
            match parent:
                case ast.For() | ast.AsyncFor() | ast.While():
                    break
                case ast.If():
                    conditions.append(parent)
                case ast.Try() | ast.Match():
                    return None
        statement = self._semantics.tree.statement(step)
        if next(self._semantics.tree.loops(step), None) is not loop or len(conditions) != 1:
            return None
        return conditions[0].test if not conditions[0].orelse and self._semantics.tree.inside(statement, loop) else None

    def _counts_rounds(self, test: ast.expr, loop: Loop, depth: int = 2) -> bool:
        """Whether a test asks for every n-th round: a remainder of what the loop counts, written there or just before."""
        for part in walk(test):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) and self._is_counted(part.left, loop):
                return True
            if isinstance(part, ast.Name) and depth:
                values = [binding.value for binding in self._semantics.bindings.reaching(part)]
                if any(self._is_flag(value, loop) and self._counts_rounds(value, loop, depth - 1) for value in values):
                    return True
        return False

    def _is_flag(self, value: ast.expr | None, loop: Loop) -> TypeGuard[ast.expr]:
        """Whether a round of a loop computes a truth value."""
        return isinstance(value, (ast.Compare, ast.BoolOp)) and self._semantics.tree.inside(value, loop)

    def _is_counted(self, node: ast.expr, loop: Loop) -> bool:
        """Whether a number changes with each round of a loop."""
        texts = {text for part in walk(node) if (text := dotted(part)) is not None}
        target = loop.target if not isinstance(loop, ast.While) else None
        if target is not None and any(dotted(part) in texts for part in walk(target)):
            return True
        return any(isinstance(part, ast.AugAssign) and dotted(part.target) in texts for part in walk_body(loop.body))

    def _gathers(self, loop: Loop, step: Step) -> bool:
        """Whether a loop does nothing with gradients but compute them, in every round, for the step."""
        tree, backwards = self._semantics.tree, self._steps.backwards
        condition = next(parent for parent in tree.ancestors(step.call) if isinstance(parent, ast.If))
        if any(tree.inside(backward.call, condition) for backward in backwards):
            return False
        if not any(self._every_round(backward.call) is loop for backward in backwards):
            return False
        return not any(isinstance(part, ast.Attribute) and part.attr == "grad" for part in walk_body(loop.body))
