"""Whether a model's ``train()`` and ``eval()`` are about its mode: a class may have methods of these names that train it."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.summaries.lookup import ClassElsewhere
from torchlint.semantics.summaries.shown.running_methods import MODE_METHODS, sets_mode


class OwnModes:
    """Tells of the models of one file what ``train()`` and ``eval()`` of their classes do."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are_set(self, model: ast.expr) -> bool:
        """Whether ``model.train()`` and ``model.eval()`` set its mode, as far as is known: torch's ``eval`` calls ``train``."""
        kind, facts = self._semantics.kind(model), self._semantics.facts
        owner = kind.definition if isinstance(kind.definition, ast.ClassDef) else facts.self_class(model)
        if owner is not None:
            return all(self._sets(owner, name) for name in MODE_METHODS)
        return all(self._sets_elsewhere(each, name) for each in kind.classes_elsewhere for name in MODE_METHODS)

    def may_have_own(self, model: ast.expr, name: str) -> bool:
        """Whether a class of another file that the model is of, or that its class derives from, has such a method itself."""
        facts, elsewhere = self._semantics.facts, self._semantics.elsewhere
        kind = self._semantics.kind(model)
        found = list(kind.classes_elsewhere)
        owner = kind.definition if isinstance(kind.definition, ast.ClassDef) else facts.self_class(model)
        if owner is not None:
            bases = (elsewhere.module_class(base) for each in facts.bases(owner) for base in each.bases)
            found += [base for base in bases if base is not None]
        return any(elsewhere.has_method(each, name) for each in found)

    def _sets(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether the method that a class of the file has, or one above it has, is about the mode."""
        facts = self._semantics.facts
        if (own := facts.method(owner, name)) is not None:
            return sets_mode(own)
        if not facts.is_module(owner) and not any(
            facts.definition(base) is None for each in facts.bases(owner) for base in each.bases
        ):
            return False  # it has none
        bases = (self._semantics.elsewhere.module_class(base) for each in facts.bases(owner) for base in each.bases)
        return all(self._sets_elsewhere(base, name) for base in bases if base is not None)

    def _sets_elsewhere(self, found: ClassElsewhere, name: str) -> bool:
        """Whether the method that a class of another file has is about the mode."""
        lookup = self._semantics.elsewhere.lookup
        for base in lookup.bases(found):
            if isinstance(base, ClassElsewhere) and name in base.summary.methods:
                return name not in lookup.body(base).own_modes
        return True
