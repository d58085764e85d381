"""What lives on from one call of a function to the next: lists that callers hand in, and sums that go in and come back."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function


class CarriedValues:
    """Tells of the variables of functions whether what they hold goes from call to call."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_list_of_callers(self, name: ast.Name) -> bool:
        """Whether a list that is added to was handed in, by callers of other files or by one that does so in a loop.

        Who hands in a list to have one value put into it does so again and again.
        """
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or bindings[0].form is not Form.PARAMETER:
            return False
        function, parameter = bindings[0].scope.node, bindings[0].node
        if not isinstance(function, FUNCTIONS) or not isinstance(parameter, ast.arg):
            return False
        sites = self._semantics.facts.call_sites(function)
        if not sites:
            return not isinstance(self._tree.parent(function), FUNCTIONS)
        return any(self._is_kept_around(site, self._semantics.facts.argument(site, function, parameter)) for site in sites)

    def _is_kept_around(self, site: ast.Call, given: ast.expr | None) -> bool:
        """Whether a call stands in a loop, and what it is given is made outside of that."""
        loop = next(self._tree.loops(site), None)
        if loop is None:
            return False
        if isinstance(given, ast.Attribute):
            return not any(ast.unparse(given) == ast.unparse(each) for each in self._stored_in(loop))
        inside = self._semantics.bindings.bound_in_loop(loop)
        bindings = self._semantics.bindings.reaching(given) if isinstance(given, ast.Name) else ()
        return bool(bindings) and not any(binding in inside for binding in bindings)

    def _stored_in(self, loop: ast.AST) -> list[ast.Attribute]:
        stored = (part for part in ast.walk(loop) if isinstance(part, ast.Attribute))
        return [part for part in stored if isinstance(part.ctx, ast.Store)]

    def comes_back(self, target: ast.Name) -> bool:
        """Whether a sum that a function adds to was given to it, and is returned to a caller who hands it in again."""
        function = self._tree.function(target)
        own = self._semantics.bindings.of(target)
        if not isinstance(function, FUNCTIONS) or own is None or not own.before:
            return False
        if not any(_holds(value, target.id) for value in self._semantics.facts.returned(function) if value is not None):
            return False
        given = [self._parameter(binding) for binding in own.before]
        return any(each is not None and self._goes_round(function, each) for each in given)

    def _parameter(self, binding: Binding) -> Binding | None:
        """The parameter that a variable is, or was unpacked from."""
        if binding.form is Form.ASSIGNMENT and binding.path and isinstance(binding.value, ast.Name):
            bindings = self._semantics.bindings.reaching(binding.value)
            binding = bindings[0] if len(bindings) == 1 else binding
        return binding if binding.form is Form.PARAMETER else None

    def _goes_round(self, function: Function, parameter: Binding) -> bool:
        """Whether a caller assigns what it gets from a function to what it gives to it, in a loop."""
        if not isinstance(parameter.node, ast.arg):
            return False
        for site in self._semantics.facts.call_sites(function):
            given = self._semantics.facts.argument(site, function, parameter.node)
            statement = self._tree.statement(site)
            if isinstance(given, ast.Name) and isinstance(statement, ast.Assign) and statement.value is site:
                bindings = self._semantics.bindings.reaching(given)
                if any(self._tree.statement(each.node) is statement for each in bindings):
                    return True
        return False


def _holds(value: ast.expr, name: str) -> bool:
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)
