"""Whether a reference to a function can become one to another that does the same: nobody asks which it is, or for its name."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.apis.spellings import Spellings

_BY_NAME = frozenset({"globals", "locals", "vars", "eval", "exec"})
"""Functions of Python that get at what a file imports by text."""
_NAMES = frozenset({"__name__", "__qualname__"})
_COMPARING = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In, ast.NotIn)


class References:
    """Tells of names and attributes of libraries who may notice that they are written otherwise."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_only_called(self, node: ast.expr, new: str) -> Fact:
        """Whether nobody notices that ``node`` refers to the function ``new``: it is called, or else is never looked at.

        The same of all uses of an import, which change together.
        """
        handed = [each for each in self._with_others(node) if not self._is_called(each)]
        if not handed:
            return CERTAIN
        if self._asks_for_names:
            return unknown(f"`{shortened(node)}` is handed around, and the code asks functions for their names")
        if any(map(self._is_compared, handed)) or self._is_handed_around(new):
            return unknown(f"`{shortened(node)}` is handed around, and the code may tell functions apart")
        return CERTAIN

    @cached_property
    def finds_no_imports(self) -> Fact:
        """Whether the names that the file imports are used by nothing but the names in the code."""
        found = sorted({node.id for node in self._tree.of_type(ast.Name) if node.id in _BY_NAME})
        return CERTAIN if not found else unknown(f"`{found[0]}` may use the name")

    def _with_others(self, node: ast.expr) -> list[ast.expr]:
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return [node, *(use for binding in bindings for use in binding.uses)]

    def _is_called(self, node: ast.expr) -> bool:
        parent = self._tree.parent(node)
        return isinstance(parent, ast.Call) and parent.func is node

    @cached_property
    def _asks_for_names(self) -> bool:
        """Whether the code reads what a function is called: ``fn.__name__`` is, the ``__name__`` of the file is none."""
        texts = (node.value for node in self._tree.of_type(ast.Constant))
        return any(node.attr in _NAMES for node in self._tree.of_type(ast.Attribute)) or any(
            text in _NAMES for text in texts if isinstance(text, str)
        )

    def _is_compared(self, node: ast.expr) -> bool:
        """Whether a function is compared as it is named."""
        parent = self._tree.parent(node)
        return isinstance(parent, ast.Compare) and any(isinstance(each, _COMPARING) for each in parent.ops)

    def _is_handed_around(self, name: str) -> bool:
        """Whether the code has a function otherwise than to call it, so that what becomes the same may be compared with it."""
        return any(not self._is_called(node) for node in self._semantics.of(Spellings).references({name}))
