"""Where the code of a file calls methods by a name: with autograd on, or where a block or a decorator turns it off."""

from __future__ import annotations

import ast

from torchlint.project.programs import UNREADABLE, parsed
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.summaries.shown.unrecorded import turns_off


def calls_so(topic: str, text: bytes) -> bool:
    """Whether code calls a method of the name that a topic ends with: with autograd on, as far as is seen there, where it does
    anything else with it, too; or where autograd is off.
    """
    asked, _, name = topic.partition(": ")
    return (asked == "recorded calls") in _calls(text, name)


def _calls(text: bytes, name: str) -> set[bool]:
    """Of each place that speaks of a method whether it is called there with autograd on, or may be."""
    if name.encode("utf-8", "surrogatepass") not in text:
        return set()
    try:
        module = parsed(text)
    except UNREADABLE:
        return {True}
    found: set[bool] = set()
    pending: list[tuple[ast.AST, bool, str]] = [(module, False, "")]
    while pending:
        node, off, within = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                outside = [*node.decorator_list, node.args]
                pending += [(each, off, within) for each in outside]
                off, within = any(map(turns_off, node.decorator_list)), node.name
                pending += [(each, off, within) for each in node.body]
                continue
            case ast.Lambda():
                off = False  # it may be called later
            case ast.With() | ast.AsyncWith():
                pending += [(item, off, within) for item in node.items]
                off = _is_off(node, off)
                pending += [(each, off, within) for each in node.body]
                continue
            case ast.Call(func=ast.Attribute(value=owner, attr=method) as function) if method == name:
                if not (within == name and _is_super(owner)):
                    found.add(not off)
                pending += [(each, off, within) for each in ast.iter_child_nodes(node) if each is not function]
                pending.append((owner, off, within))
                continue
            case ast.Attribute(attr=method) if method == name:
                found.add(True)  # it is handed on, or replaced
            case ast.Constant(value=str(said)) if said == name:
                found.add(True)
        pending += [(each, off, within) for each in ast.iter_child_nodes(node)]
    return found


def _is_off(block: ast.With | ast.AsyncWith, off: bool) -> bool:
    """Whether autograd is off in a block, where it is ``off`` around it, or not."""
    for item in block.items:
        context = item.context_expr
        name = last_name(context.func) if isinstance(context, ast.Call) else ""
        off = turns_off(context) or (off and name not in ("enable_grad", "set_grad_enabled"))
    return off


def _is_super(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Call) and last_name(owner.func) == "super"
