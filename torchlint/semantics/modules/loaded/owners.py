"""What a state is loaded into: whether it is a module, an optimizer or a scheduler whose `load_state_dict` is torch's."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from torchlint.semantics import Basis, Semantics, Type
from torchlint.semantics.code.tree import given_to, last_name
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.modules.loaded.origins import Origin, Origins
from torchlint.semantics.summaries.lookup import ClassElsewhere, Outside

_LOADING = "load_state_dict"
_ROLES = (Type.MODULE, Type.OPTIMIZER, Type.SCHEDULER)
_MADE_BY = ("torch.", "torchvision.models.", "timm.", "transformers.")
"""Where what makes a module or an optimizer is from, none of which loads in a way of its own."""
_MAKING = ("timm.create_model", "torch.hub.load", "torch.jit.load", "torch.jit.script", "torch.compile", "torchvision.models.")
"""Functions that give modules, whatever is known of these."""
_ASKING = ("hasattr", "getattr", "callable")
_OF_OPTIMIZERS = ("torch.optim.", "torch.optim.lr_scheduler.")


class Doubt(Enum):
    """What the project has to be asked about the owner of a `load_state_dict`."""

    NONE = "nothing: it is made in sight, of a class that is in sight"
    DECLARED = "whether a class that derives from the one it is of loads in another way"
    GIVEN = "whether any class loads in another way: it is given by callers"
    OPEN = "the same, and more than that could answer: nobody knows where it is from"


@dataclass(frozen=True, slots=True)
class Owner:
    """Something with a `load_state_dict`; it ``is_sure`` if that is known to be torch's, and else it may be another one's."""

    role: Type
    doubt: Doubt

    @property
    def is_sure(self) -> bool:
        """Whether it is a module, an optimizer or a scheduler by what makes or declares it."""
        return self.doubt in (Doubt.NONE, Doubt.DECLARED)


class LoadedOwners:
    """Tells of what in one file states are loaded into."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._classes = semantics.of(ModuleClasses)
        self._origins = semantics.of(Origins)

    @cached_property
    def has_torchs_loading(self) -> bool:
        """Whether nothing in the file puts another function in the place of the `load_state_dict` of anything."""
        stored = any(_LOADING in facts.slots and facts.slots[_LOADING].stores for facts in self._facts.classes.values())
        if stored or _LOADING in self._facts.stored_attributes or self._is_mocked:
            return False
        tree = self._semantics.tree
        if any(each.arg == _LOADING for each in tree.of_type(ast.keyword)):
            return False
        return not any(
            isinstance(each.value, str) and each.value.rpartition(".")[2] == _LOADING and self._is_put(tree.parent(each))
            for each in tree.of_type(ast.Constant)
        )

    @property
    def _is_mocked(self) -> bool:
        """Whether the file says what a `load_state_dict` is to give: ``net.load_state_dict.return_value = net``."""
        return any(
            isinstance(each.value, ast.Attribute) and each.value.attr == _LOADING and not isinstance(each.ctx, ast.Load)
            for each in self._semantics.tree.of_type(ast.Attribute)
        )

    @staticmethod
    def _is_put(around: ast.AST | None) -> bool:
        """Whether the name of the method stands where something may be given that name, and is not only asked for."""
        if isinstance(around, ast.Call):
            return last_name(around.func) not in _ASKING
        return isinstance(around, (ast.Dict, ast.Subscript, ast.Tuple))

    def of(self, call: ast.Call) -> Owner | None:
        """What loads a state by a method; ``None`` where its `load_state_dict` is another one, or it has none.

        A receiver of which nothing is known may be a module.
        """
        assert isinstance(call.func, ast.Attribute)
        receiver = call.func.value
        making = self._origins.making(receiver)
        kind = self._semantics.kind(receiver if making is None else making)
        if kind.type not in _ROLES:
            kind = self._semantics.kind(receiver)
        if kind.type is Type.UNKNOWN:
            return self._of_unknown(receiver, call, Type.MODULE)
        if kind.type not in _ROLES:
            return None
        origins = self._origins.of(receiver)
        doubt = Doubt.DECLARED if Origin.GIVEN in origins else Doubt.NONE
        if isinstance(kind.definition, ast.ClassDef):
            return self._of_class(kind.definition, kind.type, doubt)
        if kind.classes_elsewhere:
            return self._of_classes_elsewhere(kind.classes_elsewhere, kind.type, doubt)
        if origins == {Origin.TORCH} or (kind.basis is Basis.MADE and kind.name.startswith(_MADE_BY)):
            return Owner(kind.type, doubt)
        if kind.basis is Basis.DECLARED and not self._is_super(receiver) and _LOADING not in self._facts.method_names:
            return Owner(kind.type, Doubt.DECLARED)
        return self._of_unknown(receiver, call, kind.type)

    def is_strict(self, owner: Owner) -> bool | None:
        """Whether it is only likely that an owner loads as torch does, by what the project has; ``None`` if it may well not."""
        elsewhere = self._semantics.elsewhere
        if elsewhere.speaks_of("patched loading") is True:
            return None
        if owner.doubt is Doubt.NONE:
            return False
        has_own = elsewhere.speaks_of("own loading")
        if has_own is True:
            return None
        if owner.doubt is Doubt.DECLARED:
            return has_own is None and elsewhere.is_in_project
        return has_own is None or owner.doubt is Doubt.OPEN

    # --- what is known of nothing but the use ------------------------------------------------------------------------

    def _of_unknown(self, receiver: ast.expr, call: ast.Call, role: Type) -> Owner | None:
        if self._is_super(receiver) or _LOADING in self._facts.method_names or not self._is_given_a_state(call):
            return None
        making = self._origins.making(receiver)
        if making is not None:
            known = self._of_making(making)
            if known is not None:
                return known
        origins = self._origins.of(receiver)
        if Origin.FOREIGN in origins:
            return None
        return Owner(role, Doubt.GIVEN if origins == {Origin.GIVEN} else Doubt.OPEN)

    def _of_making(self, making: ast.Call) -> Owner | None:
        """What the call of a function or class gives of which only the name is known; ``None`` if that says nothing."""
        name = self._semantics.qualified_name(making.func) or ""
        if name.startswith(_MAKING):
            return Owner(Type.MODULE, Doubt.NONE)
        found = self._semantics.elsewhere.target(making.func)
        if not isinstance(found, ClassElsewhere) or self._semantics.elsewhere.has_method(found, _LOADING):
            return None
        bases = list(self._semantics.elsewhere.lookup.bases(found))
        outside = [base.name for base in bases if isinstance(base, Outside) and base.name != "builtins.object"]
        if None in bases or not outside or not all(each.startswith(_OF_OPTIMIZERS) for each in outside):
            return None
        is_scheduler = any(each.startswith("torch.optim.lr_scheduler.") for each in outside)
        return Owner(Type.SCHEDULER if is_scheduler else Type.OPTIMIZER, Doubt.NONE)

    def _is_given_a_state(self, call: ast.Call) -> bool:
        """Whether a call is given what a module or an optimizer loads, and not what something else is to load into."""
        given = given_to(call)
        if not given or isinstance(given[0], ast.Constant):
            return False
        if len(call.args) > 1 and not (isinstance(call.args[1], ast.Constant) or "strict" in last_name(call.args[1])):
            return False
        return not any(self._semantics.kind(each).type in _ROLES for each in given[:2])

    @staticmethod
    def _is_super(receiver: ast.expr) -> bool:
        return isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Name) and receiver.func.id == "super"

    # --- classes -----------------------------------------------------------------------------------------------------

    def _of_class(self, definition: ast.ClassDef, role: Type, doubt: Doubt) -> Owner | None:
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
            return Owner(role, doubt) if all(name.startswith("torch.optim.") for name in names) else None
        if self._classes.is_sure(definition) and self._classes.has_known_bases(definition):
            return Owner(role, doubt)
        return Owner(role, Doubt.OPEN) if _LOADING not in self._facts.method_names else None

    def _gives_another(self, definition: ast.ClassDef) -> bool:
        """Whether the body of a class assigns something to the name."""
        slot = self._facts.classes[definition].slots.get(_LOADING)
        return slot is not None and bool(slot.class_values)

    def _of_classes_elsewhere(self, classes: tuple[ClassElsewhere, ...], role: Type, doubt: Doubt) -> Owner | None:
        elsewhere = self._semantics.elsewhere
        if any(elsewhere.has_method(each, _LOADING) for each in classes):
            return None
        bases = [base for each in classes for base in elsewhere.lookup.bases(each)]
        if role is Type.MODULE and None not in bases and all(map(elsewhere.lookup.is_module, classes)):
            return Owner(role, doubt)
        is_of_torch = all(
            not isinstance(base, Outside) or base.name.startswith(("torch.optim.", "builtins.")) for base in bases
        )
        return Owner(role, doubt if role is not Type.MODULE and None not in bases and is_of_torch else Doubt.OPEN)
