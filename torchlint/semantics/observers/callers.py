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
from torchlint.semantics.observers.sight import Sight


class Callers:
    """Tells whether the calls of a function that the file has are all that there are."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def fact(self, function: ast.AST | None) -> Fact:
        """Whether every call of ``function`` is in the file.

        So it is with a function within another one, with one whose name begins with an underscore, which says that it is
        nobody else's, and with those of a program that runs as soon as it is imported; of any other function and class of the
        top level where the project's other files are in sight, and none of them uses it.
        """
        if not isinstance(function, FUNCTIONS):
            return unknown("the code may be run from anywhere")
        name = function.name
        is_special = name.startswith("__") and name.endswith("__")
        if function.decorator_list or (is_special and name != "__init__"):
            return unknown(f"`{name}` may be called from elsewhere")
        is_inner = isinstance(self._tree.function(function), FUNCTIONS)
        is_own = is_inner or (name.startswith("_") and not is_special) or self._semantics.of(Programs).runs
        may_be_asked = is_own or self._may_be_asked(function)
        calls = list(self.mentions(function)) if may_be_asked else []
        if not is_own and not calls:
            return unknown(f"`{name}` may be called from elsewhere, between a forward and its backward")
        if not calls:
            return unknown(f"nothing here shows when `{name}` is called")
        if None in calls:
            return unknown(f"`{name}` is handed on, and may be called anywhere")
        return CERTAIN if is_inner else self._unused_elsewhere(function, is_own=is_own)

    def _may_be_asked(self, function: Function) -> bool:
        """Whether a project can tell who uses a function: one of the top level, or the constructor of a class there."""
        owner = self._tree.parent(function)
        if not self._semantics.of(Sight).is_known:
            return False
        if not isinstance(owner, ast.ClassDef):
            return owner is self._tree.module
        is_plain = self._tree.parent(owner) is self._tree.module and not owner.decorator_list and not owner.keywords
        return function.name == "__init__" and is_plain

    def _unused_elsewhere(self, function: Function, *, is_own: bool) -> Fact:
        """Whether no other file uses a function; one that is the file's ``own`` is taken to be so unless a file does."""
        owner = self._tree.parent(function)
        sight = self._semantics.of(Sight)
        if isinstance(owner, ast.ClassDef) and function.name != "__init__":
            return CERTAIN
        name = owner.name if isinstance(owner, ast.ClassDef) else function.name
        if not is_own and isinstance(owner, ast.ClassDef) and any(map(_makes_its_own, ast.walk(owner))):
            return unknown(f"`{name}` makes objects of its own class")
        if is_own:
            user = sight.user(name)
            return unknown(f"`{name}` may be used in `{user}`, too") if user else CERTAIN
        return sight.of(name, is_class=isinstance(owner, ast.ClassDef))

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


def _makes_its_own(node: ast.AST) -> bool:
    """Whether a class makes an object of what it is called on: ``cls()``, ``type(self)()``, ``self.__class__()``."""
    match node:
        case ast.Name(id="cls" | "__class__") | ast.Attribute(attr="__class__" | "__new__"):
            return True
        case ast.Call(func=ast.Call(func=ast.Name(id="type"))):
            return True
    return False
