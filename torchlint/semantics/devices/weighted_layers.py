"""Layers of a module that surely have weights: those of torch, and sequences that such a layer is put into."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics import Form, Semantics, torch_api

_SEQUENCE = "torch.nn.Sequential"


class WeightedLayers:
    """Tells of the attributes of a module whether what they hold has weights."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._sequences: dict[tuple[ast.ClassDef, str], bool] = {}

    def is_weighted(self, layer: ast.expr) -> bool:
        """Whether ``self.layer`` has weights."""
        if not isinstance(layer, ast.Attribute) or (owner := self._semantics.facts.self_class(layer.value)) is None:
            return False
        name = self._semantics.kind(layer).name
        if name != _SEQUENCE:
            return bool(torch_api.PARAMETER_ATTRIBUTES.get(name))
        key = (owner, layer.attr)
        if key not in self._sequences:
            stores = [store for slot in self._semantics.facts.slots(owner, layer.attr) for store in slot.stores]
            made = [self._semantics.tree.parent(store) for store in stores]
            self._sequences[key] = bool(made) and all(
                isinstance(each, ast.Assign) and any(map(self._has_weights, self._put_into(each.value))) for each in made
            )
        return self._sequences[key]

    def _put_into(self, sequence: ast.expr) -> Iterator[ast.expr]:
        """The layers that a sequence is made of: those that are written out, and what its list is given."""
        if not isinstance(sequence, ast.Call) or self._semantics.qualified_name(sequence.func) != _SEQUENCE:
            return
        for given in sequence.args:
            if not isinstance(given, ast.Starred):
                yield given
            elif isinstance(given.value, (ast.List, ast.Tuple)):
                yield from given.value.elts
            elif isinstance(given.value, ast.Name):
                yield from self._listed(given.value)

    def _listed(self, name: ast.Name) -> Iterator[ast.expr]:
        """What the list that a name stands for begins with, and what is appended to it in any case or in a loop."""
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path:
            return
        if isinstance(bindings[0].value, (ast.List, ast.Tuple)):
            yield from bindings[0].value.elts
        for use in bindings[0].uses:
            method = self._semantics.tree.parent(use)
            call = self._semantics.tree.parent(method) if isinstance(method, ast.Attribute) else None
            match call:
                case ast.Call(func=ast.Attribute(attr="append"), args=[layer]) if call.func is method:
                    if not self._is_left_to_condition(call):
                        yield layer

    def _is_left_to_condition(self, call: ast.Call) -> bool:
        return any(isinstance(each, (ast.If, ast.Try, ast.Match)) for each in self._semantics.tree.ancestors(call))

    def _has_weights(self, layer: ast.expr) -> bool:
        if not isinstance(layer, ast.Call):
            return False
        return bool(torch_api.PARAMETER_ATTRIBUTES.get(self._semantics.qualified_name(layer.func) or ""))
