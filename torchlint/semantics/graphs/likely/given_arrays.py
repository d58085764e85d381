"""Tensors made of arrays, ``torch.from_numpy(np.load(…))``, that are gathered in lists, joined, or handed to functions."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS

_OF_ARRAYS = frozenset({"torch.from_numpy"})
_LOOKS = frozenset({"cpu", "cuda", "to", "float", "double", "view", "reshape", "squeeze", "unsqueeze", "flatten", "contiguous"})
"""Methods and functions that give the same values in another form or place."""
_COMPUTES = frozenset({"mean", "sum", "abs", "sqrt", "norm", "median", "std", "var", "exp", "log"})
"""Those whose results have a graph only if the tensor has one."""
_JOINS = frozenset({"cat", "stack", "concat", "vstack", "hstack"})
_FILLS = frozenset({"append", "extend"})
_ASKS = frozenset({"requires_grad", "requires_grad_"})
_DEPTH = 8


class GivenArrays:
    """Tells of names whether all that they stand for was made of arrays."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._known: dict[Binding, bool] = {}

    def are(self, node: ast.expr) -> bool:
        """Whether a name stands for tensors made of arrays, or for what is computed of them alone, whoever hands them in."""
        return isinstance(node, ast.Name) and self._are_made(node, _DEPTH)

    def _are_made(self, value: ast.expr | None, depth: int) -> bool:
        """Whether a value is such a tensor, or a list of them."""
        if value is None or not depth:
            return False
        match value:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(self._is_bound_to_made(each, depth - 1) for each in bindings)
            case ast.Subscript(value=whole):
                return self._are_made(whole, depth - 1)
            case ast.Call(func=function, args=[first, *_]) if self._is_of_torch(function, _LOOKS | _COMPUTES | _JOINS):
                return self._are_made(first, depth - 1)
            case ast.Call(func=function) if self._semantics.qualified_name(function) in _OF_ARRAYS:
                return True
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _LOOKS | _COMPUTES:
                return self._are_made(inner, depth - 1)
        return False

    def _is_of_torch(self, function: ast.expr, names: frozenset[str]) -> bool:
        library, _, name = (self._semantics.qualified_name(function) or "").rpartition(".")
        return library == "torch" and name in names

    def _is_bound_to_made(self, binding: Binding, depth: int) -> bool:
        if binding not in self._known:
            self._known[binding] = False  # while it is looked at
            self._known[binding] = not self._asks(binding) and self._is_made(binding, depth)
        return self._known[binding]

    def _is_made(self, binding: Binding, depth: int) -> bool:
        match binding:
            case Binding(form=Form.PARAMETER):
                return self._is_handed_made(binding, depth)
            case Binding(form=Form.LOOP, path=()):
                return self._are_made(binding.value, depth)
            case Binding(form=Form.ASSIGNMENT, path=(), value=ast.List(elts=[])):
                return self._is_filled(binding, depth)
            case Binding(form=Form.ASSIGNMENT, path=()):
                return self._are_made(binding.value, depth)
        return False

    def _is_handed_made(self, binding: Binding, depth: int) -> bool:
        """Whether all that calls a function of the file, in it, hands in such a tensor; methods have other callers."""
        function = binding.scope.node
        if not isinstance(function, FUNCTIONS) or not isinstance(self._tree.parent(function), ast.Module):
            return False
        given = self._semantics.inference.given(binding)
        return bool(given) and all(self._are_made(each, depth) for each in given)

    def _is_filled(self, binding: Binding, depth: int) -> bool:
        """Whether a list is filled, and with such tensors alone."""
        fills = []
        for use in binding.uses:
            match self._tree.parent(use):
                case ast.Attribute(attr=method) as called:
                    fill = self._tree.parent(called)
                    if method not in _FILLS or not isinstance(fill, ast.Call) or len(fill.args) != 1:
                        return False
                    fills.append(fill.args[0])
                case ast.AugAssign() | ast.Subscript(ctx=ast.Store()):
                    return False
        return bool(fills) and all(self._are_made(each, depth) for each in fills)

    def _asks(self, binding: Binding) -> bool:
        """Whether gradients of it are asked for, which makes it a leaf of a graph."""
        parents = (self._tree.parent(use) for use in binding.uses)
        return any(isinstance(each, ast.Attribute) and each.attr in _ASKS for each in parents)
