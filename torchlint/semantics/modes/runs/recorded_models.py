"""Models of which it is known that autograd records what they compute: their classes are in sight, and none turns it off."""

from __future__ import annotations

import ast

from torchlint.semantics import Kind, Semantics, Type
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Outside, Target
from torchlint.semantics.summaries.members import members_of
from torchlint.semantics.summaries.shown.quiet import may_quieten

_DEEPEST = 4
"""So many classes deep the parts of modules are looked into."""
_HOLDING = ("Sequential", "ModuleList", "ModuleDict", "DataParallel", "DistributedDataParallel", "Module")
"""Classes of torch that compute what they are given, and nothing else."""
_OTHERS = ("torch.jit.", "torch.ao.", "torch.quantization.", "torch.hub.", "torch.fx.", "torch.export.")


class RecordedModels:
    """Tells of kinds of models whether all that makes them is in sight, and whether anything of that may turn autograd off."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._own: dict[ast.ClassDef, bool] = {}
        self._elsewhere: dict[tuple[str, str], bool] = {}

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
        if isinstance(kind.definition, ast.ClassDef):
            return self._is_quiet(kind.definition)
        return any(self._may_be_quiet(each, _DEEPEST) for each in kind.classes_elsewhere)

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

    def _is_quiet(self, definition: ast.ClassDef) -> bool:
        """Whether a class of the file, or what it is derived from or calls, may be quiet."""
        if definition not in self._own:
            self._own[definition] = False  # while it is looked at
            facts = self._semantics.facts
            calls = [part.func for part in ast.walk(definition) if isinstance(part, ast.Call)]
            parts = {each for each in map(facts.definition, calls) if isinstance(each, ast.ClassDef)}
            self._own[definition] = (
                any(may_quieten(members_of(each)) for each in facts.bases(definition))
                or any(map(self._is_quiet, parts))
                or any(self._may_be_quiet(self._semantics.elsewhere.target(each), _DEEPEST - 1) for each in calls)
            )
        return self._own[definition]

    def _may_be_quiet(self, found: Target | None, depth: int) -> bool:
        if not isinstance(found, (ClassElsewhere, FunctionElsewhere)) or not depth:
            return False
        key = (found.file, found.name)
        if key not in self._elsewhere:
            self._elsewhere[key] = False  # while it is looked at
            lookup = self._semantics.elsewhere.lookup
            every = lookup.bases(found) if isinstance(found, ClassElsewhere) else (found,)
            self._elsewhere[key] = any(
                lookup.body(each).quietens
                or any(self._may_be_quiet(lookup.reference(one, each.file), depth - 1) for one in lookup.body(each).called)
                for each in every
                if isinstance(each, (ClassElsewhere, FunctionElsewhere))
            )
        return self._elsewhere[key]
