"""Weights that are not there: of layers of torch that have none, and of attributes whose name is misspelt."""

from __future__ import annotations

import ast
from difflib import get_close_matches

from torchlint.semantics import Semantics, Type, torch_api

_WEIGHTS = frozenset({"weight", "bias"})
_OPEN = frozenset({"Module", "Container", "RNNCellBase", "ModuleDict", "ParameterDict", "ParameterList"})
"""Classes of torch's whose objects may be of another class, or have their items for attributes."""
_SETTING = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__dict__"})
_NAMING = frozenset({"setattr", "add_module", "register_module", "register_parameter", "register_buffer"})
_ALIKE = 0.8
"""So alike are a misspelt name and the one that is meant."""


class AbsentAttributes:
    """Tells of the weights that code names whether to read them can only raise."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_absent(self, weight: ast.expr) -> bool:
        """Whether a layer has no such weight, or the object no such layer, but one of nearly the same name."""
        match weight:
            case ast.Attribute(value=layer, attr=name) if name in _WEIGHTS:
                return self._lacks(layer, name) or self._is_misspelt(layer)
        return False

    def _lacks(self, layer: ast.expr, name: str) -> bool:
        """Whether a layer is one of torch's that has no ``name``: a sequence, an activation."""
        kind = self._semantics.kind(layer)
        last = kind.name.rpartition(".")[2]
        if kind.type is not Type.MODULE or kind.loose or kind.name not in torch_api.MODULES or last in _OPEN:
            return False
        known = (torch_api.PARAMETER_ATTRIBUTES, torch_api.BUFFERS, torch_api.SUBMODULES)
        is_bare = last in ("Sequential", "ModuleList") or not any(table.get(kind.name) for table in known)
        return is_bare and "Loss" not in last and "Parallel" not in last and name not in self._semantics.facts.stored_attributes

    def _is_misspelt(self, layer: ast.expr) -> bool:
        """Whether a method reads an attribute of ``self`` that nothing of the file stores, unlike one called nearly so."""
        facts = self._semantics.facts
        if not isinstance(layer, ast.Attribute) or (owner := facts.self_class(layer.value)) is None:
            return False
        if layer.attr in facts.stored_attributes or layer.attr in torch_api.MODULE_ATTRIBUTES or self._names_others(owner):
            return False
        slots = {name for base in facts.bases(owner) for name, slot in facts.classes[base].slots.items() if slot.stores}
        return layer.attr not in slots and bool(get_close_matches(layer.attr, slots, n=1, cutoff=_ALIKE))

    def _names_others(self, owner: ast.ClassDef) -> bool:
        """Whether objects of a class may have attributes that it does not show."""
        facts = self._semantics.facts
        bases = facts.bases(owner)
        outside = [base for each in bases for base in each.bases if facts.definition(base) is None]
        if any(self._semantics.qualified_name(base) != "torch.nn.Module" for base in outside):
            return True
        if any(_SETTING & facts.classes[each].methods.keys() for each in bases):
            return True
        named = [call for name in _NAMING for call in facts.calls.get(name, ())]
        return any(self._semantics.tree.enclosing_class(call) in bases for call in named) or self._semantics.words.speak_of(
            "__dict__"
        )
