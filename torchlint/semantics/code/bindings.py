"""Which definition a name refers to: scopes, bindings, and the bindings that reach each use.

Every place that gives a name a value is a `Binding`. `Bindings` walks each scope once, in the order of execution, and
records for each use of a name the bindings that may have given it its value there: branches are joined, what a loop's body
binds may reach its next round, and what holds at a ``break`` holds behind the loop. Names of enclosing scopes (closures,
globals) may have any of their bindings, and so may names that a nested function declares ``global`` or ``nonlocal``.
"""

from __future__ import annotations

import ast

from torchlint.semantics.code.binding_flow import BindingFlow
from torchlint.semantics.code.scopes import Binding, Form, Scope, Scopes
from torchlint.semantics.code.tree import COMPREHENSIONS, Tree

__all__ = ["Binding", "Bindings", "Form", "Scope"]


class Bindings(Scopes):
    """The scopes and bindings of a module, and what reaches each use of a name."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self._reaching: dict[ast.Name, tuple[Binding, ...]] = {}
        for scope in list(self.scopes.values()):
            if not isinstance(scope.node, COMPREHENSIONS):
                BindingFlow(self, scope, self._reaching).run()

    def reaching(self, name: ast.Name) -> tuple[Binding, ...]:
        """The bindings that may have given ``name`` its value there; empty where the file does not bind it."""
        return self._reaching.get(name, ())

    def assigned(self, name: ast.AST | None) -> ast.expr | None:
        """The one value that a name has: all that one assignment gives; ``None`` where it may have others, or is no name."""
        bindings = self.reaching(name) if isinstance(name, ast.Name) else ()
        if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path:
            return None
        return bindings[0].value

    def values(self, name: ast.Name) -> list[ast.expr]:
        """The values that a name may have, each all that an assignment gives; none where it may have others."""
        bindings = self.reaching(name)
        found = [each.value for each in bindings if each.form is Form.ASSIGNMENT and not each.path and each.value is not None]
        return found if len(found) == len(bindings) else []

    def adopt(self, expression: ast.expr) -> None:
        """Resolves the names of an expression that is not part of the tree, a quoted annotation, as in the module's scope."""
        for node in ast.walk(expression):
            if isinstance(node, ast.Name):
                self._reaching[node] = self.lookup(node.id, self.module)
