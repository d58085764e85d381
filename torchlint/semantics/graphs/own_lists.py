"""Lists that live no longer than a test of the code: what they hold is gone with it."""

from __future__ import annotations

import ast
from typing import TypeGuard

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, walk
from torchlint.semantics.purpose import Purpose


class OwnLists:
    """Tells of lists, and of dicts, that values are kept in, whose they are."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._given: dict[ast.AST, set[str]] = {}

    def is_of_test(self, target: ast.expr) -> bool:
        """Whether what values are kept in is made by a test of the code, a name of its own, which it gives to nobody."""
        root = target
        while isinstance(root, ast.Subscript):
            root = root.value
        function = self._semantics.tree.function(root)
        if not isinstance(root, ast.Name) or not isinstance(function, FUNCTIONS):
            return False
        bindings = self._semantics.bindings.reaching(root)
        if not bindings or not all(each.form is Form.ASSIGNMENT and each.scope.node is function for each in bindings):
            return False
        if not all(isinstance(each.value, (ast.List, ast.Dict, ast.Call)) and not each.path for each in bindings):
            return False
        return self._semantics.of(Purpose).is_test_case(function) and root.id not in self._given_by(function)

    def _given_by(self, function: ast.AST) -> set[str]:
        """The names in what a function returns or yields, or gives an object or a module's name."""
        if function not in self._given:
            self._given[function] = {
                name.id
                for part in walk(function)
                if isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom)) or _keeps(part)
                for name in ast.walk(part.value or part)
                if isinstance(name, ast.Name)
            }
        return self._given[function]


def _keeps(part: ast.AST) -> TypeGuard[ast.Assign]:
    """Whether a statement gives an attribute, or an item of something, a value."""
    return isinstance(part, ast.Assign) and any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in part.targets)
