"""Accumulation of gradients that is undone: they are wiped in every round, and a step uses them every few rounds only.

The other rounds pass the step by: it stands under a condition that counts them, or behind a ``continue`` under one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeGuard, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import Loop, Tree, dotted, position, walk, walk_body
from torchlint.semantics.steps.training_steps import Step, TrainingSteps, ZeroGrad
from torchlint.semantics.training.optimizers import Optimizers, stepped

Node = TypeVar("Node")
Place = TypeVar("Place")

_MOST_STEPS = 8
"""Loops with more steps are written by programs."""
_FIGURES = frozenset({"norm", "abs", "mean", "std", "max", "min", "sum"})
"""Methods that make a figure of a gradient."""


@dataclass(frozen=True, eq=False, slots=True)
class LostRounds(Generic[Node, Place]):
    """The gradients of all rounds but one, which are wiped before ``step`` is made.

    They could be wiped ``behind`` it, and behind what is done in its place.
    """

    step: Node
    behind: tuple[Place, ...]


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
        found: dict[ast.Call, LostRounds[ast.expr, ast.stmt]] = {}
        for loop, zeros in self._zeros.items():
            steps = self._steps_of(loop)
            rare = next((each for each in steps if isinstance(each, RareStep)), None)
            if rare is None or not self.gathers(loop, rare):
                continue
            tree = self._semantics.tree
            wiping = [zero for zero in zeros if self._is_in_its_rounds(zero.call, rare, loop)]
            same = [zero for zero in wiping if self._optimizers.same(zero.of, rare.step.optimizer)]
            if len(same) == len(wiping) == 1 and not any(_is_of(same[0].call, each, tree) for each in steps):
                calls = [each.step.call if isinstance(each, RareStep) else each.call for each in steps]
                found[same[0].call] = LostRounds(rare.step.call, tuple(tree.statement(each) for each in calls))
        return found

    @cached_property
    def _zeros(self) -> dict[Loop, list[ZeroGrad]]:
        """The calls that wipe gradients as statements of their own, by the loops that they are in."""
        found: dict[Loop, list[ZeroGrad]] = {}
        for zero in self._steps.zero_grads:
            loop = next(self._semantics.tree.loops(zero.call), None)
            if loop is not None and isinstance(self._semantics.tree.statement(zero.call), ast.Expr):
                found.setdefault(loop, []).append(zero)
        return found

    def _is_in_its_rounds(self, call: ast.Call, rare: RareStep, loop: Loop) -> bool:
        """Whether a call is a statement that is run in every round which comes to the condition of a step, but for ``with``."""
        tree = self._semantics.tree
        statement: ast.stmt = tree.statement(call)
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            return False
        blocks, tests = [tree.block(rare.condition)], set[str]()
        for parent in tree.ancestors(rare.condition):
            if parent is loop:
                break
            if isinstance(parent, ast.stmt):
                blocks.append(tree.block(parent))
            if isinstance(parent, ast.If) and any(tree.inside(rare.condition, each) for each in parent.body):
                tests.add(ast.dump(parent.test))
        while not any(tree.block(statement) is block for block in blocks):
            match tree.parent(statement):
                case ast.With() | ast.AsyncWith() as around:
                    statement = around
                case ast.If(test=test, orelse=[]) as around if ast.dump(test) in tests:
                    statement = around
                case _:
                    return False
        return True

    def rare_step(self, loop: Loop) -> RareStep | None:
        """The only step of a loop, which is made every n-th round: ``if (i + 1) % n == 0: optimizer.step()``."""
        match self._steps_of(loop):
            case [RareStep() as rare]:
                return rare
        return None

    def _steps_of(self, loop: Loop) -> list[RareStep | Step]:
        """The steps of a loop, if some are made every few rounds: all are of one optimizer, and the others instead of those."""
        calls = [part for part in walk_body(loop.body) if isinstance(part, ast.Call) and self._may_step(part)]
        if len(calls) > _MOST_STEPS:
            return []
        steps = [step for call in calls if (step := self._step(call, loop)) is not None]
        rare = [each for each in steps if isinstance(each, RareStep)]
        if not rare or len(steps) != len(calls):
            return []
        first = rare[0]
        for each in steps:
            optimizer = each.step.optimizer if isinstance(each, RareStep) else each.optimizer
            if each is not first and not self._optimizers.same(optimizer, first.step.optimizer):
                return []
            if isinstance(each, Step) and not all(self._excludes(other.condition, each.call) for other in rare):
                return []
        return steps

    def _step(self, call: ast.Call, loop: Loop) -> RareStep | Step | None:
        """What a call does as a step in a loop; `None` where that is not understood."""
        optimizer, conditions = stepped(call), self._conditions(call, loop)
        if optimizer is None or not self._optimizers.acts_as_optimizer(optimizer) or conditions is None:
            return None
        if not isinstance(self._semantics.tree.statement(call), ast.Expr):
            return None
        step = Step(call, optimizer, False)
        counting = [each for each in conditions if self._counts_rounds(each.test, loop)]
        if not counting:
            skipping = self._skipping(loop, call)
            return RareStep(step, skipping, skips=True) if skipping is not None else step
        outer = conditions[conditions.index(counting[0]) + 1 :]
        if len(counting) > 1 or counting[0].orelse or any(self._may_change(each.test, loop) for each in outer):
            return None
        return RareStep(step, counting[0], skips=False)

    def _may_change(self, test: ast.expr, loop: Loop) -> bool:
        """Whether a condition may be another one in another round of a loop."""
        names = {text for part in walk(test) if (text := dotted(part)) is not None}
        return any(isinstance(part, ast.Call) for part in walk(test)) or any(
            isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Store) and dotted(part) in names
            for part in walk_body([loop])
        )

    def _excludes(self, condition: ast.If, call: ast.Call) -> bool:
        """Whether a call is in the other branch of an ``if`` around a condition."""
        tree = self._semantics.tree
        for parent in tree.ancestors(condition):
            if isinstance(parent, ast.If) and tree.inside(call, parent):
                return any(tree.inside(call, each) for each in parent.body) != any(
                    tree.inside(condition, each) for each in parent.body
                )
        return False

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
        if not any(self._is_in_its_rounds(each, rare, loop) and not rare.is_of_its_rounds(each, tree) for each in backwards):
            return False
        gradients = (part for part in walk_body(loop.body) if isinstance(part, ast.Attribute) and part.attr == "grad")
        return all(self._is_looked_at(part) and rare.is_of_its_rounds(part, tree) for part in gradients)

    def _is_looked_at(self, gradient: ast.Attribute) -> bool:
        """Whether a gradient is read for a figure only: ``p.grad.norm()``."""
        parent = self._semantics.tree.parent(gradient)
        return isinstance(parent, ast.Attribute) and parent.attr in _FIGURES


def _is_of(call: ast.Call, step: RareStep | Step, tree: Tree) -> bool:
    """Whether only the rounds that make a step every few rounds run a call."""
    return isinstance(step, RareStep) and step.is_of_its_rounds(call, tree)


def _is_count(part: ast.AugAssign, name: str) -> bool:
    """Whether an assignment counts in a variable, by ones: ``count += 1``."""
    return dotted(part.target) == name and isinstance(part.value, ast.Constant) and part.value.value == 1
