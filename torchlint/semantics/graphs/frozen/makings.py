"""Classes of networks that freeze themselves, in this file and in others, and which calls make a frozen one."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.summaries.lookup import ClassElsewhere
from torchlint.semantics.summaries.members import members_of
from torchlint.semantics.summaries.shown.freezing import flags_of, freezing_of, is_frozen_by, may_undo
from torchlint.semantics.summaries.summary import SelfFreezing


class FrozenMakings:
    """Tells of calls of classes whether the constructor freezes all parameters; and of classes, whether any call does."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._own: dict[ast.ClassDef, SelfFreezing | None] = {}
        self._always: dict[tuple[str, str], bool] = {}

    def makes_frozen(self, call: ast.Call) -> bool:
        """Whether a call makes an object of a class that freezes it, with what it is given here."""
        freezing = self._freezing(call.func)
        return freezing is not None and is_frozen_by(freezing, flags_of(call))

    def _freezing(self, function: ast.expr) -> SelfFreezing | None:
        definition = self._semantics.facts.definition(function)
        if isinstance(definition, ast.ClassDef):
            return self._of_own(definition)
        found = self._semantics.elsewhere.module_class(function)
        return self._constructed(found) if found is not None else None

    def _of_own(self, definition: ast.ClassDef) -> SelfFreezing | None:
        """How a class of the file freezes itself: by its constructor, or the one that it has of a class of the file."""
        if definition not in self._own:
            bases = self._semantics.facts.bases(definition)
            index = next((index for index, each in enumerate(bases) if _has_constructor(each)), None)
            found = freezing_of(members_of(bases[index])) if index is not None else None
            derived = [member for each in bases[:index] for member in members_of(each)]
            self._own[definition] = found if found is not None and not may_undo(derived, helper=found.helper) else None
        return self._own[definition]

    def _constructed(self, found: ClassElsewhere) -> SelfFreezing | None:
        """How a class of another file freezes itself by its constructor, or that of a base, which nothing below undoes."""
        lookup = self._semantics.elsewhere.lookup
        derived: list[ClassElsewhere] = []
        for base in lookup.bases(found):
            if not isinstance(base, ClassElsewhere):
                return None
            if "__init__" in base.summary.methods:
                freezing = lookup.body(base).freezing
                if freezing is None or any(freezing.helper in each.summary.methods for each in derived):
                    return None
                return None if any(lookup.body(each).thaws for each in derived) else freezing
            derived.append(base)
        return None

    def are_always_frozen(self, found: ClassElsewhere) -> bool:
        """Whether a class, as callers see it, freezes all objects of it that the project makes."""
        key = (found.file, found.name)
        if key not in self._always:
            self._always[key] = self._are_always_frozen(found)
        return self._always[key]

    def _are_always_frozen(self, found: ClassElsewhere) -> bool:
        callers = self._semantics.elsewhere.callers
        if callers is None or "__init__" not in found.summary.methods:
            return False
        freezing = callers.lookup.body(found).freezing
        if freezing is None or not freezing.flag:
            return freezing is not None
        if not found.name[:1].isupper():
            return False  # what calls of it give is not kept
        here = self._semantics.facts.calls.get(found.name, ())
        flags = [flags_of(call) for call in here]
        flags += [making.flags for making in callers.makings(found.name, found.file)]
        return bool(flags) and all(is_frozen_by(freezing, each) for each in flags)


def _has_constructor(definition: ast.ClassDef) -> bool:
    return any(isinstance(each, FUNCTIONS) and each.name == "__init__" for each in definition.body)
