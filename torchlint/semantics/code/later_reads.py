"""Whether a variable is read once a statement has run."""

from __future__ import annotations

import ast
from bisect import bisect_left

from torchlint.semantics.code import Code
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.scopes import Scope


class LaterReads:
    """Looks ahead in one file."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._uses: dict[tuple[Binding, ...], tuple[list[ast.Name], list[ast.Name]]] = {}
        self._stores: dict[tuple[ast.AST, str], tuple[ast.AST, ...]] = {}

    def follow(self, statement: ast.stmt, name: ast.Name) -> bool:
        """Whether the variable ``name``, used in a statement, is one of its function's own and may be read behind that."""
        bindings = self._code.bindings.reaching(name)
        scope = self._code.bindings.scope_of(name)
        if not bindings or any(binding.scope is not scope for binding in bindings):
            return False
        uses, foreign = self._uses_of(bindings)
        start, end = _start(statement), _end(statement)
        if any(not start <= _start(use) < end for use in foreign):
            return True
        others = uses[: bisect_left(uses, start, key=_start)] + uses[bisect_left(uses, end, key=_start) :]
        return self._code.control_flow.leads_to_any(statement, others, avoiding=self._stores_of(scope, name.id))

    def _uses_of(self, bindings: tuple[Binding, ...]) -> tuple[list[ast.Name], list[ast.Name]]:
        """The uses of any of some bindings of one scope, in the order of the text: all of them, and those in other scopes."""
        if bindings not in self._uses:
            uses = sorted({use for binding in bindings for use in binding.uses}, key=_start)
            foreign = [use for use in uses if self._code.bindings.scope_of(use) is not bindings[0].scope]
            self._uses[bindings] = (uses, foreign)
        return self._uses[bindings]

    def _stores_of(self, scope: Scope, name: str) -> tuple[ast.AST, ...]:
        """Where a scope gives a name another value."""
        if (scope.node, name) not in self._stores:
            stores = (binding.node for binding in scope.bindings.get(name, ()) if isinstance(binding.node, ast.Name))
            self._stores[scope.node, name] = tuple(stores)
        return self._stores[scope.node, name]


def _start(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
