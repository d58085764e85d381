"""Snapshots that are taken anew at the end of each round: those of the last one, whatever changed before."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, in_body


class LastSnapshots:
    """Tells of snapshots whether the phase that ends each round of a loop takes them: ``if phase == "val":``."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_behind(self, start: ast.AST, update: ast.AST, uses: Iterable[ast.AST]) -> bool:
        """Whether what is kept at ``start`` is kept again behind an update, before any of its uses."""
        loop = self._renewing(start)
        tree = self._semantics.tree
        return loop is not None and tree.inside(update, loop) and not any(tree.inside(use, loop) for use in uses)

    def _renewing(self, start: ast.AST) -> ast.AST | None:
        """The outermost loop whose last phase keeps something anew at ``start``, on no other condition."""
        tree, child, phases = self._semantics.tree, start, list[ast.If]()
        loop: ast.AST | None = None
        for parent in tree.ancestors(start):
            match parent:
                case ast.If():
                    if not in_body(child, parent):
                        return None
                    phases.append(parent)
                case ast.For(target=ast.Name(id=name), iter=ast.List(elts=[*_, last]) | ast.Tuple(elts=[*_, last])) if phases:
                    if not all(_is_of(phase.test, name, last) for phase in phases):
                        return None
                    loop, phases = parent, []
                case ast.While() | ast.Try():
                    return None
                case _ if isinstance(parent, LOOPS):
                    if loop is None:
                        return None
                    loop = parent
                case _ if isinstance(parent, FUNCTIONS):
                    break
            child = parent
        return loop if not phases else None


def _is_of(test: ast.expr, name: str, last: ast.expr) -> bool:
    """Whether a test asks for a phase that is written out."""
    match test:
        case ast.Compare(left=ast.Name(id=asked), ops=[ast.Eq()], comparators=[ast.Constant() as phase]):
            return asked == name and isinstance(last, ast.Constant) and last.value == phase.value
    return False
