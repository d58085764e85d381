"""Functions that are called where autograd is off, perhaps by their callers' callers in other files, and nowhere else."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS

_DEEPEST = 8
"""So many callers of callers are asked, one behind the other."""


class UnrecordedCalls:
    """Tells of the functions of one file whether all that calls them has turned autograd off."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._known: dict[ast.AST, bool] = {}
        self._depth = 0

    def are_all_of(self, function: ast.AST | None) -> bool:
        """Whether a function is called, and only where autograd is off: it itself, or the function around each call."""
        if function is None or self._semantics.elsewhere.callers is None:
            return False
        if function not in self._known:
            self._known[function] = False  # who calls itself by way of others is not known to be called
            self._depth += 1
            self._known[function] = self._depth <= _DEEPEST and self._are_all_of(function)
            self._depth -= 1
        return self._known[function]

    def _are_all_of(self, function: ast.AST) -> bool:
        callers, tree = self._semantics.elsewhere.callers, self._semantics.tree
        owner = tree.parent(function)
        if callers is None or not isinstance(function, FUNCTIONS) or not isinstance(owner, (ast.Module, ast.ClassDef)):
            return False
        name = f"{owner.name}.{function.name}" if isinstance(owner, ast.ClassDef) else function.name
        sites = self._semantics.facts.call_sites(function)
        recorded = [site for site in sites if not self._semantics.no_grad.covers(site)]
        if not all(tree.function(site) is not function and self.are_all_of(tree.function(site)) for site in recorded):
            return False
        elsewhere = callers.are_unrecorded(name)
        if (
            elsewhere is None
            and isinstance(owner, ast.Module)
            and len(sites) != self._semantics.facts.read_names[function.name]
        ):
            return False  # it is handed on as well
        return elsewhere is True or (elsewhere is None and bool(recorded))
