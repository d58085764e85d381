"""Values that have left their graph on the spot, or that no gradient goes through."""

from __future__ import annotations

import ast

from torchlint.semantics import Form, Semantics
from torchlint.semantics.graphs.likely.origins import SAME

_FLAT = frozenset({"sign", "eq", "ne", "lt", "le", "gt", "ge", "round", "floor", "ceil", "isnan", "isinf", "isfinite"})
"""Functions and methods through which no gradient goes, whatever they are given: it is zero, or there is none."""
_PICKS = SAME | {"topk", "max", "min", "sort", "sum", "mean", "abs", "exp", "log", "sqrt", "view", "reshape", "t", "item"}
"""Methods whose results have a graph only if the tensor has one."""
VARIABLE = "torch.autograd.Variable"


class CutValues:
    """Tells of values whether they come of one that has left its graph: ``probs`` of ``out.data.topk(k)``."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_of_cut(self, node: ast.expr) -> bool:
        """Whether a value comes of one that has left its graph, ``probs`` of ``out.data.topk(k)``, or that has no gradient."""
        if not isinstance(node, ast.Name):
            return self.is_cut(node)
        bindings = self._semantics.bindings.reaching(node)
        return bool(bindings) and all(
            binding.form is Form.ASSIGNMENT and binding.value is not None and self.is_cut(binding.value) for binding in bindings
        )

    def is_cut(self, value: ast.expr) -> bool:
        """Whether a value has left its graph where it stands, or is made of such by what records nothing of its own."""
        while True:
            match value:
                case ast.Attribute(attr="data") | ast.Call(func=ast.Attribute(attr="detach")):
                    return True
                case ast.Call(func=ast.Attribute(attr=name)) if name in _FLAT:
                    return True
                case ast.Call(func=function, args=[first], keywords=[]) if self._semantics.qualified_name(function) == VARIABLE:
                    value = first
                case ast.Call(func=ast.Attribute(attr=name) as function, args=[first, *_]) if self._is_torch(function):
                    if name not in _PICKS:
                        return False
                    value = first
                case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _PICKS:
                    value = inner
                case ast.Subscript(value=inner):
                    value = inner
                case _:
                    return False

    def _is_torch(self, function: ast.Attribute) -> bool:
        return (self._semantics.qualified_name(function) or "").startswith("torch.")
