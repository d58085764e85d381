"""The order in which a round of a training may run its acts, also those that functions of the file do for it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.control_flow import ControlFlow, FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.conditions.exclusive import Conditions
from torchlint.semantics.steps.acts import Act, Acts, Deed

_DEEP = 3
"""So many functions may lie between a round and an act of it."""
_MANY = 60
"""So many acts of one round are looked at; code with more of them is generated."""


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

    @cached_property
    def all(self) -> list[Round]:
        """A round for the code of each scope in which there are acts; none where there are too many of them."""
        found = [(scope, acts) for scope, acts in self._by_scope.items() if len(acts) <= _MANY]
        return [Round(scope, acts, self._semantics) for scope, acts in found]

    @cached_property
    def whole(self) -> list[Round]:
        """The rounds that no function of the file calls as a part of its own."""
        parts = {self._flow.scope(call) for round_ in self.all for placed in round_.acts for call in placed.chain[1:]}
        return [round_ for round_ in self.all if round_.scope not in parts]

    @cached_property
    def _by_scope(self) -> dict[FlowScope, list[Placed]]:
        found: dict[FlowScope, list[Placed]] = {}
        level = [Placed(act, (act.call,)) for act in self._semantics.of(Acts).all]
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
        for act in self._semantics.of(Acts).all:
            if act.deed is Deed.STEP:
                given: Iterable[ast.expr] = [*act.call.args, *(word.value for word in act.call.keywords)]
                for function in map(self._semantics.facts.definition, given):
                    if isinstance(function, FUNCTIONS):
                        found.setdefault(function, []).append(act.call)
        return found
