"""Fixes, said as changes of libcst nodes. They are values; `torchlint.fixes.edits` makes edits of the text of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import libcst as cst

from torchlint.fact import Fact

Statement: TypeAlias = cst.BaseSmallStatement | cst.BaseCompoundStatement


@dataclass(frozen=True, eq=False, slots=True)
class Replace:
    """``new`` in the place of ``old``; nodes of the old that are in the new stay as they are written."""

    old: cst.CSTNode
    new: cst.CSTNode
    moves: bool = False
    """Whether the further lines of what stays move along with its first one, where that comes to stand elsewhere."""


@dataclass(frozen=True, eq=False, slots=True)
class ReplaceByLines:
    """Statements, each on lines of its own, in the place of one that shares its lines with no other code."""

    old: cst.CSTNode
    new: tuple[Statement, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Remove:
    """A statement, with its line, or one name of an import."""

    node: cst.CSTNode
    but_comment: bool = False
    """Whether the comment behind the statement stays, unless it is one to a tool."""


@dataclass(frozen=True, eq=False, slots=True)
class Empty:
    """All statements of a block go: an ``else`` goes with them, any other block has ``pass`` then."""

    block: Sequence[cst.CSTNode]


@dataclass(frozen=True, eq=False, slots=True)
class Move:
    """A statement goes in front of another one of its block, with the comment behind it."""

    node: cst.CSTNode
    before: cst.CSTNode


@dataclass(frozen=True, eq=False, slots=True)
class Insert:
    """A statement on a line of its own, or on lines, before another one, or behind it."""

    new: Statement
    beside: cst.CSTNode
    behind: bool = False
    alone: bool = False
    """Whether it takes a line of its own, so that there is no room where other code shares the lines of the other one.

    A compound statement always does."""


@dataclass(frozen=True, eq=False, slots=True)
class InsertInto:
    """A statement that a function starts with, behind its docstring, or ends with, in front of its last ``return``."""

    new: cst.BaseSmallStatement
    function: cst.CSTNode
    last: bool = False
    alone: bool = False
    """Whether it takes a line of its own, so that there is no room where other code shares the lines beside it."""


@dataclass(frozen=True, eq=False, slots=True)
class InsertBelowImports:
    """A statement below the last import at the top level of the file, with a blank line between."""

    new: cst.BaseSmallStatement


@dataclass(frozen=True, eq=False, slots=True)
class Rename:
    """``reference``, a name or an attribute, refers to the API ``name``; where it was imported, the import and all uses do."""

    reference: cst.CSTNode
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Decorate:
    """A decorator on the line above a function, below those that it has."""

    function: cst.CSTNode
    decorator: cst.BaseExpression


@dataclass(frozen=True, eq=False, slots=True)
class Wrap:
    """Neighbouring statements go into a ``with`` block, which starts with another one, if that is given."""

    statements: Sequence[cst.CSTNode]
    context: cst.BaseExpression
    first: cst.BaseSmallStatement | None = None


Change: TypeAlias = (
    Replace | ReplaceByLines | Remove | Empty | Move | Insert | InsertInto | InsertBelowImports | Rename | Decorate | Wrap
)


@dataclass(frozen=True, eq=False, slots=True)
class CodeFix:
    """A fix: what it does in a few words, its changes, which are made together or not at all, and what it rests on."""

    title: str
    changes: tuple[Change, ...]
    rests_on: Fact


def fix(title: str, *changes: Change, rests_on: Fact) -> CodeFix:
    """A fix of these changes.

    It is safe where what it ``rests_on`` is certain: the program then computes the same results afterwards, less the hazard.
    Otherwise it is unsafe, for the reason that the fact gives; a fix that may always change something rests on
    ``unknown("what may change")``, one that cannot on `NOTHING`.
    """
    return CodeFix(title, changes, rests_on)


def replace(old: cst.CSTNode, new: cst.CSTNode) -> Change:
    """Puts ``new`` in the place of ``old``; what is in both stays as it is written."""
    return Replace(old, new)


def unwrap(old: cst.BaseExpression, new: cst.BaseExpression) -> Change:
    """Puts ``new``, which is made of a part of ``old``, in its place; the further lines of that move along with the first."""
    return Replace(old, new, moves=True)


def replace_by_lines(statement: cst.CSTNode, *new: Statement) -> Change:
    """Puts statements in the place of one, each on lines of its own; only where that one has its lines for itself."""
    return ReplaceByLines(statement, new)


def remove(node: cst.CSTNode, *, but_comment: bool = False) -> Change:
    """Takes a statement away, or one name of an import; with ``but_comment``, the comment behind the statement stays."""
    return Remove(node, but_comment)


def empty(block: Sequence[cst.CSTNode]) -> Change:
    """Takes all statements of a block away, with its ``else`` if it is one; comments behind the statements stay."""
    return Empty(block)


def move(statement: cst.CSTNode, before: cst.CSTNode) -> Change:
    """Lets a statement come earlier in its block, in front of another one; the comment behind it comes along."""
    return Move(statement, before)


def insert_before(statement: cst.CSTNode, new: Statement, *, alone: bool = False) -> Change:
    """Puts a statement in front of another one; with ``alone``, only where that shares its lines with no other code."""
    return Insert(new, statement, alone=alone)


def insert_behind(statement: cst.CSTNode, new: Statement, *, alone: bool = False) -> Change:
    """Puts a statement behind another one; with ``alone``, only where that shares its lines with no other code."""
    return Insert(new, statement, behind=True, alone=alone)


def insert_first(function: cst.CSTNode, new: cst.BaseSmallStatement, *, alone: bool = False) -> Change:
    """Lets a function start with a statement, behind its docstring; with ``alone``, only on a line of its own."""
    return InsertInto(new, function, alone=alone)


def insert_last(function: cst.CSTNode, new: cst.BaseSmallStatement, *, alone: bool = False) -> Change:
    """Lets a function end with a statement, or with that and its last ``return``; with ``alone``, only on a line of its own."""
    return InsertInto(new, function, last=True, alone=alone)


def insert_below_imports(new: cst.BaseSmallStatement) -> Change:
    """Puts a statement below the imports of the file; only where there are any, and the last has its line for itself."""
    return InsertBelowImports(new)


def rename(reference: cst.BaseExpression, name: str) -> Change:
    """Lets a name or an attribute that refers to an API refer to another one, of this full name.

    Where it was imported by its own name, the import and all other uses change, too; there is no fix where the new name is
    that of something else.
    """
    return Rename(reference, name)


def decorate(function: cst.CSTNode, decorator: cst.BaseExpression) -> Change:
    """Decorates a function; the new decorator is the innermost one."""
    return Decorate(function, decorator)


def wrap(
    statements: Sequence[cst.CSTNode], context: cst.BaseExpression, *, first: cst.BaseSmallStatement | None = None
) -> Change:
    """Puts neighbouring statements into ``with context:``, with what the same fix inserts behind them.

    With ``first``, the block starts with that statement, and is one of its own.
    """
    return Wrap(statements, context, first)


def without_attribute(node: cst.BaseExpression) -> Change:
    """Leaves ``x`` of an ``x.data``."""
    assert isinstance(node, cst.Attribute)
    return Replace(node, node.value)
