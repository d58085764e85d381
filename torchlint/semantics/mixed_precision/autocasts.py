"""Backward passes that run in an autocast region, which rounds the gradients of what was computed in float32 on purpose."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Tree, is_false
from torchlint.semantics.steps.acts import Acts, Deed

Place = TypeVar("Place")

AUTOCASTS = frozenset(
    {"torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast"}
    | {"torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast", "torch.cpu.amp.autocast"}
)
"""The context managers that switch autocast on, or off."""


@dataclass(frozen=True, eq=False, slots=True)
class InAutocast(Generic[Place]):
    """The autocast ``region`` in which a backward pass runs.

    ``float32`` tells whether a part of it computes with autocast off, which is what the backward of that part does not.
    ``tail`` are the statements from the backward pass to the end of the region, where they can leave it, and ``behind`` is the
    one that follows.
    """

    region: Place
    float32: bool
    tail: tuple[Place, ...] = ()
    behind: Place | None = None


class AutocastBackwards:
    """Finds the backward passes of a file that run in an autocast region."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def found(self) -> dict[ast.Call, InAutocast[ast.stmt]]:
        """The backward calls whose innermost autocast region switches it on."""
        if "autocast" not in self._semantics.words.all:
            return {}
        found: dict[ast.Call, InAutocast[ast.stmt]] = {}
        for act in self._semantics.of(Acts).all:
            region = self._region(act.call) if act.deed is Deed.BACKWARD and act.certain else None
            if region is not None and self._switch(region) is not None:
                float32 = any(self._is_off(node) for part in region.body for node in ast.walk(part))
                found[act.call] = InAutocast(region, float32, self._tail(act.call, region), self._behind(region))
        return found

    def _region(self, call: ast.Call) -> ast.With | None:
        """The innermost region around a call that switches autocast, where that is on."""
        tree: Tree = self._semantics.tree
        for parent in tree.ancestors(call):
            if isinstance(parent, FUNCTIONS):
                return None
            if isinstance(parent, ast.With) and (switch := self._switch(parent)) is not None:
                return None if _is_disabled(switch) else parent
        return None

    def _tail(self, call: ast.Call, region: ast.With) -> tuple[ast.stmt, ...]:
        """What a region does from a backward pass on; nothing if that computes anything, or is all of the region."""
        statement = self._semantics.tree.statement(call)
        start = region.body.index(statement) if statement in region.body else 0
        tail = region.body[start:] if start else []
        return tuple(tail) if all(isinstance(each, ast.Expr) for each in tail) else ()

    def _behind(self, region: ast.With) -> ast.stmt | None:
        block = self._semantics.tree.block(region)
        return next(iter(block[block.index(region) + 1 :]), None)

    def _switch(self, region: ast.With) -> ast.Call | None:
        calls = [item.context_expr for item in region.items if isinstance(item.context_expr, ast.Call)]
        return next((call for call in calls if self._semantics.qualified_name(call.func) in AUTOCASTS), None)

    def _is_off(self, node: ast.AST) -> bool:
        switch = self._switch(node) if isinstance(node, ast.With) else None
        return switch is not None and _is_disabled(switch)


def _is_disabled(switch: ast.Call) -> bool:
    """Whether autocast is switched off for certain."""
    return any(word.arg == "enabled" and is_false(word.value) for word in switch.keywords)
