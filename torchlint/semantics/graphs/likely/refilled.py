"""Tensors that are given another size in place, to be filled anew: they have no graph, since what requires grad cannot be."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Semantics

_RESIZES = frozenset({"resize_", "resize_as_"})
"""Methods that raise for what requires grad: ``cannot resize variables that require grad``, torch 2.13."""


class RefilledTensors:
    """Tells of names and attributes whether what they stand for is resized in place: ``self.images.resize_(n)``."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._known: dict[Binding | tuple[ast.ClassDef, str], bool] = {}

    def are(self, node: ast.expr) -> bool:
        """Whether a value is such a buffer for batches: one tensor from the beginning, which only gets other numbers."""
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(map(self._is_resized_binding, bindings))
            case ast.Attribute(value=owner, attr=name):
                cls = self._semantics.facts.self_class(owner)
                return cls is not None and self._is_resized_attribute(cls, name)
        return False

    def _is_resized_binding(self, binding: Binding) -> bool:
        if binding not in self._known:
            self._known[binding] = any(map(self._is_resized, binding.uses))
        return self._known[binding]

    def _is_resized_attribute(self, cls: ast.ClassDef, name: str) -> bool:
        key = cls, name
        if key not in self._known:
            slots = self._semantics.facts.slots(cls, name)
            is_one = sum(len(slot.stores) for slot in slots) <= 1  # what is stored later may be computed
            self._known[key] = is_one and any(self._is_resized(use) for slot in slots for use in slot.uses)
        return self._known[key]

    def _is_resized(self, use: ast.expr) -> bool:
        return self._semantics.tree.called(use, _RESIZES) is not None
