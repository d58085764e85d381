"""Tensors that get a name where they are made, and are moved under it in a statement of its own: ``x = x.cuda()``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import dotted, walk

_BETWEEN = 12
"""So many statements may lie between the two: each factory looks through them."""


class LaterMoves:
    """Tells where the one read of a variable gives it a new value, in the same block as the first one."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._indices: dict[ast.stmt, int] = {}

    def read(self, value: ast.expr) -> ast.Name | None:
        """The one read of the variable that gets ``value``, if a later statement of the block computes its next value of it."""
        tree, assignment = self._semantics.tree, self._semantics.tree.parent(value)
        match assignment:
            case ast.Assign(targets=[ast.Name() as target]) if assignment.value is value:
                binding = self._semantics.bindings.of(target)
            case _:
                return None
        if binding is None or binding.form is not Form.ASSIGNMENT or len(binding.uses) != 1:
            return None
        use = binding.uses[0]
        later = tree.statement(use)
        match later:
            case ast.Assign(targets=[ast.Name(id=name)]) if name == target.id:
                is_alone = self._semantics.bindings.reaching(use) == (binding,)
                return use if is_alone and self._between(assignment, later) is not None else None
        return None

    def is_known_before(self, device: ast.expr, made: ast.expr, moved: ast.expr) -> bool:
        """Whether nothing that a device is told by gets its value only between the making of a tensor and its move."""
        tree = self._semantics.tree
        between = self._between(tree.statement(made), tree.statement(moved))
        if between is None:
            return False
        told = {name for part in walk(device) if isinstance(part, (ast.Name, ast.Attribute)) and (name := dotted(part))}
        return told.isdisjoint(_stored(between)) and not any(
            isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(device)
        )

    def _between(self, first: ast.stmt, second: ast.stmt) -> Sequence[ast.stmt] | None:
        """The statements between two of one block, if they are few."""
        block = self._semantics.tree.block(first)
        if first not in self._indices:  # a block may hold many of them
            self._indices.update((statement, index) for index, statement in enumerate(block))
        start = self._indices[first] + 1
        nearby = block[start : start + _BETWEEN + 1]
        return nearby[: nearby.index(second)] if second in nearby else None


def _stored(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """What statements give a value to, as it is spelled."""
    for statement in statements:
        for part in walk(statement):
            if isinstance(part, (ast.Name, ast.Attribute)) and not isinstance(part.ctx, ast.Load):
                yield dotted(part) or ""
