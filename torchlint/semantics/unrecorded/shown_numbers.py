"""One number of a tensor that is read to be shown, logged or kept for a report: a new tensor, or none, and nobody's memory."""

from __future__ import annotations

import ast

from torchlint.semantics import Form, Semantics
from torchlint.semantics.shapes.scalars import CHAIN, Scalars, base, names_loss
from torchlint.semantics.unrecorded.asked_numbers import AskedNumbers


class ShownNumbers:
    """Tells of the ``.data`` of tensors whether one number of it is read for people alone, or as code of torch 0.3 read one."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_one(self, data: ast.Attribute) -> bool:
        """Whether an ``x.data`` is reduced to a number that is shown, or indexed for the number that a loss was once."""
        return self._semantics.of(AskedNumbers).are_all(data) or self._is_first_of_one(data)

    def _is_first_of_one(self, data: ast.Attribute) -> bool:
        """Whether ``[0]`` is asked for of a loss, of what is squeezed, or beside the numbers of losses."""
        end: ast.expr = data
        is_squeezed = False
        while (call := self._method_call(end)) is not None and isinstance(call.func, ast.Attribute):
            if call.func.attr not in CHAIN or call.args or call.keywords:
                return False
            is_squeezed = is_squeezed or call.func.attr == "squeeze"
            end = call
        match item := self._tree.parent(end):
            case ast.Subscript(value=value, slice=ast.Constant(value=0), ctx=ast.Load()) if value is end:
                return is_squeezed or names_loss(base(data)) or self._stands_beside_losses(item) or self._may_be_one(base(data))
        return False

    def _may_be_one(self, tensor: ast.expr) -> bool:
        """Whether one of the values that a name stands for has no dimensions, or is reduced: ``x if x.dim() else x.mean()``."""
        bindings = self._semantics.bindings.reaching(tensor) if isinstance(tensor, ast.Name) else ()
        values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and not each.path and each.value is not None]
        parts = [part for value in values for part in (value, *_branches(value))]
        return any(self._is_one(part) for part in parts)

    def _is_one(self, value: ast.expr) -> bool:
        kind = self._semantics.kind(value)
        if kind.is_tensor and kind.scalar and not kind.loose:
            return True
        match value:
            case ast.Call(func=ast.Attribute(attr=method), args=[], keywords=[]):
                return method in ("mean", "sum")
            case ast.Subscript(slice=ast.Tuple(elts=places)):
                return len(places) > 1 and all(map(self._is_counter, places))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
                every = (left, right)
                return any(map(self._is_item, every)) and all(self._is_item(each) or self._is_plain(each) for each in every)
        return False

    def _is_item(self, value: ast.expr) -> bool:
        """Whether a value is one number, or a name for such."""
        if not isinstance(value, ast.Name):
            return self._is_one(value)
        bindings = self._semantics.bindings.reaching(value)
        return bool(bindings) and all(
            each.form is Form.ASSIGNMENT
            and not each.path
            and each.value is not None
            and not isinstance(each.value, ast.BinOp)
            and self._is_one(each.value)
            for each in bindings
        )

    def _is_plain(self, value: ast.expr) -> bool:
        """Whether a value is a number of Python's, a name for one, or one item of a row: ``sums[q]``."""
        match value:
            case ast.Constant(value=int() | float()):
                return True
            case ast.Subscript(slice=ast.Name() as place):
                return self._is_counter(place)
            case ast.Call(func=function):
                return self._semantics.qualified_name(function) in ("builtins.len", "builtins.float", "builtins.int")
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(isinstance(each.value, ast.Constant) and not each.path for each in bindings)
        return False

    def _is_counter(self, place: ast.expr) -> bool:
        """Whether a place is a whole number: written out, or what a loop counts."""
        match place:
            case ast.Constant(value=int()):
                return True
            case ast.Name():
                bindings = self._semantics.bindings.reaching(place)
                return bool(bindings) and all(each.form is Form.LOOP and self._counts(each.value) for each in bindings)
        return False

    def _counts(self, iterable: ast.expr | None) -> bool:
        name = self._semantics.qualified_name(iterable.func) if isinstance(iterable, ast.Call) else ""
        return name == "builtins.range"

    def _stands_beside_losses(self, item: ast.expr) -> bool:
        """Whether such numbers of losses, which raise, are in the same list, tuple or call: ``[loss.data[0], h.data[0]]``."""
        match self._tree.parent(item):
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Call(args=parts):
                indexed = self._semantics.of(Scalars).indexed
                return any(part in indexed for part in parts)
        return False

    def _method_call(self, node: ast.expr) -> ast.Call | None:
        """The call of a method of ``node``."""
        parent = self._tree.parent(node)
        call = self._tree.parent(parent) if isinstance(parent, ast.Attribute) else None
        return call if isinstance(call, ast.Call) and call.func is parent else None


def _branches(value: ast.expr) -> tuple[ast.expr, ...]:
    return (value.body, value.orelse) if isinstance(value, ast.IfExp) else ()
