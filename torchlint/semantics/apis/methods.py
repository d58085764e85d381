"""Whose method it is that is called, also where the kind of its owner is not known but the name says enough."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Basis, Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, is_none

_LOADER = re.compile(r"loader|_dl\b", re.IGNORECASE)


class Methods:
    """Tells whose methods a file calls."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._asked = set[ast.arg]()

    def is_of_tensor(self, method: ast.Attribute) -> bool:
        """Whether a method is a tensor's: that of a gradient, or one that only tensors have, where nothing says otherwise."""
        kind = self._semantics.kind(method.value)
        if kind.known:
            return kind.is_tensor
        is_data = isinstance(method.value, ast.Attribute) and method.value.attr in ("data", "grad")
        return is_data or (method.attr.endswith("_") and method.attr in torch_api.TENSOR_ONLY)

    def is_backward(self, function: ast.expr) -> bool:
        """Whether a function is autograd's ``backward`` or ``grad``, or the ``backward`` of what is not known to be no tensor.

        Where a class of the file has a ``backward``, only a tensor's that is known to be one.
        """
        if self._semantics.qualified_name(function) in ("torch.autograd.backward", "torch.autograd.grad"):
            return True
        if not isinstance(function, ast.Attribute) or function.attr != "backward":
            return False
        kind = self._semantics.kind(function.value)
        if "backward" in self._semantics.facts.method_names:
            return kind.is_tensor and kind.basis is not Basis.PROPAGATED
        return kind.is_tensor or not kind.known

    def iterates_over_loader(self, node: ast.expr) -> bool:
        """Whether a value is what `iter` makes of a data loader, or of what nobody knows and is called a loader."""
        match node:
            case (
                ast.Call(func=ast.Name(id="iter"), args=[loader])
                | ast.Call(func=ast.Attribute(value=loader, attr="__iter__"), args=[], keywords=[])
            ):
                kind = self._semantics.kind(loader)
                return kind.type is Type.LOADER or (not kind.known and _LOADER.search(ast.unparse(loader)) is not None)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                if len(bindings) == 1 and bindings[0].form is Form.PARAMETER:
                    return self._is_given_such(bindings[0])
                values = [self._assigned(found) if found.form is Form.ASSIGNMENT else None for found in bindings]
                calls = [value for value in values if isinstance(value, ast.Call)]
                return bool(calls) and len(calls) == len(values) and all(map(self.iterates_over_loader, calls))
            case ast.Attribute(value=owner, attr=name) if (owned := self._semantics.facts.self_class(owner)) is not None:
                slots = self._semantics.facts.slots(owned, name)
                if any(slot.class_values for slot in slots):
                    return False
                given = [self._given(store) for slot in slots for store in slot.stores]
                made = [each for each in given if not is_none(each)]
                return bool(made) and all(isinstance(each, ast.Call) and self.iterates_over_loader(each) for each in made)
        return False

    def _assigned(self, binding: Binding) -> ast.expr | None:
        """What a variable is assigned, by itself or as one of several that are written out side by side."""
        return self._given(binding.node) if binding.path else binding.value

    def _given(self, target: ast.AST) -> ast.expr | None:
        """What an assignment gives one of its targets: ``iter(b)`` to ``right`` in ``left, right = iter(a), iter(b)``."""
        around = self._semantics.tree.parent(target)
        match around:
            case ast.Assign(targets=[_], value=value):
                return value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = self._given(around)
                values = parts.elts if isinstance(parts, (ast.Tuple, ast.List)) else []
                is_plain = len(targets) == len(values) and not any(
                    isinstance(each, ast.Starred) for each in (*targets, *values)
                )
                return next((value for each, value in zip(targets, values) if each is target), None) if is_plain else None
        return None

    def _is_given_such(self, binding: Binding) -> bool:
        """Whether a function of the file is called there, and each call gives a parameter what iterates over a loader."""
        function, parameter = binding.scope.node, binding.node
        if not isinstance(function, FUNCTIONS) or not isinstance(parameter, ast.arg) or parameter in self._asked:
            return False
        self._asked.add(parameter)
        calls = self._semantics.facts.call_sites(function)
        given = [self._semantics.facts.argument(call, function, parameter) for call in calls]
        found = bool(given) and all(each is not None and self.iterates_over_loader(each) for each in given)
        self._asked.discard(parameter)
        return found
