"""Which numbers an expression may have, by all that the calls in sight give: constants, defaults, and what is kept of them."""

from __future__ import annotations

import ast

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.observers.callers import Callers
from torchlint.semantics.observers.programs import Programs

_DEPTH = 5


class GivenNumbers:
    """Follows names, attributes and parameters to numbers that are written out."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def of(self, node: ast.expr, depth: int = _DEPTH) -> set[float] | None:
        """All numbers that a value may be; `None` where it may be another one."""
        match node:
            case ast.Constant(value=int() | float() as value):
                return {float(value)}
            case ast.Name() if depth:
                return self._joined([self._bound(each, depth - 1) for each in self._semantics.bindings.reaching(node)])
            case ast.Attribute(value=owner, attr=name) if depth:
                own = self._semantics.facts.self_class(owner)
                return self._kept(own, name, depth - 1) if own is not None else None
        return None

    def _joined(self, parts: list[set[float] | None]) -> set[float] | None:
        found = set[float]()
        for part in parts:
            if part is None:
                return None
            found |= part
        return found or None

    def _bound(self, binding: Binding, depth: int) -> set[float] | None:
        if binding.form is Form.ASSIGNMENT and not binding.path and binding.value is not None:
            return self.of(binding.value, depth)
        return self._given(binding, depth) if binding.form is Form.PARAMETER else None

    def _kept(self, owner: ast.ClassDef, name: str, depth: int) -> set[float] | None:
        """What is in an attribute, where only the class's own methods write to it."""
        facts = self._semantics.facts
        slots = facts.slots(owner, name)
        if name in facts.stored_attributes or not self._is_final(owner) or any(slot.class_values for slot in slots):
            return None
        stores = [self._tree.parent(store) for slot in slots for store in slot.stores]
        return self._joined([self.of(each.value, depth) if isinstance(each, ast.Assign) else None for each in stores])

    def _given(self, binding: Binding, depth: int) -> set[float] | None:
        """What calls give for a parameter, where all of them are in sight; its default, where there are none."""
        function, parameter = binding.scope.node, binding.node
        if not isinstance(function, FUNCTIONS) or not isinstance(parameter, ast.arg) or not self._is_sole(function):
            return None
        facts = self._semantics.facts
        calls = self._semantics.of(Callers).calls(function)
        if not calls and not self._semantics.of(Programs).runs:
            return None
        given = [facts.argument(call, function, parameter) for call in calls] or [facts.default(function, parameter)]
        return self._joined([self.of(each, depth) if each is not None else None for each in given])

    def _is_sole(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether what calls a function is in this file, and by its name."""
        owner, programs = self._tree.parent(function), self._semantics.of(Programs)
        if function.decorator_list or not (programs.runs or programs.acts):
            return False
        if isinstance(owner, ast.ClassDef):
            if function.name != "__init__" or not self._is_final(owner) or owner.decorator_list:
                return False
        elif owner is not self._tree.module:
            return False
        callers, elsewhere = self._semantics.of(Callers), self._semantics.elsewhere.callers
        return None not in callers.mentions(function) and (elsewhere is None or not elsewhere.are_possible())

    def _is_final(self, owner: ast.ClassDef) -> bool:
        """Whether no class of the file derives from one."""
        return len(self._semantics.facts.derived(owner)) == 1
