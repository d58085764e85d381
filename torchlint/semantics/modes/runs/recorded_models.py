"""Models of which it is known that autograd records what they compute: their classes are in sight, and none turns it off."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Literal, TypeAlias

from torchlint.semantics import Kind, Semantics, Type
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Outside, Target
from torchlint.semantics.summaries.members import Member, members_of
from torchlint.semantics.summaries.shown.holding import may_keep
from torchlint.semantics.summaries.shown.quiet import may_quieten, may_wait
from torchlint.semantics.summaries.summary import ClassBody

_DEEPEST = 4
"""So many classes deep the parts of modules are looked into."""
_HOLDING = ("Sequential", "ModuleList", "ModuleDict", "DataParallel", "DistributedDataParallel", "Module")
"""Classes of torch that compute what they are given, and nothing else."""
_Trait: TypeAlias = Literal["quietens", "waits", "keeps"]
_TRAITS: dict[_Trait, Callable[[list[Member]], bool]] = {"quietens": may_quieten, "waits": may_wait, "keeps": may_keep}
"""What is asked of the classes: whether they may turn autograd off, wait for the GPU, or keep what they compute."""


class RecordedModels:
    """Tells of kinds of models whether all that makes them is in sight, and whether anything of that may turn autograd off."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._own: dict[tuple[ast.ClassDef, _Trait], bool] = {}
        self._elsewhere: dict[tuple[str, str, _Trait], bool] = {}

    def are_known(self, kind: Kind) -> bool:
        """Whether the class of a model, or all those that it may be of, are in sight, and what they run."""
        if kind.type is not Type.MODULE:
            return False
        if isinstance(kind.definition, ast.ClassDef):
            return self._has_forward(kind.definition)
        if kind.classes_elsewhere:
            return all(map(self._shows_forward, kind.classes_elsewhere))
        return kind.name.startswith(("torch.nn.", "torchvision.models.")) and not kind.name.endswith(_HOLDING)

    def may_be_quiet(self, kind: Kind) -> bool:
        """Whether a class that is in sight, or one of its parts, may turn autograd off, or freeze weights."""
        return self._has(kind, "quietens")

    def may_wait(self, kind: Kind) -> bool:
        """Whether a class that is in sight, or one of its parts, may wait for the GPU."""
        return self._has(kind, "waits")

    def may_keep(self, kind: Kind) -> bool:
        """Whether a class that is in sight, or one of its parts, may keep something that has a graph: ``self.loss = …``."""
        return self._has(kind, "keeps")

    def _has(self, kind: Kind, trait: _Trait) -> bool:
        if isinstance(kind.definition, ast.ClassDef):
            return self._is_so(kind.definition, trait)
        return any(self._may_be_so(each, trait, _DEEPEST) for each in kind.classes_elsewhere)

    def _has_forward(self, definition: ast.ClassDef) -> bool:
        """Whether a class of the file has a ``forward`` of its own, or of a class of the file, or one of torch."""
        bases = self._semantics.facts.bases(definition)
        if any("forward" in self._semantics.facts.classes[each].methods for each in bases):
            return True
        target = self._target(definition)
        return isinstance(target, ClassElsewhere) and self._shows_forward(target)

    def _shows_forward(self, found: ClassElsewhere) -> bool:
        for base in self._semantics.elsewhere.lookup.bases(found):
            if isinstance(base, ClassElsewhere) and "forward" in base.summary.methods:
                return True
            if isinstance(base, Outside) and base.name.startswith("torch.nn.") and not base.name.endswith(".Module"):
                return True
        return False

    def _target(self, definition: ast.ClassDef) -> Target | None:
        elsewhere = self._semantics.elsewhere
        return elsewhere.lookup.reference(definition.name, elsewhere.file) if elsewhere.is_in_project else None

    def _is_so(self, definition: ast.ClassDef, trait: _Trait) -> bool:
        """Whether a class of the file, or what it is derived from or calls, has a trait."""
        key = (definition, trait)
        if key not in self._own:
            self._own[key] = False  # while it is looked at
            facts = self._semantics.facts
            calls = [part.func for part in ast.walk(definition) if isinstance(part, ast.Call)]
            parts = {each for each in map(facts.definition, calls) if isinstance(each, ast.ClassDef)}
            self._own[key] = (
                any(_TRAITS[trait](members_of(each)) for each in facts.bases(definition))
                or any(self._is_so(each, trait) for each in parts)
                or any(self._may_be_so(self._semantics.elsewhere.target(each), trait, _DEEPEST - 1) for each in calls)
            )
        return self._own[key]

    def _may_be_so(self, found: Target | None, trait: _Trait, depth: int) -> bool:
        if not isinstance(found, (ClassElsewhere, FunctionElsewhere)) or not depth:
            return False
        key = (found.file, found.name, trait)
        if key not in self._elsewhere:
            self._elsewhere[key] = False  # while it is looked at
            lookup = self._semantics.elsewhere.lookup
            every = lookup.bases(found) if isinstance(found, ClassElsewhere) else (found,)
            bodies = [(each, lookup.body(each)) for each in every if isinstance(each, (ClassElsewhere, FunctionElsewhere))]
            self._elsewhere[key] = any(
                _is_said(each, body, trait)
                or any(self._may_be_so(lookup.reference(one, each.file), trait, depth - 1) for one in body.called)
                for each, body in bodies
            )
        return self._elsewhere[key]


def _is_said(found: ClassElsewhere | FunctionElsewhere, body: ClassBody, trait: _Trait) -> bool:
    """Whether what a class or function of another file says has a trait; a function says nothing of what it keeps."""
    match trait:
        case "quietens":
            return body.quietens
        case "waits":
            return body.waits
    return isinstance(found, ClassElsewhere) and not body.forgets
