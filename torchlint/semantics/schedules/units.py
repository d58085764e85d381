"""Schedules that count in other units than they are moved on in: batches, or epochs."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import COMPREHENSIONS, FUNCTIONS, Loop, last_name, walk, walk_body
from torchlint.semantics.schedules.idle import PACKAGE, IdleSchedules
from torchlint.semantics.steps.acts import Act, Acts, Deed

Node = TypeVar("Node")

_LENGTHS = {"OneCycleLR": (2, "total_steps"), "CosineAnnealingLR": (1, "T_max")}
"""The arguments that say how long a schedule is, by place and by name."""
_EPOCHS = re.compile(r"(^|_)(n_?)?(num_?|max_?|total_?)?(n_?)?epochs?$", re.IGNORECASE)
_LOADER = re.compile(r"load|(^|_)dl(_|$)", re.IGNORECASE)


@dataclass(frozen=True, eq=False, slots=True)
class WrongUnit(Generic[Node]):
    """The ``length`` of a schedule, in batches where ``step`` is called once an epoch, or in epochs where in each batch.

    ``loader`` gives the batches, where it is in sight.
    """

    length: Node
    step: Node
    in_batches: bool
    loader: Node | None


class Schedules:
    """Finds the schedules of a file that are shorter, or longer, than they are meant to be."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._idle = semantics.of(IdleSchedules)

    @cached_property
    def _acts(self) -> list[Act]:
        return self._semantics.of(Acts).all

    # --- in other units ----------------------------------------------------------------------------------------------

    @cached_property
    def wrong_units(self) -> dict[ast.Call, WrongUnit[ast.expr]]:
        """The calls that make a scheduler whose length is in another unit than it is moved on in."""
        found: dict[ast.Call, WrongUnit[ast.expr]] = {}
        for call, name in self._idle.made.items():
            length = self._length(call)
            unit = self._unit(length) if length is not None else None
            if length is None or unit is None:
                continue
            uses = list(self._idle.uses_of(call, name, self._tree.function(call)))
            steps = [act for act in self._acts if act.deed is Deed.SCHEDULE and act.of in uses]
            if len(steps) != 1 or not self._is_same(steps[0], call):
                continue
            if not all(self._idle.is_harmless(use) or use is steps[0].of for use in uses):
                continue
            wrong = self._compare(length, unit == "batches", steps[0])
            if wrong is not None:
                found[call] = wrong
        return {**found, **self._kept_in_batches}

    @cached_property
    def _kept_in_batches(self) -> dict[ast.Call, WrongUnit[ast.expr]]:
        """The calls among them that make a scheduler in batches, which an object keeps and moves on once an epoch."""
        found: dict[ast.Call, WrongUnit[ast.expr]] = {}
        for statement in self._tree.of_type(ast.Assign):
            match statement:
                case ast.Assign(targets=[ast.Attribute() as target], value=ast.Call() as call):
                    length = self._length(call)
                    if length is None or self._unit(length) != "batches":
                        continue
                    uses = self._uses_of_attribute(target)
                    steps = [act for act in self._acts if act.deed is Deed.SCHEDULE and act.of in uses]
                    if len(steps) != 1 or not all(self._idle.is_harmless(use) or use is steps[0].of for use in uses):
                        continue
                    wrong = self._compare(length, True, steps[0])
                    if wrong is not None:
                        found[call] = wrong
        return found

    def _uses_of_attribute(self, target: ast.Attribute) -> list[ast.expr]:
        """The uses of what an object keeps, where it keeps nothing else there and only its own methods name it."""
        facts = self._semantics.facts
        own = facts.self_class(target.value)
        slots = facts.slots(own, target.attr) if own is not None else []
        named = [node for node in self._tree.of_type(ast.Attribute) if node.attr == target.attr]
        is_sole = len(slots) == 1 and len(slots[0].stores) == 1 and not slots[0].class_values
        return [*slots[0].uses] if is_sole and len(named) == len(slots[0].uses) + 1 else []

    def _is_same(self, step: Act, making: ast.Call) -> bool:
        """Whether the scheduler that is moved on is the one that a call makes, in the same function.

        It may be another one instead that a function gives beside other things: one that a run before has saved.
        """
        bindings = self._semantics.bindings.reaching(step.of) if isinstance(step.of, ast.Name) else ()
        if self._tree.function(step.call) is not self._tree.function(making):
            return False
        others = [binding for binding in bindings if binding.value is not making]
        return len(others) < len(bindings) and all(binding.path for binding in others)

    def _length(self, call: ast.Call) -> ast.expr | None:
        """The argument that says how long a schedule is."""
        place, keyword = _LENGTHS.get((self._semantics.qualified_name(call.func) or "").removeprefix(PACKAGE), (0, ""))
        if not keyword or any(isinstance(arg, ast.Starred) for arg in call.args):
            return None
        words = {word.arg: word.value for word in call.keywords}
        if None in words:
            return None
        if "steps_per_epoch" in words:
            return words["steps_per_epoch"]
        return words.get(keyword) or (call.args[place] if len(call.args) > place else None)

    def _unit(self, length: ast.expr, depth: int = 2) -> str | None:
        """What a length counts: ``"batches"``, ``"epochs"``, or nothing that is known."""
        if any(self._is_length_of_loader(part) for part in walk(length)):
            return "batches" if isinstance(length, (ast.Call, ast.BinOp)) and not _divides(length) else None
        if isinstance(length, ast.Name) and depth:
            values = {binding.value for binding in self._semantics.bindings.reaching(length)}
            value = values.pop() if len(values) == 1 else None
            if value is not None and not isinstance(value, ast.Constant) and self._unit(value, depth - 1):
                return self._unit(value, depth - 1)
        return "epochs" if isinstance(length, (ast.Name, ast.Attribute)) and _EPOCHS.search(last_name(length)) else None

    def _is_length_of_loader(self, part: ast.AST) -> bool:
        match part:
            case ast.Call(func=ast.Name(id="len"), args=[loader]):
                return self._is_loader(loader)
        return False

    def _is_loader(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type is Type.LOADER or _LOADER.search(last_name(node)) is not None

    def _compare(self, length: ast.expr, in_batches: bool, step: Act) -> WrongUnit[ast.expr] | None:
        """How the length of a schedule and the loop that moves it on do not go together."""
        loops = list(self._tree.loops(step.call))
        if not loops or any(isinstance(loop, ast.While) for loop in loops):
            return None
        if self._is_conditional(step.call, loops[0]) and not (in_batches and self._is_past_warm_up(step.call, loops[0])):
            return None
        loader = self._loader(loops[0])
        if in_batches and len(loops) == 1 and loader is None and self._trains_batches(loops[0]) and _counts_epochs(loops[0]):
            return WrongUnit(length, step.call, True, None)
        if not in_batches and len(loops) == 2 and loader is not None and _counts_epochs(loops[1]) and self._trains(loops[0]):
            return WrongUnit(length, step.call, False, loader)
        return None

    def _is_conditional(self, call: ast.Call, loop: Loop) -> bool:
        for parent in self._tree.ancestors(call):
            if parent is loop:
                return False
            if isinstance(parent, (ast.If, ast.Try, ast.Match, *FUNCTIONS, *COMPREHENSIONS)):
                return True
        return True

    def _is_past_warm_up(self, call: ast.Call, loop: Loop) -> bool:
        """Whether a call runs in each round of a loop but the first ones: ``if epoch >= 10: scheduler.step()``."""
        condition = self._tree.parent(self._tree.statement(call))
        if not isinstance(condition, ast.If) or condition.orelse or self._tree.parent(condition) is not loop:
            return False
        match condition.test, loop:
            case (
                ast.Compare(left=ast.Name(id=counter), ops=[ast.Gt() | ast.GtE()], comparators=[bound]),
                ast.For(target=ast.Name(id=counted)),
            ):
                return counter == counted and isinstance(bound, (ast.Constant, ast.Name, ast.Attribute))
        return False

    def _loader(self, loop: Loop) -> ast.expr | None:
        """The loader that a loop goes through: ``loader``, ``enumerate(loader)``, ``tqdm(loader)``."""
        if isinstance(loop, ast.While):
            return None
        given = loop.iter
        while isinstance(given, ast.Call) and given.args and last_name(given.func) in ("enumerate", "tqdm", "trange"):
            given = given.args[0]
        return given if isinstance(given, (ast.Name, ast.Attribute)) and self._is_loader(given) else None

    def _trains(self, loop: Loop) -> bool:
        """Whether each round of a loop makes a step of an optimizer."""
        steps = [act.call for act in self._acts if act.deed is Deed.STEP]
        return any(next(self._tree.loops(call), None) is loop and not self._is_conditional(call, loop) for call in steps)

    def _trains_batches(self, loop: Loop) -> bool:
        """Whether a loop over a loader within ``loop`` makes a step in each of its rounds."""
        inner = [part for part in walk_body(loop.body) if isinstance(part, ast.For)]
        for part in walk_body(loop.body):
            function = self._semantics.inference.call_graph.called(part) if isinstance(part, ast.Call) else None
            if function is not None:
                inner += [each for each in walk_body(function.body) if isinstance(each, ast.For)]
        return any(self._loader(part) is not None and self._trains(part) for part in inner)


def _counts_epochs(loop: Loop) -> bool:
    """Whether a loop is one over epochs, by what it counts or counts to."""
    if not isinstance(loop, ast.For):
        return False
    named = [part for whole in (loop.target, loop.iter) for part in walk(whole) if isinstance(part, (ast.Name, ast.Attribute))]
    return any(re.search(r"epoch|^ep$", last_name(part), re.IGNORECASE) for part in named)


def _divides(length: ast.expr) -> bool:
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Div, ast.FloorDiv)) for part in walk(length))
