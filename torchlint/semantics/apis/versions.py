"""Code that asks which version of a library it runs on, and then uses what that one has."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics

_VERSION = re.compile(
    r"__version__|\b(?>\w*?torch)\w*(?:version|\d)|\bpt\w*(?:version|\d)|\b(?>\w*?version)\w*torch"
    r"|is_(?:old|new|legacy)_?torch",
    re.IGNORECASE,
)
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "TypeError", "NameError", "Exception"})


class Versions:
    """Tells which code is there for one version of a library."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are_asked_for(self, node: ast.AST) -> bool:
        """Whether ``node`` stands behind a question for the version, or where what is newer turned out to be missing."""
        for parent in self._semantics.tree.ancestors(node):
            match parent:
                case ast.If(test=test) | ast.IfExp(test=test) if _VERSION.search(_names(test)) or self._asks_torch(test):
                    return True
                case ast.ExceptHandler(type=caught) if caught is None or not _MISSING.isdisjoint(_names(caught).split()):
                    return True
        return False

    def _asks_torch(self, test: ast.expr) -> bool:
        """Whether a test is about what a module of torch has: ``hasattr(nn.init, "normal_")``."""
        calls = [part for part in ast.walk(test) if isinstance(part, ast.Call) and _names(part.func) == "hasattr" and part.args]
        return any((self._semantics.qualified_name(call.args[0]) or "").startswith("torch") for call in calls)


def _names(node: ast.expr) -> str:
    """The names that an expression is made of."""
    names = [part for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
    return " ".join(name.id if isinstance(name, ast.Name) else name.attr for name in names)
