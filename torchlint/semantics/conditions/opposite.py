"""Places of a function of which a run reaches one alone: the conditions around them are opposites, and stay as they are."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.conditions.assumptions import Assumption, Assumptions

_PARTS = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp),
    *(ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop),
)
"""What a test is made of that comes out the same each time, if nothing is assigned to its names and attributes."""


class OppositePlaces:
    """Tells of two places of one function whether only one of them is reached in a run."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._assumptions = semantics.of(Assumptions)
        self._stored: dict[str, bool] = {}

    def are(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether what has to hold for the one place cannot hold for the other: ``if self.diag:`` and ``if not self.diag:``."""
        function = self._tree.function(one)
        if not isinstance(function, FUNCTIONS) or self._tree.function(other) is not function:
            return False
        lasting = [(test, holds) for test, holds in self._assumptions.guards(one) if self._lasts(test)]
        if not lasting:
            return False
        assumption = Assumption()
        for test, holds in lasting:
            self._assumptions.assume(assumption, test, holds)
        return self._assumptions.excludes(assumption, other)

    def _lasts(self, test: ast.expr) -> bool:
        """Whether a test comes out the same wherever a run of its function asks it."""
        parts = list(ast.walk(test))
        if not all(isinstance(part, _PARTS) for part in parts):
            return False
        names = (part for part in parts if isinstance(part, ast.Name))
        attributes = (part for part in parts if isinstance(part, ast.Attribute))
        return all(map(self._is_bound_once, names)) and not any(self._is_stored(part.attr) for part in attributes)

    def _is_bound_once(self, name: ast.Name) -> bool:
        """Whether a name has one value in a run of its function: an argument, or what is assigned outside of loops."""
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or bindings[0].form not in (Form.PARAMETER, Form.ASSIGNMENT):
            return False
        [binding] = bindings
        others = binding.scope.bindings.get(binding.name, ())
        return len(others) == 1 and not any(self._tree.loops(binding.node))

    def _is_stored(self, attribute: str) -> bool:
        """Whether the file gives an attribute a value anywhere but where an object is made."""
        if not self._stored:
            self._stored[""] = False
            for each in self._tree.of_type(ast.Attribute):
                if not isinstance(each.ctx, ast.Load):
                    function = self._tree.function(each)
                    is_made = isinstance(function, FUNCTIONS) and function.name == "__init__"
                    self._stored[each.attr] = self._stored.get(each.attr, False) or not is_made
        return self._stored.get(attribute, False)
