"""What a function of another file may give as a number, by its name: ``loss, seg_loss = criterion(output, target)``."""

from __future__ import annotations

import ast

from torchlint.semantics import Form, Semantics


class NamedNumbers:
    """Tells of values that are unpacked from what an unknown function gives whether the project has one that makes a number of
    what it gives by the same name.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def may_be(self, value: ast.expr) -> bool:
        """Whether a value may be such a number: all that its name stands for is unpacked from calls of no function in sight."""
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        if not isinstance(value, ast.Name) or not bindings:
            return False
        for binding in bindings:
            if binding.form is not Form.ASSIGNMENT or not binding.path or not isinstance(binding.value, ast.Call):
                return False
            if self._semantics.facts.definition(binding.value.func) is not None:
                return False
        return self._semantics.elsewhere.speaks_of(f"numbers: {value.id}") is True
