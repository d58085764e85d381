"""Schedules that move on before the optimizer has made a step: the first learning rate is never used."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import LOOPS, Loop, given_to, last_name, walk_body
from torchlint.semantics.schedules.fixed_conditions import FixedConditions
from torchlint.semantics.steps.acts import Acts, Deed
from torchlint.semantics.steps.rounds import Placed, Round, Rounds

Node = TypeVar("Node")
Place = TypeVar("Place")

_TRAINS = re.compile(r"((run|do)_?)?(train|fit)(?!er$|able|ing_?log|_?(load|log|data))", re.IGNORECASE)
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
        if loop is not None and not steps and not others:
            return self._before_another_file(schedule, loop)
        if loop is None or not steps or others or not all(self._is_in(step, loop) for step in steps):
            return None
        is_conditional = self._is_conditional(schedule, loop) and not self._is_of_phase(schedule, steps, loop)
        if is_conditional or any(step.place is schedule.place for step in steps):
            return self._within(schedule, steps, loop)
        head = (loop.test if isinstance(loop, ast.While) else loop.target,)
        if any(self._flow.may_follow(step.place, schedule.place, avoiding=head) for step in steps):
            return None
        if not any(self._flow.may_follow(schedule.place, step.place, avoiding=head) for step in steps):
            return None
        return EarlySchedule(act.of, steps[0].act.call, *self._place(schedule, loop), self._is_batch(schedule, steps))

    def _before_another_file(self, schedule: Placed, loop: Loop) -> EarlySchedule[ast.expr, ast.stmt] | None:
        """Likewise where a function of another file makes the steps: it is given the optimizer in each round."""
        assert schedule.act.of is not None
        head = (loop.test if isinstance(loop, ast.While) else loop.target,)
        calls = [part for part in walk_body(loop.body) if isinstance(part, ast.Call) and self._steps_elsewhere(part)]
        if not calls or self._is_conditional(schedule, loop) or len(schedule.chain) > 1:
            return None
        if next(self._semantics.tree.loops(schedule.place), None) is not loop:
            return None
        if any(self._flow.may_follow(call, schedule.place, avoiding=head) for call in calls):
            return None
        if not any(self._flow.may_follow(schedule.place, call, avoiding=head) for call in calls):
            return None
        is_batch = all(self._is_given_batch(call, loop) for call in calls)
        return EarlySchedule(schedule.act.of, calls[0], *self._place(schedule, loop), is_batch)

    def _is_given_batch(self, call: ast.Call, loop: Loop) -> bool:
        """Whether what trains is given first what the round has just made: one batch, for one step."""
        first = call.args[0] if call.args else None
        if not isinstance(first, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(first)
        return bool(bindings) and all(
            each.value is not None
            and self._semantics.tree.inside(each.node, loop)
            and self._semantics.kind(first).type is not Type.LOADER
            for each in bindings
        )

    def _steps_elsewhere(self, call: ast.Call) -> bool:
        """Whether a function that the file does not show is called like one that trains, and given an optimizer."""
        if not _TRAINS.match(last_name(call.func)) or self._semantics.inference.call_graph.called(call) is not None:
            return False
        given = given_to(call)
        return any(self._semantics.kind(each).type is Type.OPTIMIZER for each in given)

    def _within(self, schedule: Placed, steps: list[Placed], loop: Loop) -> EarlySchedule[ast.expr, ast.stmt] | None:
        """Likewise in a function that the loop calls, and that makes the step itself behind that of the schedule."""
        same = [step for step in steps if len(step.chain) == len(schedule.chain) == 2 and step.place is schedule.place]
        if len(same) < len(steps) or any(self._semantics.tree.loops(schedule.act.call)):
            return None
        if self._is_conditional(schedule, loop) or any(map(_is_chosen, given_to(schedule.place))):
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
        """Whether a scheduler is known to be one of torch, or one of several; that it is told nothing shows which it is not."""
        kind = self._semantics.kind(scheduler)
        if not kind.name:
            return kind.type is Type.SCHEDULER and kind.definition is None and not kind.classes_elsewhere
        return kind.name.startswith("torch.optim.lr_scheduler.") and kind.name != _MATCHLESS

    def _is_in(self, step: Placed, loop: Loop) -> bool:
        return self._semantics.tree.inside(step.place, loop)

    def _is_conditional(self, schedule: Placed, loop: Loop) -> bool:
        """Whether a condition decides on a schedule's step: that may be one that holds once there was a step. One that comes
        out the same in every round of the loop is none: ``if args.cosine``.
        """
        fixed, scheduler = self._semantics.of(FixedConditions), schedule.act.of
        for call in schedule.chain:
            for parent in self._semantics.tree.ancestors(call):
                if isinstance(parent, ast.If) and scheduler is not None and fixed.is_fixed(parent.test, loop, scheduler):
                    continue
                if isinstance(parent, (ast.If, ast.Try, ast.Match, ast.IfExp, ast.BoolOp)):
                    return True
                if isinstance(parent, (*LOOPS, ast.FunctionDef)):
                    break
        return False

    def _is_of_phase(self, schedule: Placed, steps: list[Placed], loop: Loop) -> bool:
        """Whether a schedule moves on in the one round of a loop over phases in which all the steps are made:
        ``if phase == "train"`` of ``for phase in ["train", "val"]``.
        """
        phases = [self._phase(each, loop) for each in (schedule, *steps)]
        return phases[0] is not None and all(phase == phases[0] for phase in phases)

    def _phase(self, act: Placed, loop: Loop) -> str | None:
        """The test for a phase that alone decides, in one round of a loop over phases, whether an act is come to."""
        match loop:
            case ast.For(target=ast.Name(id=phase), iter=ast.List(elts=phases) | ast.Tuple(elts=phases)):
                names = [each.value for each in phases if isinstance(each, ast.Constant)]
            case _:
                return None
        tests: list[ast.expr] = []
        for parent in self._semantics.tree.ancestors(act.place):
            if parent is loop:
                break
            if isinstance(parent, ast.If):
                if not any(self._semantics.tree.inside(act.place, statement) for statement in parent.body):
                    return None
                tests.append(parent.test)
        match tests:
            case [ast.Compare(left=ast.Name(id=left), ops=[ast.Eq()], comparators=[ast.Constant(value=value)]) as test]:
                return ast.dump(test) if left == phase and names.count(value) == 1 else None
        return None

    def _place(self, schedule: Placed, loop: Loop) -> tuple[ast.stmt | None, ast.stmt | None]:
        """The statement that moves a schedule on, and the last one of the loop, if each round comes to that."""
        statement, last = self._semantics.tree.statement(schedule.act.call), loop.body[-1]
        leaves = any(isinstance(part, (ast.Continue, ast.Break, ast.Return)) for part in walk_body(loop.body))
        if statement not in loop.body or not isinstance(statement, ast.Expr) or statement is last or leaves:
            return None, None
        return statement, last


def _is_chosen(given: ast.expr) -> bool:
    """Whether an argument is one of several: ``scheduler if epoch else None``."""
    return isinstance(given, (ast.IfExp, ast.BoolOp))
