"""Whether all that calls a function is in sight, and what that is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.observers.libraries import KEEPING_NOTHING
from torchlint.semantics.observers.programs import Programs


class Callers:
    """Tells whether the calls of a function that the file has are all that there are."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def fact(self, function: ast.AST | None) -> Fact:
        """Whether every call of ``function`` is in the file.

        So it is with a function within another one, with one whose name begins with an underscore, which says that it is
        nobody else's, and with those of a program that runs as soon as it is imported.
        """
        if not isinstance(function, FUNCTIONS):
            return unknown("the code may be run from anywhere")
        name = function.name
        is_special = name.startswith("__") and name.endswith("__")
        if function.decorator_list or (is_special and name != "__init__"):
            return unknown(f"`{name}` may be called from elsewhere")
        is_own = (name.startswith("_") and not is_special) or isinstance(self._tree.function(function), FUNCTIONS)
        if not is_own and not self._semantics.of(Programs).runs:
            return unknown(f"`{name}` may be called from elsewhere, between a forward and its backward")
        calls = list(self.mentions(function))
        if not calls:
            return unknown(f"nothing here shows when `{name}` is called")
        if None in calls:
            return unknown(f"`{name}` is handed on, and may be called anywhere")
        return CERTAIN

    def calls(self, function: Function) -> list[ast.Call]:
        """The calls of ``function`` in the file; ``model.apply(function)`` is one, that of a class its constructor's."""
        return [call for call in self.mentions(function) if call is not None]

    @cached_property
    def foreign(self) -> str:
        """The first name that the file imports from anything but `KEEPING_NOTHING` and uses; empty if there is none."""
        return next((binding.name for binding in self._foreign if binding.uses), "*" if self._imports_all else "")

    @cached_property
    def takes_values(self) -> bool:
        """Whether the file uses such a name as a value: not only calls it, or a function of it, or derives a class from it."""
        return self._imports_all or any(
            not self._is_called(use, isinstance(self._tree.parent(binding.node), ast.Import))
            for binding in self._foreign
            for use in binding.uses
        )

    def _is_called(self, use: ast.Name, is_package: bool) -> bool:
        node: ast.AST = use
        parent = self._tree.parent(use)
        if is_package and isinstance(parent, ast.Attribute):
            node, parent = parent, self._tree.parent(parent)
        return (isinstance(parent, ast.Call) and parent.func is node) or isinstance(parent, ast.ClassDef)

    def is_foreign_in_modules(self) -> bool:
        """Whether the modules that the file defines may have parts that are no modules of torch and of the file."""
        facts = self._semantics.facts
        uses = (use for binding in self._foreign for use in binding.uses)
        return self._imports_all or any(facts.classes and self._tree.enclosing_class(use) is not None for use in uses)

    @cached_property
    def _foreign(self) -> list[Binding]:
        found = (self._semantics.bindings.of(node) for node in self._tree.of_type(ast.alias))
        return [each for each in found if each is not None and each.imported.partition(".")[0] not in KEEPING_NOTHING]

    @cached_property
    def _imports_all(self) -> bool:
        """Whether the file imports whatever there is of a module that is none of `KEEPING_NOTHING`."""
        imports = [node for node in self._tree.of_type(ast.ImportFrom) if isinstance(node, ast.ImportFrom)]
        return any(
            node.names[0].name == "*" and (node.level or (node.module or "").partition(".")[0] not in KEEPING_NOTHING)
            for node in imports
        )

    def mentions(self, function: Function) -> Iterator[ast.Call | None]:
        """The calls of a function; ``None`` for every other mention of it."""
        owner = self._tree.parent(function)
        nodes: list[ast.expr]
        if isinstance(owner, ast.ClassDef) and function.name != "__init__":
            nodes = [each for each in self._attributes.get(function.name, ())]
        else:
            binding = self._semantics.bindings.of(owner if isinstance(owner, ast.ClassDef) else function)
            nodes = [use for use in binding.uses if not self._is_tested(use)] if binding is not None else []
        for node in nodes:
            parent = self._tree.parent(node)
            match parent:
                case ast.Call(func=called) if called is node:
                    yield parent
                case ast.Call(func=ast.Attribute(attr="apply"), args=[only], keywords=[]) if only is node:
                    yield parent
                case _:
                    yield None

    def _is_tested(self, use: ast.Name) -> bool:
        """Whether a class is named to ask what something is, or to find its base: ``super(Net, self)``."""
        parent = self._tree.parent(use)
        called = parent.func if isinstance(parent, ast.Call) and use in parent.args else None
        return isinstance(called, ast.Name) and called.id in ("isinstance", "super", "issubclass")

    @cached_property
    def _attributes(self) -> dict[str, list[ast.Attribute]]:
        found: dict[str, list[ast.Attribute]] = {}
        for node in self._tree.of_type(ast.Attribute):
            found.setdefault(node.attr, []).append(node)
        return found
