"""Models that ask autograd for gradients when they are run: of an energy, a potential, a distance by the place."""

from __future__ import annotations

import ast

from torchlint.semantics import Kind, Semantics, Type
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Lookup, Target

_DEEPEST = 4
"""So many classes deep the parts of modules are looked into."""
_HOLDING = ("Sequential", "ModuleList", "ModuleDict", "DataParallel", "DistributedDataParallel", "Module")


class DifferentiatingModels:
    """Tells of calls of models whether these may differentiate in their ``forward``, with autograd as they find it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def may_be(self, function: ast.expr) -> bool:
        """Whether what is called is a model whose class does so, or may be of any class, and one of the project does; or it may
        be of one that turns autograd off itself where it evaluates.
        """
        kind = self._semantics.kind(function)
        if self.are(kind):
            return True
        is_known = kind.type is Type.MODULE and (
            kind.definition is not None
            or kind.classes_elsewhere
            or (kind.name.startswith("torch") and not kind.name.endswith(_HOLDING))
        )
        speaks_of = self._semantics.elsewhere.speaks_of
        return not is_known and (
            speaks_of("modules that differentiate") is True or speaks_of("modules that record training alone") is True
        )

    def are(self, kind: Kind) -> bool:
        """Whether a module of the project is of a class that differentiates, or has parts of one."""
        elsewhere = self._semantics.elsewhere
        return any(_differentiates(each, elsewhere.lookup, _DEEPEST) for each in kind.classes_elsewhere)


def _differentiates(found: Target | None, lookup: Lookup, depth: int) -> bool:
    if isinstance(found, FunctionElsewhere):
        return found.summary.differentiates
    if not isinstance(found, ClassElsewhere) or not depth:
        return False
    for base in lookup.bases(found):
        if isinstance(base, ClassElsewhere):
            body = lookup.body(base)
            if body.differentiates or any(
                _differentiates(lookup.reference(each, base.file), lookup, depth - 1) for each in body.called
            ):
                return True
    return False
