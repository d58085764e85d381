"""Which attributes of modules are registered as buffers by their class, here or in another file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics


class RegisteredBuffers:
    """Tells of attributes whether they are buffers by what the class of their owner says, which no optimizer has."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def has(self, node: ast.expr) -> bool:
        """Whether a value is a buffer of an object whose class registers it: ``self.mean``, ``averaged.mean``."""
        if not isinstance(node, ast.Attribute):
            return False
        owner = self._semantics.facts.self_class(node.value)
        if owner is not None:
            return node.attr in self._in_file.get(owner, ())
        kind = self._semantics.kind(node.value)
        if isinstance(kind.definition, ast.ClassDef):
            return node.attr in self._in_file.get(kind.definition, ())
        return bool(kind.classes_elsewhere) and all(
            node.attr in self._semantics.elsewhere.lookup.buffers(found) for found in kind.classes_elsewhere
        )

    @cached_property
    def _in_file(self) -> dict[ast.ClassDef, set[str]]:
        """The names of the buffers that the classes of the file register."""
        found: dict[ast.ClassDef, set[str]] = {}
        for call, name in self._registered():
            owner = self._semantics.tree.enclosing_class(call)
            if owner is not None:
                found.setdefault(owner, set()).add(name)
        return found

    def _registered(self) -> Iterator[tuple[ast.Call, str]]:
        for call in self._semantics.facts.calls.get("register_buffer", ()):
            match call.args:
                case [ast.Constant(value=str(name)), *_]:
                    yield call, name
