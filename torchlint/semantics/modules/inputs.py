"""What modules are given."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, Type
from torchlint.semantics.kinds.results import LOSS_MODULES


class Inputs:
    """Tells which values of a file become the inputs of modules."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def include(self, node: ast.expr) -> bool:
        """Whether a module, and no loss, is given a value: where it stands, or by the name that it is bound to there."""
        uses: list[ast.expr] = [node]
        statement = self._semantics.tree.parent(node)
        if isinstance(statement, ast.Assign) and statement.value is node:
            bindings = [self._semantics.bindings.of(target) for target in statement.targets]
            uses += [use for binding in bindings if binding is not None for use in binding.uses]
        return any(map(self._is_input, uses))

    def _is_input(self, use: ast.expr) -> bool:
        call = self._semantics.tree.parent(use)
        if not isinstance(call, ast.Call) or call.args[:1] != [use]:
            return False
        kind = self._semantics.kind(call.func)
        return kind.type is Type.MODULE and kind.name not in LOSS_MODULES
