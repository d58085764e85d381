"""What becomes of a ``.data`` that is read, for the rule about it and for those whose fixes take it along."""

from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import method_call
from torchlint.fixes.detaching import is_detached_anyway
from torchlint.model import Model


def mended_read(model: Model, node: cst.Attribute) -> CodeFix:
    """Leaves `x` of an `x.data`, or `x.detach()` where that makes a difference."""
    tensor = model.shown(node).removesuffix(".data")  # with the parentheses that it needs
    is_tensor = model.kinds.is_tensor(node.value)
    itself, dropped = f"Use `{tensor}` itself", replace(node, node.value)
    if model.memory.reads_form(node) or _is_detached(node.value) or is_without_graph(model, node):
        return fix(itself, dropped, rests_on=is_tensor)
    if is_needless(model, node):
        return fix(itself, dropped, rests_on=is_tensor & model.autograd.is_graphless(node.value))
    rests_on = is_tensor & model.memory.is_shared_alike(node)
    if is_detached_anyway(model, node):
        return fix(itself, dropped, rests_on=rests_on)
    return fix(f"Use `{tensor}.detach()`", replace(node, method_call(node, "detach")), rests_on=rests_on)


def is_needless(model: Model, node: cst.Attribute) -> bool:
    """Whether only values are read, of what has no graph as far as the file shows; gradients may have one."""
    match node.value:
        case cst.Attribute(attr=cst.Name("grad")):
            return False
    return model.memory.goes_into_new_value(node) and model.autograd.seems_graphless(node.value)


def is_without_graph(model: Model, node: cst.Attribute) -> bool:
    """Whether `.data` can just go: only values go into what is made of it, which has no graph anyway."""
    if not model.memory.goes_into_new_value(node):
        return False
    if model.autograd.is_graphless(node.value).is_certain:
        return True
    return model.autograd.is_surely_off(node).is_certain and not model.autograd.keeps_cast(node)


def _is_detached(value: cst.BaseExpression) -> bool:
    """Whether `.detach()` stands there already."""
    match value:
        case cst.Call(func=cst.Attribute(attr=cst.Name("detach"))):
            return True
    return False
