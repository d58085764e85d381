"""Statements that stand there for the exception they raise."""

from __future__ import annotations

import ast

from torchlint.semantics.code.tree import FUNCTIONS, TRIES, Tree, last_name

_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress", "warns", "assertWarns", "assertWarnsRegex"})
"""What awaits an exception or a warning, of a block or of a function that it is given: of pytest, unittest and contextlib."""


def is_tried(tree: Tree, statement: ast.stmt) -> bool:
    """Whether a statement may be there for the error or warning that it causes: alone in a ``try``, or awaited by a test."""
    return _is_expected(tree, statement, alone=True)


def is_awaited(tree: Tree, node: ast.AST) -> bool:
    """Whether an error that ``node`` raises would be caught in its function, whatever else stands in the ``try`` or block."""
    return _is_expected(tree, node, alone=False)


def _is_expected(tree: Tree, node: ast.AST, *, alone: bool) -> bool:
    """Whether a block around ``node`` in its function is there for exceptions; ``alone``: with nothing else in its ``try``."""
    child = node
    for parent in tree.ancestors(node):
        match parent:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                if any(_last_name(item.context_expr) in _EXPECTING for item in items):
                    return True
            case ast.Call(func=function, args=[_, *called]) if child in called and isinstance(child, ast.Lambda):
                if last_name(function) in _EXPECTING:
                    return True
            case _ if isinstance(parent, FUNCTIONS):
                return False
            case _ if isinstance(parent, TRIES) and child in parent.body and parent.handlers:
                if len(parent.body) == 1 or not alone:
                    return True
        child = parent
    return False


def _last_name(context: ast.expr) -> str:
    return last_name(context.func if isinstance(context, ast.Call) else context)
