"""Functions that are called where autograd is off, perhaps by their callers' callers in other files, and nowhere else."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.summaries.lookup import ClassElsewhere, Outside

_PLAIN = (Outside("builtins.object"), Outside("abc.ABC"), Outside("torch.nn.Module"))
"""Bases that are of no project, and call no method by a name but those of modules."""
_OF_MODULES = frozenset({"forward", "train", "eval", "main"})
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
            self._known[function] = self._depth <= _DEEPEST and (self._are_all_of(function) or self._are_by_name(function))
            self._depth -= 1
        return self._known[function]

    def are_all_of_evaluation(self, node: ast.AST) -> bool:
        """Whether the function around a node back-propagates nothing, and is only called where autograd is off."""
        function = self._semantics.tree.function(node)
        return function not in self._propagating and self.are_all_of(function)

    @cached_property
    def _propagating(self) -> set[ast.AST | None]:
        """The functions that back-propagate something; the top level is none."""
        calls, tree = self._semantics.facts.calls, self._semantics.tree
        return {tree.function(call) for name in ("backward", "manual_backward") for call in calls.get(name, ())}

    def _are_all_of(self, function: ast.AST) -> bool:
        callers, tree = self._semantics.elsewhere.callers, self._semantics.tree
        owner = tree.parent(function)
        if callers is None or not isinstance(function, FUNCTIONS) or not isinstance(owner, (ast.Module, ast.ClassDef)):
            return False
        name = self._semantics.facts.full_name(function)
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

    def _are_by_name(self, function: ast.AST) -> bool:
        """Whether all that the project calls by a method's name is called where autograd is off, whoever has that method.

        So it is with a step that a base class calls for those who derive from it.
        """
        owner, elsewhere = self._semantics.tree.parent(function), self._semantics.elsewhere
        if not isinstance(function, FUNCTIONS) or not isinstance(owner, ast.ClassDef) or function.decorator_list:
            return False
        if function.name in _OF_MODULES or function.name.startswith("__") or not self._is_of_project(owner):
            return False
        if elsewhere.speaks_of(f"recorded calls: {function.name}") is not False:
            return False
        return elsewhere.speaks_of(f"unrecorded calls: {function.name}") is True

    def _is_of_project(self, owner: ast.ClassDef) -> bool:
        """Whether a class is one of the project, or of modules of torch, so that no other code calls its methods."""
        callers = self._semantics.elsewhere.callers
        target = callers.lookup.reference(owner.name, self._semantics.elsewhere.file) if callers is not None else None
        if callers is None or not isinstance(target, ClassElsewhere):
            return False
        return all(isinstance(base, ClassElsewhere) or base in _PLAIN for base in callers.lookup.bases(target))
