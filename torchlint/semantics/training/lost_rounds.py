"""Accumulation of gradients that is undone: they are wiped in every round, and a step uses them every few rounds only.

The other rounds pass the step by: it stands under a condition that counts them, or behind a ``continue`` under one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeGuard, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import LOOPS, Loop, Tree, dotted, in_body, position, walk, walk_body
from torchlint.semantics.training.optimizers import Optimizers, stepped
from torchlint.semantics.training.training_steps import Step, TrainingSteps, ZeroGrad

Node = TypeVar("Node")
Place = TypeVar("Place")

_FIGURES = frozenset({"norm", "abs", "mean", "std", "max", "min", "sum"})
"""Methods that make a figure of a gradient."""


@dataclass(frozen=True, eq=False, slots=True)
class LostRounds(Generic[Node, Place]):
    """The gradients of all rounds but one, which are wiped before ``step`` is made, ``behind`` which they could be."""

    step: Node
    behind: Place


@dataclass(frozen=True, slots=True)
class RareStep:
    """A ``step`` that is made every few rounds: within ``condition``, or behind it, where that ``skips`` the other rounds."""

    step: Step
    condition: ast.If
    skips: bool

    def is_of_its_rounds(self, node: ast.expr, tree: Tree) -> bool:
        """Whether only the rounds that make the step run ``node``."""
        if self.skips:
            return position(node) > position(self.condition) and not tree.inside(node, self.condition)
        return tree.inside(node, self.condition)


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
            rare = self.rare_step(loop)
            if rare is None or not self.gathers(loop, rare):
                continue
            tree, step = self._semantics.tree, rare.step
            same = [zero for zero in wiping if self._optimizers.same(zero.of, step.optimizer)]
            if len(same) == len(wiping) == 1 and not rare.is_of_its_rounds(same[0].call, tree):
                found[same[0].call] = LostRounds(step.call, tree.statement(step.call))
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

    def rare_step(self, loop: Loop) -> RareStep | None:
        """The only step of a loop, which is made every n-th round: ``if (i + 1) % n == 0: optimizer.step()``."""
        parts = list(walk_body(loop.body))
        calls = [part for part in parts if isinstance(part, ast.Call) and self._may_step(part)]
        if len(calls) != 1 or not isinstance(self._semantics.tree.statement(calls[0]), ast.Expr):
            return None
        optimizer = stepped(calls[0])
        if optimizer is None or not self._optimizers.acts_as_optimizer(optimizer):
            return None
        conditions = self._conditions(calls[0], loop)
        step = Step(calls[0], optimizer, False)
        if conditions == []:
            skipping = self._skipping(loop, calls[0])
            return RareStep(step, skipping, skips=True) if skipping is not None else None
        if conditions is None or len(conditions) != 1 or conditions[0].orelse:
            return None
        counts = self._counts_rounds(conditions[0].test, loop)
        return RareStep(step, conditions[0], skips=False) if counts else None

    def _may_step(self, call: ast.Call) -> bool:
        """Whether a call may be a step of an optimizer: not that of a schedule."""
        optimizer = stepped(call)
        return optimizer is not None and "sched" not in (dotted(optimizer) or "")

    def _conditions(self, step: ast.Call, loop: Loop) -> list[ast.If] | None:
        """The statements ``if`` between a loop and the step in it; ``None`` where something else decides on it, too."""
        conditions: list[ast.If] = []
        for parent in self._semantics.tree.ancestors(step):
            match parent:
                case ast.For() | ast.AsyncFor() | ast.While():
                    break
                case ast.If():
                    conditions.append(parent)
                case ast.Try() | ast.Match():
                    return None
        return conditions if next(self._semantics.tree.loops(step), None) is loop else None

    def _skipping(self, loop: Loop, step: ast.Call) -> ast.If | None:
        """The statement that leaves the rounds without a step: ``if (i + 1) % n != 0: continue``."""
        for statement in loop.body:
            if position(statement) > position(step):
                break
            if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], ast.Continue):
                if self._counts_rounds(statement.test, loop):
                    return statement
        return None

    def _counts_rounds(self, test: ast.expr, loop: Loop, depth: int = 2) -> bool:
        """Whether a test asks for every n-th round: a remainder of what the loop counts, written there or just before; or a
        count that starts again."""
        for part in walk(test):
            if isinstance(part, ast.Compare) and isinstance(part.left, ast.Name) and self._starts_again(part.left.id, loop):
                return True
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

    def _starts_again(self, name: str, loop: Loop) -> bool:
        """Whether a loop counts in a variable, and sets it back in some rounds."""
        parts = list(walk_body(loop.body))
        counts = any(isinstance(part, ast.AugAssign) and _is_count(part, name) for part in parts)
        return counts and any(isinstance(part, ast.Assign) and name in map(dotted, part.targets) for part in parts)

    def _is_counted(self, node: ast.expr, loop: Loop) -> bool:
        """Whether a number changes with each round of a loop."""
        texts = {text for part in walk(node) if (text := dotted(part)) is not None}
        target = loop.target if not isinstance(loop, ast.While) else None
        if target is not None and any(dotted(part) in texts for part in walk(target)):
            return True
        return any(isinstance(part, ast.AugAssign) and dotted(part.target) in texts for part in walk_body(loop.body))

    def gathers(self, loop: Loop, rare: RareStep) -> bool:
        """Whether a loop does nothing with gradients but compute them, in every round, for the step."""
        tree = self._semantics.tree
        backwards = [backward.call for backward in self._steps.backwards]
        if any(tree.inside(backward, rare.condition) for backward in backwards):
            return False
        if not any(self._every_round(call) is loop and not rare.is_of_its_rounds(call, tree) for call in backwards):
            return False
        gradients = (part for part in walk_body(loop.body) if isinstance(part, ast.Attribute) and part.attr == "grad")
        return all(self._is_looked_at(part) and rare.is_of_its_rounds(part, tree) for part in gradients)

    def _is_looked_at(self, gradient: ast.Attribute) -> bool:
        """Whether a gradient is read for a figure only: ``p.grad.norm()``."""
        parent = self._semantics.tree.parent(gradient)
        return isinstance(parent, ast.Attribute) and parent.attr in _FIGURES


def _is_count(part: ast.AugAssign, name: str) -> bool:
    """Whether an assignment counts in a variable, by ones: ``count += 1``."""
    return dotted(part.target) == name and isinstance(part.value, ast.Constant) and part.value.value == 1
