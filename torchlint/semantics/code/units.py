"""The pieces that a file is looked at in: simple statements, and the headers of compound ones and of their clauses."""

from __future__ import annotations

import ast
from typing import TypeAlias

from torchlint.semantics.code.tree import TRIES, Tree

Unit: TypeAlias = ast.stmt | ast.ExceptHandler | ast.match_case

CLAUSES = (ast.ExceptHandler, ast.match_case)
"""Parts of compound statements that have a header of their own."""


def unit_of(tree: Tree, node: ast.AST) -> Unit:
    """The innermost statement or clause that ``node`` is, or in whose header it stands."""
    statement = tree.statement(node)
    if node is not statement and isinstance(statement, (*TRIES, ast.Match)):
        inner: ast.AST | None = node
        while inner is not None and inner is not statement:
            if isinstance(inner, CLAUSES):
                return inner
            inner = tree.parent(inner)
    return statement


def place_of(unit: Unit) -> tuple[int, int]:
    """The line and column by which units are sorted."""
    place = unit.pattern if isinstance(unit, ast.match_case) else unit
    return place.lineno, place.col_offset
