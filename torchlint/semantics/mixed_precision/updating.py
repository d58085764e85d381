"""Scalers that make steps and are never updated: the second step raises."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.steps.acts import Act, Acts, Deed
from torchlint.semantics.training.optimizers import Optimizers

Node = TypeVar("Node")
Place = TypeVar("Place")

_HARMLESS = frozenset({"scale", "step", "unscale_", "state_dict", "load_state_dict", "get_scale", "is_enabled"})
"""Methods of a scaler that do not update it."""


@dataclass(frozen=True, eq=False, slots=True)
class NeverUpdated(Generic[Node, Place]):
    """The ``scaler`` of a step that nothing updates, and the statement ``behind`` which it can be; ``None`` if not clear."""

    scaler: Node
    behind: Place | None


class ScalerUpdates:
    """Finds the steps of a file whose scaler is never updated."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._acts = semantics.of(Acts)
        self._optimizers = semantics.of(Optimizers)

    @cached_property
    def missing(self) -> dict[ast.Call, NeverUpdated[ast.expr, ast.stmt]]:
        """The first step of each scaler that nothing in sight, or out of it, may update."""
        found: dict[ast.Call, NeverUpdated[ast.expr, ast.stmt]] = {}
        steps = [act for act in self._acts.all if act.deed is Deed.STEP and act.scaler is not None]
        for act in steps:
            scaler = act.scaler
            assert scaler is not None
            if not self._acts.is_made(scaler) or not self._is_made_again(act) or self._may_be_updated(scaler):
                continue
            same = [other for other in steps if other.scaler is not None and self._optimizers.same(other.scaler, scaler)]
            found[act.call] = NeverUpdated(scaler, self._place(act) if len(same) == 1 else None)
        return found

    def _is_made_again(self, step: Act) -> bool:
        """Whether the step is in a loop, so that the scaler makes a second one."""
        return any(self._semantics.tree.loops(step.call))

    def _place(self, step: Act) -> ast.stmt | None:
        statement = self._semantics.tree.statement(step.call)
        return statement if isinstance(statement, ast.Expr) and statement.value is step.call else None

    def _may_be_updated(self, scaler: ast.expr) -> bool:
        """Whether a scaler has an ``update``, or anything but its methods uses it: code that is not shown may update it."""
        if isinstance(scaler, ast.Name):
            bindings = self._semantics.bindings.reaching(scaler)
            uses: list[ast.Name] = [use for binding in bindings for use in binding.uses]
            return not all(map(self._is_harmless, uses))
        attributes = [node for node in self._semantics.tree.of_type(ast.Attribute) if node.attr == last_name(scaler)]
        return not all(isinstance(use.ctx, ast.Store) or self._is_harmless(use) for use in attributes)

    def _is_harmless(self, use: ast.expr) -> bool:
        match self._semantics.tree.parent(use):
            case ast.Attribute(attr=name):
                return name in _HARMLESS
            case ast.Compare() | ast.If():
                return True
        return False
