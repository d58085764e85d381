"""Where values come from: whether all that a name or an attribute may be assigned holds a condition, with the reason if not."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.observers.callers import Callers

_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Condition:
    """What is asked of every value: ``noun`` names what it has to be, "`n` is an argument; it may be no integer".

    ``holds`` answers for an expression, and gives None where what stands behind it has to be looked at; a parameter is trusted
    that has one of the ``annotations``.
    """

    noun: str
    holds: Callable[[ast.expr], Fact | None]
    annotations: frozenset[str] = frozenset()


class Sources:
    """Follows names, attributes of ``self`` and conditional expressions to the expressions that they are assigned."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def fact(self, node: ast.expr, condition: Condition, depth: int = 0) -> Fact:
        """Whether all that ``node`` may be meets a condition."""
        if (answer := condition.holds(node)) is not None:
            return answer
        if depth < _DEPTH:
            match node:
                case ast.IfExp(body=body, orelse=orelse):
                    return self.fact(body, condition, depth + 1) & self.fact(orelse, condition, depth + 1)
                case ast.Name():
                    return self._of_name(node, condition, depth)
                case ast.Attribute(value=owner, attr=attribute):
                    return self._of_attribute(node, owner, attribute, condition, depth)
        return unknown(f"`{shortened(node)}` may be no {condition.noun}")

    def _of_name(self, name: ast.Name, condition: Condition, depth: int) -> Fact:
        found = self._semantics.bindings.reaching(name)
        together = CERTAIN if found else unknown(f"nothing shows that `{name.id}` is a {condition.noun}")
        for binding in found:
            together &= self._of_binding(binding, condition, depth)
        return together

    def _of_binding(self, binding: Binding, condition: Condition, depth: int) -> Fact:
        match binding.form:
            case Form.PARAMETER:
                if self._names_one(binding.annotation, condition.annotations) or self._is_given(binding, condition, depth):
                    return CERTAIN
                return unknown(f"`{binding.name}` is an argument; it may be no {condition.noun}")
            case Form.IMPORT:
                return unknown(f"`{binding.name}` is imported; it may be no {condition.noun}")
            case Form.ASSIGNMENT if binding.value is not None and not binding.path:
                return self.fact(binding.value, condition, depth + 1)
        return unknown(f"`{binding.name}` may be no {condition.noun}")

    def _is_given(self, binding: Binding, condition: Condition, depth: int) -> bool:
        """Whether all calls are in sight, and each hands the parameter what meets a condition."""
        function, parameter = binding.scope.node, binding.node
        if not isinstance(function, FUNCTIONS) or not isinstance(parameter, ast.arg):
            return False
        callers, arguments = self._semantics.of(Callers), function.args
        if parameter in (arguments.vararg, arguments.kwarg) or not callers.fact(function).is_certain:
            return False
        for call in callers.calls(function):
            if isinstance(call.func, ast.Attribute) and self._semantics.facts.self_class(call.func.value) is None:
                return False  # of a class, ``Net.build(net, device)``, or what `apply` hands its parts to
            value = self._semantics.facts.argument(call, function, parameter)
            if value is None or not self.fact(value, condition, depth + 1).is_certain:
                return False
        return True

    def _names_one(self, annotation: ast.expr | None, names: frozenset[str]) -> bool:
        """Whether an annotation names one of some classes, or several of them: ``int``, ``str | torch.device``."""
        match annotation:
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._names_one(left, names) and self._names_one(right, names)
            case ast.Name() | ast.Attribute():
                return (self._semantics.qualified_name(annotation) or "") in names
        return False

    def _of_attribute(self, node: ast.expr, owner: ast.expr, attribute: str, condition: Condition, depth: int) -> Fact:
        doubt = unknown(f"`{shortened(node)}` may be no {condition.noun}")
        if (found := self._semantics.facts.self_class(owner)) is None or self.is_set_from_outside(attribute):
            return doubt
        slots = self._semantics.facts.slots(found, attribute)
        values = [self._value(store) for slot in slots for store in slot.stores]
        values += [value for slot in slots for value, _ in slot.class_values]
        if not values or attribute in self._semantics.facts.classes[found].methods:
            return doubt
        together = CERTAIN
        for value in values:
            together &= doubt if value is None else self.fact(value, condition, depth + 1)
        return together

    def _value(self, store: ast.Attribute) -> ast.expr | None:
        match self._semantics.tree.parent(store):
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return value
        return None

    def is_set_from_outside(self, attribute: str) -> bool:
        """Whether any code of the file assigns to an attribute of this name of something else than ``self``."""
        return attribute in self._set_from_outside

    @cached_property
    def _set_from_outside(self) -> frozenset[str]:
        stores = (node for node in self._semantics.tree.of_type(ast.Attribute) if isinstance(node.ctx, ast.Store))
        return frozenset(store.attr for store in stores if self._semantics.facts.self_class(store.value) is None)
