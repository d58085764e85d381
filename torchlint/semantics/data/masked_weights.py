"""Weights that a forward multiplies by a mask before it uses them: as often as it is done, the values are the same.

What a graph has kept of them so far is what was masked already, and the gradients of what the mask takes out reach nobody
(run: convolutions of both kinds, twice in one forward, SGD and Adam).
"""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, last_name

_MASK = re.compile(r"(^|_)masks?(_|$|\d)", re.IGNORECASE)
_CHANGING = frozenset({"mul_", "multiply_"})


class MaskedWeights:
    """Tells them by the statements that mask them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are_masked_by(self, node: ast.expr) -> bool:
        """Whether the statement of a node masks a weight of the module whose ``forward`` it stands in."""
        tree = self._semantics.tree
        function = tree.function(node)
        if not isinstance(function, FUNCTIONS) or function.name != "forward":
            return False
        match tree.statement(node):
            case ast.AugAssign(target=ast.Attribute(value=weight, attr="data"), op=ast.Mult(), value=mask):
                return _is_own(weight) and _is_mask(mask)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Attribute(value=weight, attr="data"), attr=method), args=[mask])
            ):
                return method in _CHANGING and _is_own(weight) and _is_mask(mask)
            case ast.Assign(
                targets=[ast.Attribute(value=weight, attr="data")], value=ast.BinOp(op=ast.Mult(), left=left, right=right)
            ):
                pairs = ((left, right), (right, left))
                return _is_own(weight) and any(_is_value_of(weight, one) and _is_mask(other) for one, other in pairs)
        return False


def _is_own(weight: ast.expr) -> bool:
    """Whether a tensor is an attribute of ``self``, or of a part of it."""
    while isinstance(weight, ast.Attribute):
        weight = weight.value
        if isinstance(weight, ast.Name):
            return weight.id == "self"
    return False


def _is_mask(value: ast.expr) -> bool:
    """Whether a value is called a mask, and is kept by the module."""
    return isinstance(value, ast.Attribute) and _is_own(value) and _MASK.search(last_name(value)) is not None


def _is_value_of(weight: ast.expr, value: ast.expr) -> bool:
    if isinstance(value, ast.Attribute) and value.attr == "data":
        value = value.value
    return ast.dump(value) == ast.dump(weight)
