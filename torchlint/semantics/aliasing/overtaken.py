"""Detached values that are kept, and changed along with the tensor that they are a view of."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Binding, Grad, Semantics
from torchlint.semantics.aliasing.detached import DetachedChange
from torchlint.semantics.memory.changes import Change, Changes
from torchlint.semantics.memory.places import Places


class OvertakenAliases:
    """Finds ``last = x[:, -1:].detach()``, ``x -= last``, and reads of ``last`` behind it.

    That the change is computed of the kept value tells that its old value is meant.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._changes = semantics.of(Changes)
        self._places = semantics.of(Places)

    @cached_property
    def changes(self) -> dict[ast.expr, DetachedChange[ast.expr]]:
        """The changes, by the nodes that make them; what they change by mistake is their ``tensor``."""
        found: dict[ast.expr, DetachedChange[ast.expr]] = {}
        for call in self._semantics.facts.calls.get("detach", ()):
            alias = self._outermost(call)
            match self._semantics.tree.parent(alias):
                case ast.Assign(targets=[ast.Name() as name], value=value) if value is alias:
                    for change in self._overtaking(name, alias):
                        found[change.node] = DetachedChange(change.node, change.through, alias, name, True, False)
        return found

    def _outermost(self, node: ast.expr) -> ast.expr:
        """The longest view of a detached value that is taken by slices right there."""
        parent = self._semantics.tree.parent(node)
        while isinstance(parent, ast.Subscript) and parent.value is node:
            node, parent = parent, self._semantics.tree.parent(parent)
        return node

    def _overtaking(self, name: ast.Name, alias: ast.expr) -> list[Change]:
        """The changes of the tensor that are computed of the alias, which is read behind them."""
        kept = self._semantics.bindings.of(name)
        base, indices = _taken(alias)
        if kept is None or base is None or base.id == name.id or self._semantics.kind(base).grad is Grad.LEAF:
            return []
        changes = [
            change
            for binding in self._semantics.bindings.reaching(base)
            for change in self._changes.changes(binding)
            if self._is_computed_of(change, kept) and _overlaps(indices, change)
        ]
        place, tensor = self._places.place(name), self._places.place(base)
        if not changes or place is None or tensor is None:
            return []
        flow = self._semantics.control_flow
        stored = self._places.rebound_in(flow.scope(name), place)
        others = [*self._places.rebound_in(flow.scope(name), tensor), *stored]
        after = set(self._places.following(name, [change.node for change in changes], others))
        reads = [use for use in kept.uses if self._places.reads_values(use)]
        return [
            change
            for change in changes
            if change.node in after and flow.leads_to_any(change.node, self._behind(change, reads), stored)
        ]

    def _behind(self, change: Change, reads: list[ast.Name]) -> list[ast.Name]:
        """The reads beside those of the statement that makes the change."""
        statement = self._semantics.tree.statement(change.node)
        return [use for use in reads if not self._semantics.tree.inside(use, statement)]

    def _is_computed_of(self, change: Change, kept: Binding) -> bool:
        """Whether the statement that makes a change reads the kept value; not where optimizers work, which know their views."""
        if self._semantics.no_grad.covers(change.node):
            return False
        tree = self._semantics.tree
        statement = tree.statement(change.node)
        return isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)) and any(
            tree.inside(use, statement) for use in kept.uses
        )


def _taken(alias: ast.expr) -> tuple[ast.Name | None, list[ast.expr]]:
    """The variable that an alias is a view of, by slices and a ``.detach()``, and the slices; none where it may be a copy."""
    indices: list[ast.expr] = []
    while not isinstance(alias, ast.Name):
        match alias:
            case ast.Subscript(value=value, slice=index) if not indices and all(map(_is_place, _axes(index))):
                indices, alias = _axes(index), value
            case ast.Call(func=ast.Attribute(value=value, attr="detach"), args=[], keywords=[]):
                alias = value
            case _:
                return None, []
    return alias, indices


def _axes(index: ast.expr) -> list[ast.expr]:
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]


def _is_place(index: ast.expr) -> bool:
    """Whether an index of one axis is a slice or a number, with which a view is taken."""
    match index:
        case ast.Slice() | ast.Constant(value=int()) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return True
    return False


def _overlaps(indices: list[ast.expr], change: Change) -> bool:
    """Whether a change reaches some of what was taken with ``indices``: on every axis that both tell of."""
    match change.node:
        case ast.Subscript(value=value, slice=index) if value is change.through:
            return all(map(_meet, indices, _axes(index)))
    return isinstance(change.through, ast.Name)


def _meet(one: ast.expr, other: ast.expr) -> bool:
    """Whether two indices of one axis have a place in common, as far as their text tells."""
    return _is_whole(one) or _is_whole(other) or (_is_place(other) and ast.dump(one) == ast.dump(other))


def _is_whole(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) and index.lower is index.upper is index.step is None
