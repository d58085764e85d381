"""Attributes that their class asks to have no gradient: ``self.mask.requires_grad = False``."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import is_false


class FrozenAttributes:
    """Tells of attributes of ``self`` whether the class freezes what it keeps there, and nothing thaws it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._known: dict[tuple[ast.ClassDef, str], bool] = {}

    def are(self, node: ast.expr) -> bool:
        """Whether a value is what such an attribute holds: a leaf without a gradient, and without a graph."""
        if not isinstance(node, ast.Attribute):
            return False
        cls = self._semantics.facts.self_class(node.value)
        if cls is None:
            return False
        key = cls, node.attr
        if key not in self._known:
            slots = self._semantics.facts.slots(cls, node.attr)
            asked = [each for slot in slots for use in slot.uses if (each := self._asked(use)) is not None]
            self._known[key] = bool(asked) and not any(asked)
        return self._known[key]

    def _asked(self, use: ast.Attribute) -> bool | None:
        """Whether a use asks for a gradient, or for none; ``None`` where it does neither."""
        tree = self._semantics.tree
        match flag := tree.parent(use):
            case ast.Attribute(attr="requires_grad", ctx=ast.Store()):
                value = getattr(tree.parent(flag), "value", None)
                return not is_false(value)
            case ast.Attribute(attr="requires_grad_"):
                match tree.parent(flag):
                    case ast.Call(args=[ast.Constant(value=False)]):
                        return False
                return True
        return None
