"""Arrays that are made of tensors to ask for their form alone: of the values, nothing goes anywhere."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import last_name

_LIKE = frozenset(f"numpy.{name}_like" for name in ("zeros", "ones", "empty", "full"))
_FORM = frozenset({"shape", "ndim", "size", "dtype"})
_SAME = frozenset({"cpu", "numpy", "reshape", "ravel", "flatten", "squeeze", "astype"})


class ArraysForForm:
    """Tells of the ``.data`` of tensors whether they are read for the form of an array."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def are_made_of(self, data: ast.expr) -> bool:
        """Whether of `x.data.cpu().numpy()`, under whatever name, only the shape is asked, or another array made like it."""
        end = self._end(data)
        if end is data:
            return False
        match self._tree.parent(end):
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is end:
                binding = self._semantics.bindings.of(name)
                uses = binding.uses if binding is not None else ()
                return bool(uses) and all(self._is_for_form(self._end(use)) for use in uses)
        return self._is_for_form(end)

    def _end(self, node: ast.expr) -> ast.expr:
        """What a chain of methods that keep the values makes of something in the end."""
        while isinstance(method := self._tree.parent(node), ast.Attribute) and method.attr in _SAME:
            call = self._tree.parent(method)
            if not isinstance(call, ast.Call) or call.func is not method:
                break
            node = call
        return node

    def _is_for_form(self, array: ast.expr) -> bool:
        match self._tree.parent(array):
            case ast.Attribute(attr=name, ctx=ast.Load()):
                return name in _FORM
            case ast.Call(func=function, args=[first, *_]) if first is array:
                name = self._semantics.qualified_name(function) or last_name(function)
                return name in _LIKE or name in ("builtins.len", "numpy.shape", "numpy.ndim", "numpy.size")
        return False
