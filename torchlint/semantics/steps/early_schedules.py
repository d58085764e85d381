"""Schedules that move on before the optimizer has made a step: the first learning rate is never used."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import LOOPS, Loop, walk_body
from torchlint.semantics.steps.acts import Acts, Deed
from torchlint.semantics.steps.rounds import Placed, Round, Rounds

Node = TypeVar("Node")
Place = TypeVar("Place")

_MATCHLESS = "torch.optim.lr_scheduler.ReduceLROnPlateau"


@dataclass(frozen=True, eq=False, slots=True)
class EarlySchedule(Generic[Node, Place]):
    """The ``scheduler`` that moves on in front of the ``step``; its ``statement`` could come ``behind`` another one.

    The statements are ``None`` where it cannot simply be moved. ``is_batch`` tells whether it is moved on in every batch.
    """

    scheduler: Node
    step: Node
    statement: Place | None
    behind: Place | None
    is_batch: bool


class EarlySchedules:
    """Finds the steps of schedulers that come first in their loop."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._flow = semantics.control_flow

    @cached_property
    def found(self) -> dict[ast.Call, EarlySchedule[ast.expr, ast.stmt]]:
        """The calls that move a schedule on before the first step of the optimizer."""
        found: dict[ast.Call, EarlySchedule[ast.expr, ast.stmt]] = {}
        if not any(act.deed is Deed.SCHEDULE for act in self._semantics.of(Acts).all):
            return found
        for round_ in self._semantics.of(Rounds).all:
            for schedule in round_.of(Deed.SCHEDULE):
                early = self._early(schedule, round_) if schedule.act.call not in found else None
                if early is not None:
                    found[schedule.act.call] = early
        return found

    def _early(self, schedule: Placed, round_: Round) -> EarlySchedule[ast.expr, ast.stmt] | None:
        act = schedule.act
        if act.of is None or act.call.args or act.call.keywords or not self._is_made_in_file(act.of):
            return None
        loop = next(self._semantics.tree.loops(schedule.place), None)
        steps = [step for step in round_.of(Deed.STEP) if step.act.certain]
        others = [other for other in round_.of(Deed.STEP) if not other.act.certain]
        if loop is None or not steps or others or not all(self._is_in(step, loop) for step in steps):
            return None
        if self._is_conditional(schedule) or any(step.place is schedule.place for step in steps):
            return self._within(schedule, steps, round_)
        head = (loop.test if isinstance(loop, ast.While) else loop.target,)
        if any(self._flow.may_follow(step.place, schedule.place, avoiding=head) for step in steps):
            return None
        if not any(self._flow.may_follow(schedule.place, step.place, avoiding=head) for step in steps):
            return None
        return EarlySchedule(act.of, steps[0].act.call, *self._place(schedule, loop), self._is_batch(schedule, steps))

    def _within(self, schedule: Placed, steps: list[Placed], round_: Round) -> EarlySchedule[ast.expr, ast.stmt] | None:
        """Likewise in a function that the loop calls, and that makes the step itself behind that of the schedule."""
        same = [step for step in steps if len(step.chain) == len(schedule.chain) == 2 and step.place is schedule.place]
        if len(same) < len(steps) or self._is_conditional(schedule) or any(self._semantics.tree.loops(schedule.act.call)):
            return None
        if any(self._flow.may_follow(step.act.call, schedule.act.call) for step in same) or schedule.act.of is None:
            return None
        if not any(self._flow.may_follow(schedule.act.call, step.act.call) for step in same):
            return None
        return EarlySchedule(schedule.act.of, same[0].act.call, None, None, False)

    def _is_batch(self, schedule: Placed, steps: list[Placed]) -> bool:
        """Whether a schedule is moved on as often as the optimizer makes a step."""
        loops = [next(self._semantics.tree.loops(each.act.call), None) for each in (schedule, *steps)]
        return all(loop is loops[0] for loop in loops)

    def _is_made_in_file(self, scheduler: ast.expr) -> bool:
        """Whether a scheduler is known to be one of torch that is told nothing when it moves on."""
        kind = self._semantics.kind(scheduler)
        return bool(kind.name) and kind.name.startswith("torch.optim.lr_scheduler.") and kind.name != _MATCHLESS

    def _is_in(self, step: Placed, loop: Loop) -> bool:
        return self._semantics.tree.inside(step.place, loop)

    def _is_conditional(self, schedule: Placed) -> bool:
        """Whether a condition decides on a schedule's step: that may be one that holds once there was a step."""
        for call in schedule.chain:
            for parent in self._semantics.tree.ancestors(call):
                if isinstance(parent, (ast.If, ast.Try, ast.Match, ast.IfExp, ast.BoolOp)):
                    return True
                if isinstance(parent, (*LOOPS, ast.FunctionDef)):
                    break
        return False

    def _place(self, schedule: Placed, loop: Loop) -> tuple[ast.stmt | None, ast.stmt | None]:
        """The statement that moves a schedule on, and the last one of the loop, if each round comes to that."""
        statement, last = self._semantics.tree.statement(schedule.act.call), loop.body[-1]
        leaves = any(isinstance(part, (ast.Continue, ast.Break, ast.Return)) for part in walk_body(loop.body))
        if statement not in loop.body or not isinstance(statement, ast.Expr) or statement is last or leaves:
            return None, None
        return statement, last
