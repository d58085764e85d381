"""Attributes of objects that are given what `load_state_dict` gives: what reads them before they are given something else."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, dotted, is_none, position
from torchlint.semantics.conditions.exclusive import Conditions
from torchlint.semantics.modules.classes import ModuleClasses

_Place = tuple[int, int]
_MOST = 20
"""So many stores, or uses, behind one assignment are looked at."""
_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


@dataclass(eq=False, slots=True)
class Known:
    """An attribute of a class's instances: where the file reads it, and where it stores to it, function by function."""

    uses: list[ast.Attribute]
    asked: frozenset[str]
    uses_in: dict[ast.AST | None, list[ast.Attribute]]
    stores_in: dict[ast.AST | None, list[ast.Attribute]]
    is_stored_outside: bool
    is_free: dict[Type, bool] = field(default_factory=dict)


class LoadedAttributes:
    """Tells of the attributes of one file's classes."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._conditions = semantics.of(Conditions)
        self._known: dict[tuple[ast.ClassDef, str], Known | None] = {}
        self._own_calls: dict[ast.AST, list[_Place]] = {}

    def of(self, target: ast.Attribute) -> Known | None:
        """What is known of an attribute; ``None`` if it is none of the own object, or setting it may do anything."""
        owner = self._facts.self_class(target.value)
        if owner is None:
            return None
        if (owner, target.attr) not in self._known:
            self._known[owner, target.attr] = self._find(owner, target.attr)
        return self._known[owner, target.attr]

    def _find(self, owner: ast.ClassDef, name: str) -> Known | None:
        if any(self._facts.method(owner, each) is not None for each in (name, "__setattr__", "__getattribute__")):
            return None
        slots = self._facts.slots(owner, name)
        uses = sorted((use for slot in slots for use in slot.uses), key=position)
        derived = (self._facts.classes[each].slots.get(name) for each in self._facts.derived(owner) if each is not owner)
        stores = [
            store for slot in (*slots, *derived) if slot is not None for store in slot.stores if not self._is_emptied(store)
        ]
        asked = (parent.attr for use in uses if isinstance(parent := self._tree.parent(use), ast.Attribute))
        is_outside = name in self._facts.stored_attributes
        return Known(uses, frozenset(asked), self._by_function(uses), self._by_function(stores), is_outside)

    def _is_emptied(self, store: ast.Attribute) -> bool:
        """Whether an attribute is given None, which is no more of a model than the result is."""
        statement = self._tree.parent(store)
        return isinstance(statement, ast.Assign) and is_none(statement.value)

    def _by_function(self, nodes: list[ast.Attribute]) -> dict[ast.AST | None, list[ast.Attribute]]:
        found: dict[ast.AST | None, list[ast.Attribute]] = defaultdict(list)
        for node in sorted(nodes, key=position):
            found[self._tree.function(node)].append(node)
        return dict(found)

    def refuses(self, target: ast.Attribute, receiver: ast.expr, role: Type) -> bool:
        """Whether assigning what is no module raises: the attribute is a part of a module that was loaded into."""
        owner = self._facts.self_class(target.value)
        if owner is None or role is not Type.MODULE or dotted(receiver) != dotted(target) or self.of(target) is None:
            return False
        classes = self._semantics.of(ModuleClasses)
        return classes.is_sure(owner) and classes.has_known_bases(owner)

    def following(self, target: ast.Attribute) -> Iterator[ast.Attribute]:
        """The reads of an attribute that find what the assignment gives, or some of them: those behind it in its function, and
        in others where nothing else may be stored after it.
        """
        known = self.of(target)
        if known is None:
            return
        function, end = self._tree.function(target), _end(self._tree.statement(target))
        last = self._next_store(known, target, end)
        elsewhere = (
            any(each is not function and not _is_constructor(each) for each in known.stores_in) or known.is_stored_outside
        )
        uses = known.uses_in.get(function, [])
        start = bisect_left(uses, end, key=position)
        for use in uses[start : start + _MOST]:
            if last is not None and position(use) >= last:
                break
            if elsewhere and self._calls_own(function, end, position(use)):
                break
            if self._may_reach(target, use):
                yield use
        if last is not None or elsewhere or not self._stays(known, function):
            return
        for number, (other, inner) in enumerate(known.uses_in.items()):
            if other is not function and not _is_constructor(other) and number < _MOST:
                yield from inner

    def _stays(self, known: Known, function: ast.AST | None) -> bool:
        """Whether what the constructor stores is stored before a function runs."""
        others = [each for each in known.stores_in if each is not function]
        if not others:
            return True
        if _is_constructor(function) or function is None:
            return False
        return not any(self._tree.function(site) in others for site in self._facts.call_sites(function))

    def _next_store(self, known: Known, target: ast.Attribute, end: _Place) -> _Place | None:
        """Where the function stores to the attribute again behind an assignment, and not in another branch."""
        stores = known.stores_in.get(self._tree.function(target), [])
        start = bisect_right(stores, end, key=position)
        for store in stores[start : start + _MOST]:
            if self._may_reach(target, store):
                return position(store)
        return position(stores[start + _MOST]) if len(stores) > start + _MOST else None

    def _may_reach(self, target: ast.Attribute, place: ast.Attribute) -> bool:
        """Whether code further below in a function may run after an assignment: in no other branch, and not past its end."""
        if self._conditions.exclude([target], [place]):
            return False
        around = set(self._tree.ancestors(place))
        statement: ast.AST = self._tree.statement(target)
        while (parent := self._tree.parent(statement)) is not None and parent not in around:
            if isinstance(statement, ast.stmt) and isinstance(self._tree.block(statement)[-1], _LEAVING):
                return False
            statement = parent
        other: ast.AST | None = place
        while other is not None and self._tree.parent(other) is not parent:
            other = self._tree.parent(other)
        return not isinstance(parent, ast.If) or (statement in parent.body) is (other in parent.body)

    def _calls_own(self, function: ast.AST | None, start: _Place, end: _Place) -> bool:
        """Whether a method of the own object runs between two places of a function, or the object is handed on."""
        if function is None:
            return False
        if function not in self._own_calls:
            calls = (each for each in ast.walk(function) if isinstance(each, ast.Call))
            self._own_calls[function] = sorted(position(each) for each in calls if self._is_of_self(each))
        places = self._own_calls[function]
        return bisect_left(places, end) > bisect_left(places, start)

    def _is_of_self(self, call: ast.Call) -> bool:
        given = [*call.args, *(each.value for each in call.keywords)]
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        return any(each is not None and self._facts.self_class(each) is not None for each in (owner, *given))


def _end(statement: ast.stmt) -> _Place:
    return (statement.end_lineno or statement.lineno, statement.end_col_offset or 0)


def _is_constructor(function: ast.AST | None) -> bool:
    return isinstance(function, FUNCTIONS) and function.name == "__init__"
