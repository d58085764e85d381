"""Tensors of which nothing but pictures are made, by functions that turn autograd off themselves."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics

_UNRECORDED = frozenset({"torchvision.utils.save_image", "torchvision.utils.make_grid"})
"""Functions whose results are no part of a graph, whatever they are given."""


class Pictures:
    """Tells of values whether they are given to such functions alone, at once or by a name."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are_made_of(self, value: ast.expr) -> bool:
        """Whether a value, or a part of it, becomes a picture, and nothing else is done with it."""
        if self._is_given(value):
            return True
        match self._semantics.tree.parent(value):
            case ast.Assign(targets=[ast.Name() as name], value=assigned) if assigned is value:
                binding = self._semantics.bindings.of(name)
                return binding is not None and bool(binding.uses) and all(map(self._is_given, binding.uses))
        return False

    def _is_given(self, value: ast.expr) -> bool:
        while isinstance(parent := self._semantics.tree.parent(value), ast.Subscript) and parent.value is value:
            value = parent
        match parent:
            case ast.Call(func=function, args=[first, *_]) if first is value:
                return self._semantics.qualified_name(function) in _UNRECORDED
        return False
