"""Values that the file back-propagates as they are, or adds up to what it does: they have no dimensions.

A backward pass without an argument starts at one number. What is added up to that is one number, too, where it is what a loss
may give: what is called with two or more arguments.
"""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.kinds.results import LOSS_MODULES

_Slot = tuple[ast.ClassDef, str]
_FLAGS = frozenset({"retain_graph", "create_graph", "retain_variables"})
"""Arguments of a backward pass that are no gradient to start with."""


class Propagated:
    """Tells of names, and attributes of ``self``, whether what they stand for is a term of what is back-propagated."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are(self, value: ast.expr) -> bool:
        """Whether a value is a loss by what the file does with it, whatever it is called."""
        if isinstance(value, ast.Name):
            bindings = self._semantics.bindings.reaching(value)
            return bool(bindings) and all(map(self._is_loss, bindings))
        slot = self._slot(value)
        return slot is not None and slot in self._terms and (slot in self._roots or self._is_given_losses(slot))

    @cached_property
    def _started(self) -> list[ast.expr]:
        """What the backward passes of the file start at."""
        return [
            call.func.value
            for call in self._semantics.facts.calls.get("backward", ())
            if isinstance(call.func, ast.Attribute) and not call.args and {word.arg for word in call.keywords} <= _FLAGS
        ]

    @cached_property
    def _roots(self) -> set[Binding | _Slot]:
        """What backward passes start at by its name, unless it is known to be what a layer gives."""
        found: set[Binding | _Slot] = set()
        for node in self._started:
            if isinstance(node, ast.Name):
                found.update(each for each in self._semantics.bindings.reaching(node) if self._may_be_loss(each.value))
            elif (slot := self._slot(node)) is not None and all(map(self._may_be_loss, self._stored(slot))):
                found.add(slot)
        return found

    @cached_property
    def _terms(self) -> set[Binding | _Slot]:
        """What the backward passes start at, and the terms that the file adds up for it."""
        pending = list(self._started)
        found: set[Binding | _Slot] = set()
        while pending:
            node = pending.pop()
            match node:
                case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
                    pending += [left, right]
                case ast.BinOp(op=ast.Mult() | ast.Div(), left=left, right=right):
                    pending += [one for one, other in ((left, right), (right, left)) if self.is_weight(other)]
                case ast.UnaryOp(operand=operand):
                    pending.append(operand)
                case ast.Name():
                    pending += self._added(self._semantics.bindings.reaching(node), found)
                case ast.Attribute() if (slot := self._slot(node)) is not None and slot not in found:
                    found.add(slot)
                    pending += self._stored(slot)
        return found

    def _added(self, bindings: tuple[Binding, ...], found: set[Binding | _Slot]) -> list[ast.expr]:
        """The values that names stand for, and what was added to them before."""
        values: list[ast.expr] = []
        pending = list(bindings)
        while pending:
            binding = pending.pop()
            if binding in found:
                continue
            found.add(binding)
            if binding.form in (Form.ASSIGNMENT, Form.AUGMENTED) and binding.value is not None and not binding.path:
                values.append(binding.value)
            pending += binding.before if binding.form is Form.AUGMENTED else ()
        return values

    def is_weight(self, node: ast.expr) -> bool:
        """Whether something that a loss is multiplied by is a number: written out, computed, or a setting."""
        if self._semantics.kind(node).type is Type.NUMBER or isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            bindings = self._semantics.bindings.reaching(node)
            values = [each for binding in bindings for each in (binding, *binding.before)]
            return any(isinstance(each.value, ast.Constant) for each in values)
        if not isinstance(node, ast.Attribute) or self._semantics.kind(node).type is not Type.UNKNOWN:
            return False
        slot = self._slot(node)
        return slot is None or all(isinstance(each, (ast.Name, ast.Attribute, ast.Constant)) for each in self._stored(slot))

    def _is_loss(self, binding: Binding) -> bool:
        """Whether a name is bound to what a backward pass starts at, or to what a loss gives and is added to that."""
        if binding in self._roots:
            return True
        return binding in self._terms and binding.value is not None and not binding.path and self._gives_loss(binding.value)

    def _may_be_loss(self, value: ast.expr | None) -> bool:
        """Whether a value is not known to be what a layer with parameters gives, or to have dimensions."""
        if value is None:
            return True
        kind = self._semantics.kind(value.func) if isinstance(value, ast.Call) else None
        if kind is not None and kind.type is Type.MODULE and kind.name not in LOSS_MODULES:
            return False
        return self._semantics.kind(value).scalar is not False

    def _is_given_losses(self, slot: _Slot) -> bool:
        values = self._stored(slot)
        return bool(values) and all(map(self._gives_loss, values))

    def _gives_loss(self, value: ast.expr) -> bool:
        """Whether something is called with two or more arguments, and is no layer that has parameters, as far as is known."""
        if not isinstance(value, ast.Call) or len(value.args) < 2:
            return False
        kind = self._semantics.kind(value.func)
        if kind.type is Type.MODULE and kind.name:
            return kind.name in LOSS_MODULES
        given = self._semantics.kind(value)
        return given.type in (Type.UNKNOWN, Type.TENSOR) and given.scalar is not False

    def _stored(self, slot: _Slot) -> list[ast.expr]:
        owner, name = slot
        stores = [store for each in self._semantics.facts.slots(owner, name) for store in each.stores]
        values = [getattr(self._semantics.tree.parent(store), "value", None) for store in stores]
        return [value for value in values if isinstance(value, ast.expr)]

    def _slot(self, node: ast.expr) -> _Slot | None:
        """The attribute of ``self`` that a value is."""
        owner = self._semantics.facts.self_class(node.value) if isinstance(node, ast.Attribute) else None
        return (owner, node.attr) if owner is not None and isinstance(node, ast.Attribute) else None
