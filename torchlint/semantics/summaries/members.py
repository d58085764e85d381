"""What stands in a class, walked through once for all that is asked of it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

from torchlint.semantics.code.tree import FUNCTIONS, Function, all_parts, parts_apart

_ByType: TypeAlias = dict[type[ast.AST], list[ast.AST]]
_Node = TypeVar("_Node", bound=ast.AST)


@dataclass(frozen=True, slots=True)
class Member:
    """A statement of a class's body, perhaps a ``method``, with its parts by their types.

    The ``body`` of a method is what runs when it does, without the functions and classes that are nested in it.
    """

    method: Function | None
    body: list[ast.AST]
    _in_body: _ByType
    _elsewhere: _ByType

    def own(self, kind: type[_Node]) -> list[_Node]:
        """The parts of that type that are in the body of a method."""
        return cast("list[_Node]", self._in_body.get(kind, []))

    def every(self, kind: type[_Node]) -> list[_Node]:
        """All parts of that type: those of the body, and then what is nested or stands around it."""
        return cast("list[_Node]", [*self._in_body.get(kind, ()), *self._elsewhere.get(kind, ())])


def members_of(node: ast.ClassDef) -> list[Member]:
    """The statements of a class's body, in the order of the text."""
    return [member_of(statement) for statement in node.body]


def member_of(statement: ast.stmt) -> Member:
    """A statement, perhaps a function, with its parts."""
    if not isinstance(statement, FUNCTIONS):
        return Member(None, [], {}, _by_type(all_parts(statement)))
    own, nested = parts_apart(statement.body)
    around = [*statement.decorator_list, statement.args, *filter(None, [statement.returns])]
    return Member(statement, own, _by_type(own), _by_type([*nested, *all_parts(*around)]))


def _by_type(parts: Iterable[ast.AST]) -> _ByType:
    found: _ByType = defaultdict(list)
    for part in parts:
        found[type(part)].append(part)
    return found
