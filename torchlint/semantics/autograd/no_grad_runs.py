"""Which neighbouring statements can share one ``with torch.no_grad():``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from functools import cached_property

from torchlint.semantics.code.tree import Tree

_PLAIN_FUNCTIONS = frozenset(
    {
        *("isinstance", "issubclass", "hasattr", "getattr", "callable", "type", "str"),
        *("len", "range", "enumerate", "zip", "reversed", "list"),
    }
)
_PLAIN_METHODS = frozenset(
    {
        *("parameters", "named_parameters", "buffers", "named_buffers"),
        *("modules", "named_modules", "children", "named_children"),
        *("items", "values", "keys", "startswith", "endswith", "find", "lower", "size", "dim"),
    }
)
"""What conditions and loops may call and still compute nothing that autograd could record."""

SUSPENDING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
"""What must not be put under ``no_grad``: it hands a value, or the control, to code outside."""


_LONGEST = 50
"""A run of more statements is divided, as every finding in it carries the edits for all of it; the parts join one another.

A loop or condition of more lines is no part of a run, for the same reason; what is in it may be.
"""


class NoGradRuns:
    """Finds the run of statements that go under one ``no_grad``.

    ``needy`` are the simple statements that have to, ``bearing`` those that may as well where they stand between such ones;
    ``stands_alone`` tells whether a statement has its lines for itself, so that it can be put into a block; ``is_plain``
    whether a condition, or what a loop is over, can be evaluated with autograd off.
    """

    def __init__(
        self,
        tree: Tree,
        needy: Collection[ast.stmt],
        bearing: Collection[ast.stmt],
        stands_alone: Callable[[ast.stmt], bool],
        is_plain: Callable[[ast.expr], bool] | None = None,
    ) -> None:
        self._tree = tree
        self._needy = needy
        self._bearing = bearing
        self._stands_alone = stands_alone
        self._is_plain = is_plain or _is_plain
        self._found: dict[ast.stmt, list[ast.stmt]] = {}
        self._stretches: dict[ast.stmt, tuple[list[ast.stmt], int]] = {}

    def around(self, statement: ast.stmt) -> list[ast.stmt]:
        """The run of neighbouring statements around ``statement`` that go under ``no_grad``, and nothing else.

        A loop or condition all of whose body does so counts as one such statement. One that does not have to is part of a run
        where it stands between such as do. Empty where there is no such run, or where ``statement`` cannot be put into a block,
        with its neighbours or without them.
        """
        if statement not in self._needy:
            return self._run_of_bearing.get(statement, [])
        if statement not in self._found:
            run = self._find(statement)
            needy = [part for member in run for part in self._needy_in(member)]
            self._found.update(dict.fromkeys([statement, *needy], run))
        return self._found[statement]

    @cached_property
    def _run_of_bearing(self) -> dict[ast.stmt, list[ast.stmt]]:
        runs = {id(run): run for statement in self._needy if (run := self.around(statement))}
        parts = ((part, run) for run in runs.values() for member in run for part in ast.walk(member))
        return {part: run for part, run in parts if isinstance(part, ast.stmt) and part in self._bearing}

    def _find(self, statement: ast.stmt) -> list[ast.stmt]:
        outermost = statement
        for parent in self._tree.ancestors(statement):
            if not isinstance(parent, (ast.If, ast.For)) or _is_long(parent) or not self._allows(parent):
                break
            if self._stands_alone(parent):
                outermost = parent
        if not self._stands_alone(outermost):
            return []
        if outermost not in self._stretches:
            self._measure(outermost)
        stretch, place = self._stretches[outermost]
        first = place // _LONGEST * _LONGEST
        return self._within_condition(stretch[first : first + _LONGEST])

    def _measure(self, statement: ast.stmt) -> None:
        """Takes down the neighbouring statements around ``statement`` that can go under one ``no_grad``, and their places."""
        block = self._tree.block(statement)
        first = last = block.index(statement)
        for position in range(first - 1, -1, -1):
            if not self._joins(block[position]):
                break
            first = position if self._holds_needy(block[position]) else first
        for position in range(last + 1, len(block)):
            if not self._joins(block[position]):
                break
            last = position if self._holds_needy(block[position]) else last
        stretch = block[first : last + 1]
        self._stretches.update({member: (stretch, place) for place, member in enumerate(stretch)})

    def _within_condition(self, run: list[ast.stmt]) -> list[ast.stmt]:
        """Of a run that is one condition, only one of whose branches needs ``no_grad``, the run in that branch."""
        while len(run) == 1 and isinstance(run[0], ast.If):
            needy = [block for block in (run[0].body, run[0].orelse) if any(map(self._holds_needy, block))]
            block = needy[0]
            positions = [index for index, part in enumerate(block) if self._holds_needy(part)]
            inner = block[positions[0] : positions[-1] + 1]
            if len(needy) > 1 or not all(map(self._stands_alone, inner)):
                break
            run = inner
        return run

    def _joins(self, statement: ast.stmt) -> bool:
        return not _is_long(statement) and self._allows(statement) and self._stands_alone(statement)

    def _holds_needy(self, statement: ast.stmt) -> bool:
        return bool(self._needy_in(statement))

    def _needy_in(self, statement: ast.stmt) -> list[ast.stmt]:
        return [part for part in ast.walk(statement) if isinstance(part, ast.stmt) and part in self._needy]

    def _allows(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.For(iter=header, body=body, orelse=[]):
                return self._is_plain(header) and all(self._allows(part) for part in body)
            case ast.If(test=header, body=body, orelse=orelse):
                return self._is_plain(header) and all(self._allows(part) for part in [*body, *orelse])
            case ast.Continue() | ast.Break() | ast.Pass():
                return True
        return statement in self._needy or statement in self._bearing


def _is_long(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.If, ast.For)) and (statement.end_lineno or 0) - statement.lineno > _LONGEST


def _is_plain(header: ast.expr) -> bool:
    """Whether a condition, or what a loop is over, computes nothing that autograd could record."""
    for part in ast.walk(header):
        match part:
            case ast.Call(func=ast.Name(id=name)):
                if name not in _PLAIN_FUNCTIONS:
                    return False
            case ast.Call(func=ast.Attribute(attr=name)):
                if name not in _PLAIN_METHODS:
                    return False
            case ast.Call():
                return False
            case _ if isinstance(part, SUSPENDING):
                return False
    return True


def is_suspending(statement: ast.stmt) -> bool:
    """Whether a statement hands a value, or the control, to code outside, which would find autograd off."""
    return any(isinstance(part, SUSPENDING) for part in ast.walk(statement))
