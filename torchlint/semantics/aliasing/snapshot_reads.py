"""What is read of a snapshot of weights: its values, or no more than its names and shapes."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics

_FORM_ONLY = frozenset({"keys", "shape", "size", "dtype", "device", "numel", "dim", "ndim", "is_cuda", "pop"}) | frozenset(
    {"requires_grad", "requires_grad_", "grad"}
)
"""What is read of a snapshot without its values."""
_NO_VALUES = frozenset({"len", "type", "isinstance", "id", "hasattr", "set", "sorted"})


class SnapshotReads:
    """Tells of the uses of what is kept whether they read its values."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_looped_over(self, use: ast.expr) -> bool:
        """Whether a loop goes over what is kept, as it is."""
        match self._semantics.tree.parent(use):
            case ast.comprehension(iter=iterable) | ast.For(iter=iterable):
                return iterable is use
        return False

    def are_values(self, use: ast.expr) -> bool:
        """Whether a use reads more than names, shapes, and whether anything is there."""
        parent = self._semantics.tree.parent(use)
        match parent:
            case ast.Attribute(attr="items" | "values"):
                call = self._semantics.tree.parent(parent)
                return not isinstance(call, ast.Call) or self.are_values(call)
            case ast.Attribute(attr=attribute):
                return attribute not in _FORM_ONLY and attribute != "append"
            case ast.comprehension(target=target, iter=iterable) | ast.For(target=target, iter=iterable) if iterable is use:
                return self._are_values_read(_of_value(target, iterable))
            case ast.Call(func=ast.Name(id=name)) if use in parent.args:
                return name not in _NO_VALUES
            case ast.Subscript(value=value) if value is use:
                return isinstance(parent.ctx, ast.Load) and self.are_values(parent)
            case ast.Compare(ops=operators):
                return not any(isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for operator in operators)
            case ast.If() | ast.While() | ast.IfExp(test=ast.Name()) | ast.BoolOp() | ast.Delete() | ast.Expr():
                return False
        return True

    def _are_values_read(self, target: ast.expr) -> bool:
        """Whether the values of what a loop's target stands for are read."""
        bound = [self._semantics.bindings.of(part) for part in ast.walk(target) if isinstance(part, ast.Name)]
        return any(self.are_values(use) for binding in bound if binding is not None for use in binding.uses)


def _of_value(target: ast.expr, iterable: ast.expr) -> ast.expr:
    """The part of a loop's target that is given a value: not the keys of ``state.items()``."""
    match target, iterable:
        case ast.Tuple(elts=[_, value]), ast.Call(func=ast.Attribute(attr="items"), args=[]):
            return value
    return target
