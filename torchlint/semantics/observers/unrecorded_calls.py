"""Functions that other files of the project call where autograd is off, and nobody else."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS


class UnrecordedCalls:
    """Tells of the functions of one file whether all that calls them has turned autograd off."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._known: dict[ast.AST, bool] = {}

    def are_all_of(self, function: ast.AST | None) -> bool:
        """Whether other files call a function, and only where autograd is off; this one, too, if it does."""
        if function is None or self._semantics.elsewhere.callers is None:
            return False
        if function not in self._known:
            self._known[function] = self._are_all_of(function)
        return self._known[function]

    def _are_all_of(self, function: ast.AST) -> bool:
        callers = self._semantics.elsewhere.callers
        owner = self._semantics.tree.parent(function)
        if callers is None or not isinstance(function, FUNCTIONS) or not isinstance(owner, (ast.Module, ast.ClassDef)):
            return False
        name = f"{owner.name}.{function.name}" if isinstance(owner, ast.ClassDef) else function.name
        sites = self._semantics.facts.call_sites(function)
        return all(map(self._semantics.no_grad.covers, sites)) and callers.are_unrecorded(name) is True
