"""What a state is loaded into: whether it is a module, an optimizer or a scheduler whose `load_state_dict` is torch's."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Basis, Semantics, Type
from torchlint.semantics.code.tree import given_to
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.summaries.lookup import ClassElsewhere

_LOADING = "load_state_dict"
_ROLES = (Type.MODULE, Type.OPTIMIZER, Type.SCHEDULER)
_MADE_BY = ("torch.", "torchvision.models.", "timm.", "transformers.")
"""Where what makes a module or an optimizer is from, none of which loads in a way of its own."""
_SETTING = ("setattr", "patch", "object", "__setattr__")


@dataclass(frozen=True, slots=True)
class Owner:
    """Something with a `load_state_dict`; it ``is_sure`` if that is known to be torch's, and else it may be another one's."""

    role: Type
    is_sure: bool


class LoadedOwners:
    """Tells of what in one file states are loaded into."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._classes = semantics.of(ModuleClasses)

    @cached_property
    def has_torchs_loading(self) -> bool:
        """Whether nothing in the file puts another function in the place of the `load_state_dict` of anything."""
        stored = any(_LOADING in facts.slots and facts.slots[_LOADING].stores for facts in self._facts.classes.values())
        if stored or _LOADING in self._facts.stored_attributes:
            return False
        calls = (call for name in _SETTING for call in self._facts.calls.get(name, ()))
        return not any(
            isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.rpartition(".")[2] == _LOADING
            for call in calls
            for each in given_to(call)
        )

    def of(self, receiver: ast.expr) -> Owner | None:
        """What an expression is that loads a state; ``None`` where its `load_state_dict` is another one, or it has none.

        A receiver of which nothing is known may be a module.
        """
        kind = self._semantics.kind(receiver)
        if kind.type is Type.UNKNOWN:
            return Owner(Type.MODULE, is_sure=False) if self._may_be_torchs(receiver) else None
        if kind.type not in _ROLES:
            return None
        if isinstance(kind.definition, ast.ClassDef):
            return self._of_class(kind.definition, kind.type)
        if kind.classes_elsewhere:
            return self._of_classes_elsewhere(kind.classes_elsewhere, kind.type)
        if kind.basis is Basis.MADE and kind.name.startswith(_MADE_BY):
            return Owner(kind.type, is_sure=True)
        return Owner(kind.type, is_sure=kind.basis is Basis.DECLARED) if self._may_be_torchs(receiver) else None

    def _may_be_torchs(self, receiver: ast.expr) -> bool:
        """Whether no class of the file loads in a way of its own, so that something unknown may be one of it."""
        is_super = isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Name) and receiver.func.id == "super"
        return not is_super and _LOADING not in self._facts.method_names

    def _of_class(self, definition: ast.ClassDef, role: Type) -> Owner | None:
        if any(self._facts.method(each, _LOADING) is not None for each in self._facts.derived(definition)):
            return None
        if any(self._gives_another(base) for base in self._facts.bases(definition)):
            return None
        outside = [base for each in self._facts.bases(definition) for base in each.bases if not self._facts.definition(base)]
        elsewhere = self._semantics.elsewhere
        if any(elsewhere.has_method(elsewhere.target(base), _LOADING) for base in outside):
            return None
        if role is not Type.MODULE:
            names = [self._semantics.qualified_name(base) or "" for base in outside]
            return Owner(role, is_sure=True) if all(name.startswith("torch.optim.") for name in names) else None
        is_sure = self._classes.is_sure(definition) and self._classes.has_known_bases(definition)
        return Owner(role, is_sure=is_sure) if is_sure or _LOADING not in self._facts.method_names else None

    def _gives_another(self, definition: ast.ClassDef) -> bool:
        """Whether the body of a class assigns something to the name."""
        slot = self._facts.classes[definition].slots.get(_LOADING)
        return slot is not None and bool(slot.class_values)

    def _of_classes_elsewhere(self, classes: tuple[ClassElsewhere, ...], role: Type) -> Owner | None:
        elsewhere = self._semantics.elsewhere
        if any(elsewhere.has_method(each, _LOADING) for each in classes):
            return None
        bases = [base for each in classes for base in elsewhere.lookup.bases(each)]
        is_known = all(base is not None for base in bases) and all(map(elsewhere.lookup.is_module, classes))
        return Owner(role, is_sure=role is Type.MODULE and is_known)
