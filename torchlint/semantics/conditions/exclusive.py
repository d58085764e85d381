"""Under which conditions code is run, and which of them exclude one another."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, in_body


class Conditions:
    """Tells of places of one file under which conditions they are run."""

    def __init__(self, semantics: Semantics) -> None:
        self._tree = semantics.tree
        self._found: dict[ast.AST, dict[str, bool]] = {}

    def of(self, node: ast.AST) -> dict[str, bool]:
        """The conditions around a node in its function, as they are spelled, and whether they hold there."""
        if node not in self._found:
            self._found[node] = {}
            child: ast.AST = node
            for parent in self._tree.ancestors(node):
                if isinstance(parent, (*FUNCTIONS, ast.ClassDef)):
                    break
                if isinstance(parent, ast.If) and child is not parent.test:
                    test, holds = _spelled(parent.test, in_body(child, parent))
                    self._found[node].setdefault(test, holds)
                child = parent
        return self._found[node]

    def exclude(self, one: Iterable[ast.AST], other: Iterable[ast.AST]) -> bool:
        """Whether a condition around any of the first nodes is the opposite of one around any of the others."""
        first = [self.of(node) for node in one]
        return any(
            test in conditions and conditions[test] is not holds
            for node in other
            for test, holds in self.of(node).items()
            for conditions in first
        )


def _spelled(test: ast.expr, holds: bool) -> tuple[str, bool]:
    """A condition without what negates it: ``not x`` and ``x is None`` are the opposites of ``x``."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _spelled(operand, not holds)
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return _spelled(left, holds)
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return _spelled(left, not holds)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return f"{ast.dump(left)} == {ast.dump(right)}", holds
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
            return f"{ast.dump(left)} == {ast.dump(right)}", not holds
    return ast.dump(test), holds
