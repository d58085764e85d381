"""Weights that a forward masks or clamps before it uses them: as often as it is done, the values are the same.

What a graph has kept of them so far is what was masked already, and the gradients of what the mask takes out reach nobody
(run: convolutions of both kinds, twice in one forward, SGD and Adam).
"""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, last_name, position

_MASK = re.compile(r"(^|_)masks?(_|$|\d)", re.IGNORECASE)
_CHANGING = frozenset({"mul_", "multiply_"})
_LIMITING = frozenset({"clamp_", "clip_", "clamp_min_", "clamp_max_"})
"""Methods that leave values within their limits, which stay the same, as they are."""


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
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Attribute(value=weight, attr="data"), attr=method), args=limits, keywords=words
                )
            ) if method in _LIMITING:
                is_limited = all(map(_is_limit, (*limits, *(word.value for word in words))))
                return is_limited and _is_own(weight) and not self._is_used_before(weight, function)
            case ast.Assign(
                targets=[ast.Attribute(value=weight, attr="data")], value=ast.BinOp(op=ast.Mult(), left=left, right=right)
            ):
                pairs = ((left, right), (right, left))
                return _is_own(weight) and any(_is_value_of(weight, one) and _is_mask(other) for one, other in pairs)
        return False

    def _is_used_before(self, weight: ast.expr, function: ast.AST) -> bool:
        """Whether a forward has used the part of the module before, that a weight is or belongs to."""
        while isinstance(weight, ast.Attribute) and isinstance(weight.value, ast.Attribute):
            weight = weight.value
        facts, tree = self._semantics.facts, self._semantics.tree
        owner = facts.self_class(weight.value) if isinstance(weight, ast.Attribute) else None
        if owner is None or not isinstance(weight, ast.Attribute):
            return True
        uses = [use for slot in facts.slots(owner, weight.attr) for use in slot.uses if tree.function(use) is function]
        return any(position(use) < position(tree.statement(weight)) for use in uses)


def _is_own(weight: ast.expr) -> bool:
    """Whether a tensor is an attribute of ``self``, or of a part of it."""
    while isinstance(weight, ast.Attribute):
        weight = weight.value
        if isinstance(weight, ast.Name):
            return weight.id == "self"
    return False


def _is_limit(value: ast.expr) -> bool:
    """Whether a value is a number that is written out, or one that the module keeps."""
    while isinstance(value, ast.UnaryOp):
        value = value.operand
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Attribute) and _is_own(value))


def _is_mask(value: ast.expr) -> bool:
    """Whether a value is called a mask, and is kept by the module."""
    return isinstance(value, ast.Attribute) and _is_own(value) and _MASK.search(last_name(value)) is not None


def _is_value_of(weight: ast.expr, value: ast.expr) -> bool:
    if isinstance(value, ast.Attribute) and value.attr == "data":
        value = value.value
    return ast.dump(value) == ast.dump(weight)
