"""Code that asks which version of a library it runs on, and then uses what that one has."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics

_VERSION = re.compile(r"version|_?(torch|pt|pytorch)_?(ge|lt|gt|le)?_?\d|is_(old|new|legacy)|hasattr", re.IGNORECASE)
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "TypeError", "NameError", "Exception"})


def asks_for_version(node: ast.AST, semantics: Semantics) -> bool:
    """Whether ``node`` stands behind a question for the version, or where what is newer turned out to be missing."""
    for parent in semantics.tree.ancestors(node):
        match parent:
            case ast.If(test=test) | ast.IfExp(test=test) if _VERSION.search(_names(test)):
                return True
            case ast.ExceptHandler(type=caught) if caught is None or not _MISSING.isdisjoint(_names(caught).split()):
                return True
    return False


def _names(node: ast.expr) -> str:
    """The names that an expression is made of."""
    names = [part for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
    return " ".join(name.id if isinstance(name, ast.Name) else name.attr for name in names)
