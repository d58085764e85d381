"""Where the code of a file asks for the graph of what a function gives it, or does what a graph forbids."""

from __future__ import annotations

import ast

from torchlint.project.programs import UNREADABLE, parsed
from torchlint.semantics.code.tree import FUNCTIONS, given_to, last_name

_TELLING = frozenset(
    {"requires_grad", "grad_fn", "is_leaf", "retains_grad", "backward", "register_hook", "retain_grad", "numpy"}
)
"""Attributes and methods that tell of a graph, need one, or are refused where there is one."""
_REFUSING = frozenset({"deepcopy", "asarray", "array", "grad"})
"""Functions of which the same is so."""


def asks_for_graphs(name: str, text: bytes) -> bool:
    """Whether code asks for the graph of the whole that a function of that name gives, where it calls it or by a variable."""
    if name.encode("utf-8", "surrogatepass") not in text:
        return False
    if not any(word.encode() in text for word in (*_TELLING, *_REFUSING)):
        return False
    try:
        scopes = (node for node in ast.walk(parsed(text)) if isinstance(node, (ast.Module, *FUNCTIONS)))
        return any(_asks(scope, name) for scope in scopes)
    except UNREADABLE:
        return False


def _asks(scope: ast.AST, name: str) -> bool:
    """Whether a function, or what stands outside of all, does so."""
    nodes = list(_own_nodes(scope))
    results: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=variable)], value=ast.Call(func=function)) if last_name(function) == name:
                results.add(variable)
    for node in nodes:
        match node:
            case ast.Attribute(value=value, attr=attribute, ctx=ast.Load()) if attribute in _TELLING:
                if _is_result(value, name, results):
                    return True
            case ast.Call(func=function) if last_name(function) in _REFUSING:
                if any(_is_result(each, name, results) for each in given_to(node)):
                    return True
    return False


def _own_nodes(scope: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop()
        found.append(node)
        if not isinstance(node, FUNCTIONS):
            pending.extend(ast.iter_child_nodes(node))
    return found


def _is_result(value: ast.expr, name: str, results: set[str]) -> bool:
    """Whether a value is what the function has given, moved or computed with perhaps, and not detached."""
    match value:
        case ast.Name(id=variable):
            return variable in results
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method not in ("detach", "item", name):
            return _is_result(owner, name, results)
        case ast.Call(func=function):
            return last_name(function) == name
        case ast.BinOp(left=left, right=right):
            return _is_result(left, name, results) or _is_result(right, name, results)
    return False
