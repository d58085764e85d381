"""Attributes that the file itself gives a meaning."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import last_name

_SETTINGS = re.compile(
    r"(^|_)(args?|opts?|options?|cfg|conf|config|configuration|settings|hparams|params|namespace|flags)$", re.IGNORECASE
)
"""What a bag of settings is called."""


class OwnAttributes:
    """Tells which attributes are the file's own: those of its classes, its options, what it reads."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def gives_meaning(self, owner: ast.expr, name: str) -> bool:
        """Whether the file gives ``owner.name`` a meaning of its own."""
        facts = self._semantics.facts
        own_class = facts.self_class(owner)
        if own_class is not None:
            function = self._semantics.tree.function(owner)
            constructed = isinstance(function, ast.FunctionDef) and function.name == "__init__"
            return constructed or not facts.is_module(own_class) or self._is_of_class(own_class, name)
        kind = self._semantics.kind(owner)
        if kind.type is Type.MODULE and isinstance(kind.definition, ast.ClassDef):
            return self._is_of_class(kind.definition, name)
        if kind.is_tensor or kind.type is Type.MODULE:
            return False
        return kind.known or name in self._meaningful or _SETTINGS.search(last_name(owner)) is not None

    def _is_of_class(self, node: ast.ClassDef, name: str) -> bool:
        """Whether a class, or a base of it, reads the attribute or defines it in its body."""
        facts = self._semantics.facts
        return facts.method(node, name) is not None or any(slot.uses or slot.class_values for slot in facts.slots(node, name))

    @cached_property
    def _meaningful(self) -> set[str]:
        """Names that are read as attributes somewhere in the file, defined by its classes, or options of its command line."""
        names: set[str] = set()
        tree = self._semantics.tree
        names.update(node.attr for node in tree.of_type(ast.Attribute) if isinstance(node.ctx, ast.Load))
        names.update(node.name for node in tree.of_type(ast.FunctionDef))
        for call in tree.of_type(ast.Call):
            match call:
                case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_]):
                    names.add(name)
                case ast.Call(func=ast.Attribute(attr="add_argument"), args=[ast.Constant(value=str(option)), *_]):
                    names.add(option.lstrip("-").replace("-", "_"))
        for found in self._semantics.facts.classes.values():
            names.update(found.slots)
        return names
