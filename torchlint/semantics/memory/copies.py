"""What makes a copy of a tensor or an array, so that it shares its memory no more."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, Type
from torchlint.semantics.memory.links import Links

_CONVERSIONS = frozenset({"numpy", "asarray", "from_numpy", "as_tensor"})


class Copies:
    """Tells how values are copied."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._links = semantics.of(Links)

    def methods(self, node: ast.expr, *, detached: bool = False) -> tuple[str, ...]:
        """The methods that make a copy of a value, each called on what the one before gives; ``x.data`` counts as ``x``.

        A copy of a tensor has no graph. ``detached`` tells that the value has none, whatever its expression.
        """
        if isinstance(node, ast.Attribute) and node.attr == "data":
            return ("detach", "clone")
        links = self._links.chain(node)
        conversions = [link.name for link in links if link.name in _CONVERSIONS]
        if self._semantics.kind(node).type is Type.ARRAY or conversions[:1] == ["numpy"]:
            return ("copy",)
        if detached or any(link.name in ("detach", "data") for link in links):
            return ("clone",)
        return ("detach", "clone")
