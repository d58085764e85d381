"""Weights that a forward masks or clamps before it uses them: as often as it is done, the values are the same.

What a graph has kept of them so far is what was masked already, and the gradients of what the mask takes out reach nobody
(run: convolutions of both kinds, twice in one forward, SGD and Adam).

And the masks themselves, where a method takes more values out by a comparison, as a network is pruned: nothing but the values
of weights is ever computed with them, so that no graph has them.
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
_PRODUCTS = frozenset({"mul", "multiply"})
_COMPARISONS = frozenset({"gt", "ge", "lt", "le", "ne", "eq", "greater", "greater_equal", "less", "less_equal", "not_equal"})
_CASTS = frozenset({"float", "half", "double", "to", "type", "type_as"})
_TRAINS = frozenset({"backward", "step", "forward"})


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
            case ast.Assign(targets=[ast.Attribute(value=weight, attr="data")], value=value) if pair := self._factors(value):
                pairs = (pair, pair[::-1])
                return _is_own(weight) and any(_is_value_of(weight, one) and _is_mask(other) for one, other in pairs)
        return False

    def are_pruned_by(self, node: ast.expr) -> bool:
        """Whether the statement of a node takes values out of a mask of the module's own, outside of any training step.

        It is left with its own values where a comparison holds: `self.mask.data = self.mask * (w.abs() > limit).float()`.
        """
        tree = self._semantics.tree
        function = tree.function(node)
        if not isinstance(function, FUNCTIONS) or function.name in _TRAINS:
            return False
        match tree.statement(node):
            case ast.Assign(targets=[ast.Attribute(value=mask, attr="data")], value=value) if pair := self._factors(value):
                if not _is_mask(mask) or any(map(self._is_of_training, ast.walk(function))):
                    return False
                pairs = (pair, pair[::-1])
                is_left = any(_is_value_of(mask, one) and self._is_comparison(other) for one, other in pairs)
                return is_left and self._is_in_no_graph(mask)
        return False

    def _factors(self, value: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """What is multiplied: by an operator, a function of torch's or a method."""
        match value:
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                return left, right
            case ast.Call(func=function, args=[left, right], keywords=[]):
                module, _, name = (self._semantics.qualified_name(function) or "").rpartition(".")
                return (left, right) if module == "torch" and name in _PRODUCTS else None
            case ast.Call(func=ast.Attribute(value=left, attr=method), args=[right], keywords=[]) if method in _PRODUCTS:
                return left, right
        return None

    def _is_comparison(self, value: ast.expr) -> bool:
        """Whether a value says where a comparison holds, as booleans or as zeros and ones."""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _CASTS:
            value = value.func.value
        match value:
            case ast.Compare(ops=[_]):
                return True
            case ast.Call(func=ast.Attribute(attr=method)):
                return method in _COMPARISONS
        return False

    def _is_of_training(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TRAINS

    def _is_in_no_graph(self, mask: ast.expr) -> bool:
        """Whether a part of the module is only used to set the ``.data`` of something, here or in other methods."""
        while isinstance(mask, ast.Attribute) and isinstance(mask.value, ast.Attribute):
            mask = mask.value
        owner = self._semantics.facts.self_class(mask.value) if isinstance(mask, ast.Attribute) else None
        if owner is None or not isinstance(mask, ast.Attribute):
            return False
        uses = [use for slot in self._semantics.facts.slots(owner, mask.attr) for use in slot.uses]
        return bool(uses) and all(_sets_data(self._semantics.tree.statement(use)) for use in uses)

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
    """Whether a value is called a mask, and is kept by the module, by itself or as the weight of a layer that is called so."""
    if isinstance(value, ast.Attribute) and value.attr == "data":
        value = value.value
    if isinstance(value, ast.Attribute) and value.attr == "weight":
        value = value.value
    return isinstance(value, ast.Attribute) and _is_own(value) and _MASK.search(last_name(value)) is not None


def _sets_data(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="data")]) | ast.AugAssign(target=ast.Attribute(attr="data")):
            return True
    return False


def _is_value_of(weight: ast.expr, value: ast.expr) -> bool:
    if isinstance(value, ast.Attribute) and value.attr == "data":
        value = value.value
    return ast.dump(value) == ast.dump(weight)
