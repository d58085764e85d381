"""New code that takes a tensor out of its graph."""

from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import Change, replace, without_attribute
from torchlint.fixes.code import method_call
from torchlint.model import Model

_CONVERSIONS = frozenset({"cpu", "cuda", "to", "float", "double", "half", "long", "clone", "contiguous", "squeeze"})

_COMPUTING = frozenset(f"torch.{name}" for name in ("clamp", "clip", "min", "max", "minimum", "maximum", "renorm", "sign"))
"""Functions that give a new tensor for their first argument."""


def detached(model: Model, data: cst.BaseExpression) -> Change:
    """``x.detach()`` in the place of an ``x.data``; ``x`` alone where it is detached right before or behind anyway."""
    assert isinstance(data, cst.Attribute)
    if is_detached_anyway(model, data):
        return without_attribute(data)
    return replace(data, method_call(data, "detach"))


def is_detached_anyway(model: Model, data: cst.Attribute) -> bool:
    """Whether ``.detach()`` stands before an ``x.data``, or behind it, with moves and casts between at most."""
    value = data.value
    while not _is_detach(value):
        match value:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(method))) if method in _CONVERSIONS:
                value = inner
            case _:
                return is_detached_behind(model, data)
    return True


def _is_detach(node: cst.CSTNode | None) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("detach"))):
            return True
    return False


def is_detached_behind(model: Model, node: cst.CSTNode) -> bool:
    """Whether ``.detach()`` follows on a node, behind items, moves and casts at most."""
    while not _is_detach(node):
        following = _followed_by(model, node)
        if following is None:
            return False
        node = following
    return True


def is_computed_from(model: Model, node: cst.CSTNode, whole: cst.CSTNode) -> bool:
    """Whether ``whole`` is ``node``, or what items, moves, arithmetic and functions of torch compute of it."""
    while node is not whole:
        following = _followed_by(model, node)
        if following is None:
            match model.parent(node):
                case cst.BinaryOperation() | cst.UnaryOperation() as operation:
                    following = operation
                case cst.Call(func=function, args=[cst.Arg(value=value), *_]) as call if (
                    value is node and model.name(function) in _COMPUTING
                ):
                    following = call
                case _:
                    return False
        node = following
    return True


def _followed_by(model: Model, node: cst.CSTNode) -> cst.CSTNode | None:
    """An item that is taken of a node, or the call of a method that moves or casts or detaches it."""
    match model.parent(node):
        case cst.Subscript(value=value) as item if value is node:
            return item
        case cst.Attribute(value=value, attr=cst.Name(method)) as attribute if value is node:
            call = model.parent(attribute)
            is_passed = method in _CONVERSIONS or method == "detach"
            return call if is_passed and isinstance(call, cst.Call) and call.func is attribute else None
    return None
