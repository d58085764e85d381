"""Modules that a class keeps in an attribute as the best so far, while the training that goes on changes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Loop, in_body
from torchlint.semantics.memory.places import Place, Places
from torchlint.semantics.training.updates import Updates

_CALLERS = 3
"""So many calls far the loop is looked for that trains what is kept."""


@dataclass(frozen=True, eq=False, slots=True)
class BestModule:
    """A module, ``value`` at ``place``, that is kept as ``name`` although ``update`` goes on changing it."""

    value: ast.expr
    place: Place
    name: str
    update: ast.AST


class BestModules:
    """Finds them in one file: ``if loss < self.least: self.best_model = model``, which another method reads."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @property
    def found(self) -> Iterator[BestModule]:
        """The modules that are kept so."""
        for assignment in self._tree.of_type(ast.Assign):
            match assignment.targets, assignment.value:
                case [ast.Attribute() as target], (ast.Name() | ast.Attribute()) as value if "best" in target.attr.lower():
                    best = self._kept(target, value)
                    if best is not None:
                        yield best

    def _kept(self, target: ast.Attribute, value: ast.expr) -> BestModule | None:
        function, owner = self._tree.function(target), self._semantics.facts.self_class(target.value)
        if owner is None or not isinstance(function, FUNCTIONS) or not self._is_compared(target):
            return None
        place = self._semantics.of(Places).place(value)
        if place is None or self._semantics.kind(value).type is not Type.MODULE:
            return None
        uses = [use for slot in self._semantics.facts.slots(owner, target.attr) for use in slot.uses]
        if not any(self._tree.function(use) is not function and self._takes(use) for use in uses):
            return None
        update = self._update(place, target, _CALLERS)
        return BestModule(value, place, ast.unparse(target), update) if update is not None else None

    def _is_compared(self, target: ast.Attribute) -> bool:
        """Whether a comparison decides, in the function itself, that something is kept."""
        child: ast.AST = target
        for parent in self._tree.ancestors(target):
            if isinstance(parent, ast.If) and in_body(child, parent):
                orders = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
                comparisons = (part for part in ast.walk(parent.test) if isinstance(part, ast.Compare))
                if any(isinstance(each, orders) for part in comparisons for each in part.ops):
                    return True
            if isinstance(parent, FUNCTIONS):
                return False
            child = parent
        return False

    def _takes(self, use: ast.expr) -> bool:
        """Whether a read takes the module itself, and does not just ask whether there is one."""
        match self._tree.parent(use):
            case ast.Assign() | ast.Return() | ast.Attribute(ctx=ast.Load()) | ast.Starred():
                return True
            case ast.Call(func=function, args=given):
                return function is use or use in given
        return False

    def _update(self, place: Place, node: ast.AST, far: int) -> ast.AST | None:
        """What changes a module in a loop around ``node``, or around a call of the function that it stands in."""
        updates = self._semantics.of(Updates)
        scope = self._semantics.control_flow.scope(node)
        for loop in self._tree.loops(node):
            if self._is_made_in(place, loop):
                return None
            for update in updates.of_scope(scope):
                if update.of and self._tree.inside(update.node, loop) and updates.changes(update, place):
                    return update.node
        function = self._tree.function(node)
        if not far or not isinstance(function, FUNCTIONS) or self._is_made_in(place, function):
            return None
        for call in self._semantics.inference.call_sites(function):
            outer = updates.outside(place, call, function)
            found = self._update(outer, call, far - 1) if outer is not None else None
            if found is not None:
                return found
        return None

    def _is_made_in(self, place: Place, code: Loop | ast.AST) -> bool:
        """Whether a place gets another module somewhere in the code, so that the old one is left as it is."""
        return any(self._tree.inside(node, code) for node in self._semantics.of(Places).rebound(place))
