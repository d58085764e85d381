"""Imports of old APIs that nothing in their file uses any more."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from functools import cached_property

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.apis.deprecations import symbols
from torchlint.semantics.code.names import canonical
from torchlint.semantics.code.tree import TRIES

_SOME, _MANY = 3, 9
"""How many other unused imports make a file one that exists for its imports: if it defines nothing, and if it does."""


class UnusedImports:
    """Tells which imports are left over, and not there for others or to see if they fail."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def deprecated(self) -> dict[ast.alias, str]:
        """The unused imports of what torch and its libraries deprecate or have removed, each with its full name."""
        return {alias: canonical(binding.imported) for alias, binding in self._of(symbols())}

    def of(self, name: str) -> list[ast.alias]:
        """The unused imports of one API, by its full name."""
        return [alias for alias, _ in self._of({name})]

    def is_unused(self, node: ast.AST) -> bool:
        """Whether a name that is imported, or assigned to, is used nowhere, not even in a string that is code."""
        binding = self._semantics.bindings.of(node)
        if binding is None or binding.uses or self._is_named_in_strings(binding.name):
            return False
        return not any(map(_is_deleted, binding.scope.bindings[binding.name]))

    def _of(self, names: Collection[str]) -> list[tuple[ast.alias, Binding]]:
        found: list[tuple[ast.alias, Binding]] = []
        for statement in self._semantics.tree.of_type(ast.ImportFrom):
            if statement.level or isinstance(self._semantics.tree.parent(statement), (*TRIES, ast.ExceptHandler)):
                continue  # another module's, or there to see if it fails
            for alias in statement.names:
                binding = self._semantics.bindings.of(alias)
                if binding is not None and binding.form is Form.IMPORT and canonical(binding.imported) in names:
                    if self.is_unused(alias):
                        found.append((alias, binding))
        return [] if found and not self._is_run and self._is_import_hub(names) else found

    @cached_property
    def _is_run(self) -> bool:
        """Whether the file is a program that is run: it loops at its top level, reads its arguments there, or asks if it is."""
        return any(map(_runs, self._semantics.tree.module.body))

    def _is_import_hub(self, names: Collection[str]) -> bool:
        """Whether the file imports more than it uses, ``names`` not counted: others import everything from such a module."""
        every = [binding for found in self._semantics.bindings.module.bindings.values() for binding in found]
        imports = [each for each in every if each.form is Form.IMPORT and canonical(each.imported) not in names]
        unused = [binding for binding in imports if not binding.uses]
        defines = any(binding.form in (Form.FUNCTION, Form.CLASS) for binding in every)
        return len(unused) > (_MANY if defines else _SOME) and len(unused) > len(imports) / 2

    def _is_named_in_strings(self, name: str) -> bool:
        """Whether strings that are code, such as those of ``__all__``, name it."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return any(word.search(text) and _is_expression(text) for text in self._strings)

    @cached_property
    def _strings(self) -> set[str]:
        return {node.value for node in self._semantics.tree.of_type(ast.Constant) if isinstance(node.value, str)}


def _runs(statement: ast.stmt) -> bool:
    match statement:
        case ast.For() | ast.While() | ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr="parse_args"))):
            return True
    return False


def _is_deleted(binding: Binding) -> bool:
    """Whether a binding is that of ``del x``, which takes the name to be there."""
    return isinstance(binding.node, ast.Name) and isinstance(binding.node.ctx, ast.Del)


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True
