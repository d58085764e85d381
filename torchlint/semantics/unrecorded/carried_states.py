"""Values of a step whose graph lives on in the state that the step hands to the next one: ``y, h = cell(x, h)``."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import given_to


class CarriedStates:
    """Tells of values of one file whether a state keeps their graph, whatever else does."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def hold(self, value: ast.expr) -> bool:
        """Whether a name was given a part of what a call gave that is called again with another part, or with the same."""
        if not isinstance(value, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(value)
        return bool(bindings) and all(map(self._is_of_step, bindings))

    def _is_of_step(self, binding: Binding) -> bool:
        call = binding.value
        if binding.form is not Form.ASSIGNMENT or not isinstance(call, ast.Call):
            return False
        given = [part for each in given_to(call) for part in _names(each)]
        return any(
            other.value is call and other.form is Form.ASSIGNMENT
            for name in given
            for other in self._semantics.bindings.reaching(name)
        )


def _names(value: ast.expr) -> list[ast.Name]:
    """The names that an argument is, or is a tuple of."""
    match value:
        case ast.Name():
            return [value]
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return [name for item in items for name in _names(item)]
    return []
