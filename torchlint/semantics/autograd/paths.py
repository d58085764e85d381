"""The ways on which a value hangs on the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchlint.semantics.code.names import Names
from torchlint.semantics.code.tree import Function, walk_body

_CUTTING_METHODS = frozenset({"item", "detach", "tolist", "numpy", "size", "dim", "argmax", "numel", "backward", "append"})
_CUTTING_CALLS = frozenset({"builtins.float", "builtins.int", "builtins.len", "builtins.str", "builtins.print"})
_NEW_TENSORS = re.compile(r"torch\.\w+_like|torch\.(zeros|ones|full|empty|arange|argmax|argmin|is_tensor|numel)")
"""Functions of torch that take another tensor's form, or places in it, and nothing of its graph."""
_CUTTING_ATTRIBUTES = frozenset({"data", "shape", "grad", "device", "dtype"})


def connected(root: ast.expr, names: Names, stops_at: Callable[[ast.Call], bool] | None = None) -> Iterator[ast.expr]:
    """The parts of an expression through which its value hangs on the graph: not below ``.item()`` and its like.

    Nor are those below the calls that it ``stops_at``.
    """
    stack: list[ast.AST] = [root]
    while stack:
        node = stack.pop()
        match node:
            case ast.Attribute(attr=attr) if attr in _CUTTING_ATTRIBUTES:
                continue
            case ast.Call(func=ast.Attribute(attr=method)) if method in _CUTTING_METHODS:
                continue
            case ast.Call(func=function) if _cuts(names.qualified(function) or ""):
                continue
            case ast.Compare() | ast.Lambda():
                continue
            case ast.Call() if stops_at is not None and stops_at(node):
                yield node
                continue
            case ast.IfExp(body=body, orelse=orelse):
                stack.extend((orelse, body))
                yield node
                continue
            case ast.Subscript(value=value):
                stack.append(value)
                yield node
                continue
        if isinstance(node, ast.expr):
            yield node
        stack.extend(reversed(list(ast.iter_child_nodes(node))))


def _cuts(name: str) -> bool:
    """Whether what a function gives has no graph: a number, a text, an array, a tensor that is as large as another one."""
    return name in _CUTTING_CALLS or name.startswith("numpy.") or _NEW_TENSORS.fullmatch(name) is not None


def evaluates(function: Function) -> bool:
    """Whether a function puts a module in evaluation mode and back-propagates nothing."""
    attributes = {
        part.func.attr
        for part in walk_body(function.body)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
    }
    return "eval" in attributes and not attributes & {"backward", "manual_backward"}
