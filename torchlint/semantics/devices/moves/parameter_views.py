"""Views of a module's own parameters: they show the memory that these have when they are taken."""

from __future__ import annotations

import ast

from torchlint.semantics import Grad, Semantics

_VIEWS = frozenset(
    {"t", "T", "mT", "transpose", "permute", "view", "reshape", "unsqueeze", "squeeze", "flatten", "swapaxes", "movedim"}
)
"""Methods and attributes whose result shares the memory that a tensor has at that time."""


class ParameterViews:
    """Tells of values of which parameter they are a view."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def viewed(self, value: ast.expr) -> ast.expr | None:
        """The parameter of the module itself, or of a layer of it, that a value is a view of: ``self.fc.weight.t()``; ``None``
        where it is none.
        """
        current = value
        while True:
            match current:
                case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _VIEWS:
                    is_of_torch = self._semantics.qualified_name(inner) == "torch"
                    current = current.args[0] if is_of_torch and current.args else inner
                case ast.Attribute(value=inner, attr="T" | "mT"):
                    current = inner
                case _:
                    break
        root = current
        while isinstance(root, ast.Attribute):
            root = root.value
        is_own = isinstance(current, ast.Attribute) and self._semantics.facts.self_class(root) is not None
        return current if current is not value and is_own and self._semantics.kind(current).grad is Grad.LEAF else None
