"""New code that takes a tensor out of its graph."""

from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import Change, replace, without_attribute
from torchlint.fixes.code import method_call
from torchlint.model import Model

_CONVERSIONS = frozenset({"cpu", "cuda", "to", "float", "double", "half", "long", "clone", "contiguous", "squeeze"})


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
    """Whether ``.detach()`` follows on a node, behind moves and casts at most."""
    while True:
        attribute = model.parent(node)
        call = model.parent(attribute) if isinstance(attribute, cst.Attribute) and attribute.value is node else None
        if not isinstance(call, cst.Call) or not isinstance(attribute, cst.Attribute) or call.func is not attribute:
            return False
        if _is_detach(call):
            return True
        if attribute.attr.value not in _CONVERSIONS:
            return False
        node = call
