"""How sizes of axes are written: numbers, ``x.size(1)``, ``x.shape[1]``."""

from __future__ import annotations

import ast

from torchlint.semantics.code.bindings import Binding


def bound_value(binding: Binding) -> ast.expr | None:
    """The expression that a binding's name is given: the value, or the part of it that stands in the target's place."""
    value = binding.value
    for step in binding.path:
        if not isinstance(value, (ast.Tuple, ast.List)) or step is None or step >= len(value.elts):
            return None
        if any(isinstance(part, ast.Starred) for part in value.elts):
            return None
        value = value.elts[step]
    return value


def unpacked(arguments: list[ast.expr]) -> list[ast.expr]:
    """The arguments, also where they are given as one tuple or list."""
    if len(arguments) == 1 and isinstance(arguments[0], (ast.Tuple, ast.List)):
        return arguments[0].elts
    return arguments


def number(node: ast.AST | None) -> int | None:
    """The integer that is written out."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def asked_axis(node: ast.AST | None) -> tuple[ast.expr, int] | None:
    """The tensor and the index in ``x.size(1)``, ``x.shape[1]``, ``x.size()[1]``, ``len(x)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[index], keywords=[]):
            place = number(index)
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[], keywords=[ast.keyword(arg="dim", value=index)]):
            place = number(index)
        case ast.Subscript(value=shape, slice=index) if (owner := shape_owner(shape)) is not None:
            tensor, place = owner, number(index)
        case ast.Call(func=ast.Name(id="len"), args=[tensor], keywords=[]):
            place = 0
        case _:
            return None
    return (tensor, place) if place is not None else None


def shape_owner(node: ast.expr | None) -> ast.expr | None:
    """The tensor whose whole shape an expression is, or the start of it: ``x.shape``, ``x.size()``, ``x.shape[:2]``."""
    match node:
        case ast.Attribute(value=tensor, attr="shape"):
            return tensor
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[], keywords=[]):
            return tensor
        case ast.Subscript(value=shape, slice=ast.Slice(lower=None, step=None)):
            return shape_owner(shape)
    return None
