"""The order in which a round of a training may run its acts, also those that functions of the file do for it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.control_flow import ControlFlow, FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, Loop, given_to
from torchlint.semantics.conditions.exclusive import Conditions
from torchlint.semantics.steps.acts import Act, Acts, Deed
from torchlint.semantics.training.optimizers import Making

_DEEP = 3
"""So many functions may lie between a round and an act of it."""
_MANY = 60
"""So many acts of one round are looked at; code with more of them is generated."""
_PLACES = 8
"""In so many places of a loop a function is looked at that the loop runs in several."""


@dataclass(frozen=True, eq=False, slots=True)
class Placed:
    """An act, and the calls that lead to it from the round's own code; the last of them is the act itself."""

    act: Act
    chain: tuple[ast.Call, ...]

    @property
    def place(self) -> ast.Call:
        """The call in the round's own code that does the act."""
        return self.chain[0]


class Round:
    """The acts that the code of one scope, a function or the module, may do; and which may come after which."""

    def __init__(self, scope: FlowScope, acts: list[Placed], semantics: Semantics) -> None:
        self.scope = scope
        self.acts = acts
        self._flow = semantics.control_flow
        self._conditions = semantics.of(Conditions)

    def of(self, *deeds: Deed) -> list[Placed]:
        """The acts that do such a thing."""
        return [placed for placed in self.acts if placed.act.deed in deeds]

    def may_follow(self, one: Placed, other: Placed, avoiding: Collection[Placed] = ()) -> bool:
        """Whether ``other`` may be done after ``one``, with none of ``avoiding`` in between."""
        shared = 0
        while shared < min(len(one.chain), len(other.chain)) - 1 and one.chain[shared] is other.chain[shared]:
            shared += 1
        obstacles = _Obstacles(self._flow, avoiding)
        return any(self._leads(one.chain[level:], other.chain[level:], obstacles) for level in range(shared, -1, -1))

    def may_come_again(self, one: Placed, other: Placed, avoiding: Collection[Placed] = ()) -> bool:
        """Whether ``other`` may be done after ``one`` if the whole code is run anew."""
        obstacles = _Obstacles(self._flow, avoiding)
        return self._ends(one.chain, obstacles) and self._starts(other.chain, obstacles)

    def exclude(self, one: Placed, other: Placed) -> bool:
        """Whether the conditions of two acts exclude one another, as ``if amp`` and ``if not amp``."""
        return self._conditions.exclude(one.chain, other.chain)

    def _leads(self, one: tuple[ast.Call, ...], other: tuple[ast.Call, ...], obstacles: _Obstacles) -> bool:
        """Whether a path leads from an act out of the functions around it, to the other one's place, and into it."""
        if not self._flow.may_follow(one[0], other[0], avoiding=obstacles.of(self._flow.scope(one[0]))):
            return False
        return self._ends(one[1:], obstacles) and self._starts(other[1:], obstacles)

    def _ends(self, chain: tuple[ast.Call, ...], obstacles: _Obstacles) -> bool:
        return all(self._flow.may_end(call, avoiding=obstacles.of(self._flow.scope(call))) for call in chain)

    def _starts(self, chain: tuple[ast.Call, ...], obstacles: _Obstacles) -> bool:
        scopes = [(self._flow.scope(call), call) for call in chain]
        return all(self._flow.may_start_with(scope, call, avoiding=obstacles.of(scope)) for scope, call in scopes)


class LoopRound(Round):
    """The acts that a round of a ``loop`` may do, and the code that it may run: the loop's body, and the functions of the file
    that are called from there.
    """

    def __init__(self, loop: Loop, placed: list[Placed], semantics: Semantics) -> None:
        self.loop = loop
        self._tree = semantics.tree
        self._call_graph = semantics.inference.call_graph
        super().__init__(semantics.control_flow.scope(loop), [each for each in placed if each.place in self._own], semantics)

    def places(self, call: ast.Call) -> list[ast.Call]:
        """The calls in the loop's own code that are an act, or run it; none where no round does it."""
        return list(dict.fromkeys(placed.place for placed in self.acts if placed.act.call is call))[:_PLACES]

    def makes(self, making: Making) -> bool:
        """Whether a round makes the optimizer anew."""
        return making in self._own or self._tree.function(making) in self._functions

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the code, those of nested functions included."""
        roots = [*self._roots, *(statement for function in self._functions for statement in function.body)]
        return [node for root in roots for node in ast.walk(root)]

    @cached_property
    def _roots(self) -> list[ast.AST]:
        return [self.loop.test if isinstance(self.loop, ast.While) else self.loop.iter, *self.loop.body]

    @cached_property
    def _own(self) -> set[ast.AST]:
        return {node for root in self._roots for node in ast.walk(root)}

    @cached_property
    def _functions(self) -> dict[Function, None]:
        found: dict[Function, None] = {}
        pending = list(self._roots)
        while pending:
            for node in ast.walk(pending.pop()):
                function = self._call_graph.called(node) if isinstance(node, ast.Call) else None
                if function is not None and function not in found:
                    found[function] = None
                    pending.extend(function.body)
        return found


class _Obstacles:
    """Acts that are not to be passed, as calls in each scope: a call of a function counts where it cannot but do one."""

    def __init__(self, flow: ControlFlow, acts: Collection[Placed]) -> None:
        self._flow = flow
        self._acts = acts
        self._found: dict[FlowScope, tuple[ast.Call, ...]] = {}

    def of(self, scope: FlowScope) -> tuple[ast.Call, ...]:
        if scope not in self._found:
            self._found[scope] = ()  # while functions that call one another are looked at
            self._found[scope] = tuple(dict.fromkeys(self._find(scope)))
        return self._found[scope]

    def _find(self, scope: FlowScope) -> Iterator[ast.Call]:
        for placed in self._acts:
            for place, call in enumerate(placed.chain):
                if self._flow.scope(call) is not scope:
                    continue
                if call is placed.act.call:
                    yield call
                else:
                    inner = self._flow.scope(placed.chain[place + 1])
                    if not self._flow.may_pass(inner, self.of(inner)):
                        yield call


class Rounds:
    """The rounds of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._flow = semantics.control_flow
        self._of_loops: dict[Loop, LoopRound] = {}

    @cached_property
    def all(self) -> list[Round]:
        """A round for the code of each scope in which there are acts; none where there are too many of them, or where an engine
        acts by itself.
        """
        if not self._semantics.of(Acts).all:
            return []
        found = [(scope, acts) for scope, acts in self._by_scope.items() if len(acts) <= _MANY]
        return [Round(scope, acts, self._semantics) for scope, acts in found]

    @cached_property
    def whole(self) -> list[Round]:
        """The rounds that no function of the file calls as a part of its own."""
        parts = {self._flow.scope(call) for round_ in self.all for placed in round_.acts for call in placed.chain[1:]}
        return [round_ for round_ in self.all if round_.scope not in parts]

    def of_loop(self, loop: Loop) -> LoopRound:
        """A round of a loop, with what functions do for it, but for closures that an optimizer runs."""
        if loop not in self._of_loops:
            self._of_loops[loop] = LoopRound(loop, self._by_loop.get(loop, []), self._semantics)
        return self._of_loops[loop]

    def of_scope(self, scope: FlowScope) -> Round:
        """The round of a scope, whatever it has of acts."""
        return Round(scope, self._by_scope.get(scope, []), self._semantics)

    @cached_property
    def _by_loop(self) -> dict[Loop, list[Placed]]:
        found: dict[Loop, list[Placed]] = {}
        for placed in (each for acts in self._by_scope.values() for each in acts):
            if not self.is_in_closure(placed):
                for loop in self._semantics.tree.loops(placed.place):
                    found.setdefault(loop, []).append(placed)
        return found

    def is_in_closure(self, placed: Placed) -> bool:
        """Whether an act is done by a function that an optimizer is given for its step."""
        return bool(self._closures) and any(call in self._stepping for call in placed.chain[:-1])

    @cached_property
    def _stepping(self) -> set[ast.Call]:
        return {call for calls in self._closures.values() for call in calls}

    @cached_property
    def _by_scope(self) -> dict[FlowScope, list[Placed]]:
        found: dict[FlowScope, list[Placed]] = {}
        level = [Placed(act, (act.call,)) for act in self._semantics.of(Acts).written]
        for _ in range(_DEEP + 1):
            for placed in level:
                found.setdefault(self._flow.scope(placed.place), []).append(placed)
            level = [outer for placed in level for outer in self._called(placed)]
            if len(level) > _MANY * _MANY:
                break
        return found

    def _called(self, placed: Placed) -> Iterator[Placed]:
        """The same act, as the callers of its function do it."""
        function = self._semantics.tree.function(placed.place)
        if not isinstance(function, FUNCTIONS):
            return
        for call in [*self._semantics.inference.call_sites(function), *self._closures.get(function, ())]:
            if call not in placed.chain and self._flow.scope(call) is not function:
                yield Placed(placed.act, (call, *placed.chain))

    @cached_property
    def _closures(self) -> dict[Function, list[ast.Call]]:
        """The steps of optimizers that are given a function of the file, which they call."""
        found: dict[Function, list[ast.Call]] = {}
        for act in self._semantics.of(Acts).written:
            if act.deed is Deed.STEP:
                given: Iterable[ast.expr] = given_to(act.call)
                for function in map(self._semantics.facts.definition, given):
                    if isinstance(function, FUNCTIONS):
                        found.setdefault(function, []).append(act.call)
        return found
