"""Layouts that cross the border of a function of the file: what its calls give it, and what its only call gets back."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.shapes.layout import Axis, Contiguity, Layout

_MOST_CALLS = 8
"""What has more calls than these is made for tensors of all kinds."""
_RANKS = frozenset({"dim", "ndim", "ndimension"})


class HandedLayouts:
    """Looks up the transposed tensors that functions are given and return."""

    def __init__(self, semantics: Semantics, of: Callable[[ast.expr], Layout]) -> None:
        self._semantics = semantics
        self._of = of
        self._given: dict[Binding, list[Layout]] = {}

    def given(self, binding: Binding) -> list[Layout]:
        """The layouts that calls in the file give for a parameter, where these are transposed and known in full."""
        if binding not in self._given:
            self._given[binding] = []  # while the calls, some of which may be its own, are looked at
            self._given[binding] = self._find_given(binding)
        return self._given[binding]

    def _find_given(self, binding: Binding) -> list[Layout]:
        given = self._semantics.inference.given(binding)
        if len(given) > _MOST_CALLS or any(map(self._is_asked, binding.uses)):
            return []
        return [layout for value in given if value is not None and is_torn(layout := self._of(value))]

    def _is_asked(self, use: ast.Name) -> bool:
        """Whether a function asks how many axes its parameter has: it goes different ways with different ones."""
        tree = self._semantics.tree
        parent = tree.parent(use)
        if not isinstance(parent, ast.Attribute):
            return False
        outer = tree.parent(parent)
        shape = outer if isinstance(outer, ast.Call) and outer.func is parent else parent
        match tree.parent(shape):
            case ast.Call(func=ast.Name(id="len"), args=[counted]) if counted is shape:
                return True
        return parent.attr in _RANKS

    def given_by_all(self, binding: Binding) -> Layout | None:
        """The one layout that the only call in the file gives for a parameter, if it is transposed."""
        function = binding.scope.node
        if not isinstance(function, FUNCTIONS) or len(self._semantics.inference.call_sites(function)) != 1:
            return None
        return next(iter(self.given(binding)), None)

    def returned(self, call: ast.Call) -> Layout | None:
        """The layout of what a function returns that has one ``return`` and no other call in the file, if it is transposed."""
        function = self._called(call)
        if function is None or function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
            return None
        values = self._semantics.facts.returned(function)
        if len(values) != 1 or values[0] is None or self._semantics.inference.call_sites(function) != [call]:
            return None
        layout = self._of(values[0])
        return layout if is_torn(layout) else None

    def _called(self, call: ast.Call) -> Function | None:
        return self._semantics.inference.call_graph.called(call)


def is_torn(layout: Layout) -> bool:
    """Whether all axes are known, and lie in another order in memory."""
    return layout.closed and not layout.is_compact and layout.contiguity is not Contiguity.UNKNOWN


def in_step(node: ast.expr, one: Layout, other: Layout) -> Layout | None:
    """The layout of what is computed of two tensors, element by element, whose axes lie in the same order (ran)."""
    if not (is_torn(one) and is_torn(other)) or [axis.place for axis in one.front] != [axis.place for axis in other.front]:
        return None
    axes = tuple(
        Axis(first.size if first.size == second.size else (node, index), first.place)
        for index, (first, second) in enumerate(zip(one.front, other.front))
    )
    return replace(one, front=axes)
