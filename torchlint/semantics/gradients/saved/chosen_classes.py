"""Layers of a class that whoever makes their model chooses: ``self.act = act_layer(inplace=True)``."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS


class ChosenClasses:
    """Tells of layers whether their class is an argument that nobody leaves at its default, as far as the file shows."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._known: dict[tuple[ast.ClassDef, str], bool] = {}

    def is_chosen(self, layer: ast.expr) -> bool:
        """Whether a layer is of a class that is a default, which no call of the file that makes such a model leaves."""
        owner = self._semantics.facts.self_class(layer.value) if isinstance(layer, ast.Attribute) else None
        if owner is None or not isinstance(layer, ast.Attribute):
            return False
        key = owner, layer.attr
        if key not in self._known:
            stores = [store for slot in self._semantics.facts.slots(owner, layer.attr) for store in slot.stores]
            self._known[key] = bool(stores) and all(map(self._is_of_chosen, stores))
        return self._known[key]

    def _is_of_chosen(self, store: ast.Attribute) -> bool:
        match self._semantics.tree.parent(store):
            case ast.Assign(value=ast.Call(func=ast.Name() as made)):
                bindings = self._semantics.bindings.reaching(made)
                return len(bindings) == 1 and bindings[0].form is Form.PARAMETER and not self._is_left(bindings[0])
        return False

    def _is_left(self, binding: Binding) -> bool:
        """Whether a call of the file that makes a model leaves a parameter of its constructor at its default."""
        function, parameter = binding.scope.node, binding.node
        if not isinstance(function, FUNCTIONS) or not isinstance(parameter, ast.arg):
            return True
        owner = self._semantics.tree.parent(function)
        facts = self._semantics.facts
        default = facts.default(function, parameter)
        if not isinstance(owner, ast.ClassDef) or default is None:
            return True
        calls = [call for each in facts.derived(owner) for call in facts.calls.get(each.name, ())]
        return any(facts.argument(call, function, parameter) is default for call in calls)
