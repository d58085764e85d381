"""Attributes that may be given other modules than their class gives them: by name, through dicts, or in other files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import given_to, is_self, last_name
from torchlint.semantics.summaries.lookup import ClassElsewhere

_REGISTERING = frozenset({"setattr", "add_module", "register_module", "set_submodule", "__setattr__", "delattr"})
_OF_ANYTHING = ("setattr", "delattr", "set_submodule", "__setattr__")
"""What changes a module that another function has made as well."""
_OF_SELF = frozenset({"add_module", "register_module"})
_DICTS = frozenset({"__dict__", "_modules"})
_CHANGING = frozenset({"update", "setdefault", "pop", "popitem", "clear", "__setitem__"})
_CHILDREN = frozenset({"children", "named_children", "modules", "named_modules", "get_submodule"})
_REGISTRIES = re.compile("regist", re.IGNORECASE)
_DEEPEST = 3
"""So many classes that derive from one another are asked for."""


class ReplacedAttributes:
    """Tells of the attributes of a file's classes who may give them other values."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._bindings = semantics.bindings
        self._facts = semantics.facts
        self._of_class: dict[ast.ClassDef, bool] = {}
        self._elsewhere: dict[tuple[str, frozenset[ast.ClassDef]], bool] = {}

    def may_be_here(self, name: str, classes: Iterable[ast.ClassDef]) -> bool:
        """Whether the file may replace an attribute of some classes, beside what their methods store to ``self``."""
        if name in self._stored_by_others or name in self._named or self.may_be_named(name):
            return True
        return any(map(self._is_open, classes))

    def may_be_named(self, name: str) -> bool:
        """Whether the file sets something by names that are not written out, which ``name`` may be one of."""
        return any(name.startswith(start) and name.endswith(end) for start, end in self._free)

    @cached_property
    def are_items(self) -> bool:
        """Whether the file changes the items of modules that it comes to through those around: ``child[0] = layer``."""
        if self.may_be_named("0"):
            return True
        stores = (each for each in self._tree.of_type(ast.Subscript) if not isinstance(each.ctx, ast.Load))
        return any(isinstance(each.value, ast.Name) and self._is_child(each.value) for each in stores)

    def may_be_elsewhere(self, name: str, classes: Iterable[ast.ClassDef]) -> bool:
        """Whether another file of the project may replace an attribute of some classes, or one of an heir or a base."""
        key = name, frozenset(classes)
        if key not in self._elsewhere:
            self._elsewhere[key] = self._are_stored_elsewhere(name, key[1])
        return self._elsewhere[key]

    def _are_stored_elsewhere(self, name: str, classes: Iterable[ast.ClassDef]) -> bool:
        elsewhere = self._semantics.elsewhere
        if not elsewhere.is_in_project:
            return False
        if elsewhere.speaks_of(f"stores: {name}") is True:
            return True
        family = sorted({each for one in classes for each in (*self._heirs(one.name), *self._bases(one))})
        return bool(family) and elsewhere.speaks_of(f"stores: {name}|{'|'.join(family)}") is True

    def _heirs(self, name: str, file: str = "", depth: int = _DEEPEST) -> Iterator[str]:
        callers = self._semantics.elsewhere.callers
        for heir in callers.heirs(name, file) if callers is not None and depth else ():
            yield heir.name
            yield from self._heirs(heir.name, heir.file, depth - 1)

    def _bases(self, cls: ast.ClassDef) -> Iterator[str]:
        elsewhere = self._semantics.elsewhere
        for base in cls.bases:
            found = elsewhere.target(base)
            if isinstance(found, ClassElsewhere):
                yield from (each.name for each in elsewhere.lookup.bases(found) if isinstance(each, ClassElsewhere))

    # --- in the file -------------------------------------------------------------------------------------------------

    @cached_property
    def _stored_by_others(self) -> set[str]:
        """The attributes that the file gives to what is not the instance of the class around, in whatever way."""
        stores = (node for node in self._tree.of_type(ast.Attribute) if not isinstance(node.ctx, ast.Load))
        return {node.attr for node in stores if self._facts.self_class(node.value) is None}

    @cached_property
    def _named(self) -> set[str]:
        """What is said in strings to functions that register or set something by its name, or to a module's own dicts."""
        calls = (call for name in _REGISTERING for call in self._facts.calls.get(name, ()))
        values = [value.value for call in calls for value in given_to(call) if isinstance(value, ast.Constant)]
        values += [each.value for each in self._keys if isinstance(each, ast.Constant)]
        return {value.rpartition(".")[2] for value in values if isinstance(value, str)}

    @cached_property
    def _free(self) -> set[tuple[str, str]]:
        """What the names start and end with that are computed, and set on any object."""
        calls = (call for name in _OF_ANYTHING for call in self._facts.calls.get(name, ()))
        names = (each for call in calls if (each := _name_given(call)) is not None)
        return {_shape(each) for each in (*names, *self._keys) if not isinstance(each, ast.Constant)}

    @cached_property
    def _keys(self) -> list[ast.expr]:
        """The keys that are stored to dicts of attributes; one that is no string for all that is not told."""
        dicts: list[ast.expr] = [each for each in self._tree.of_type(ast.Attribute) if each.attr in _DICTS]
        dicts += self._facts.calls.get("vars", ())
        return [key for each in dicts for key in self._stored_to(each)]

    def _stored_to(self, attributes: ast.expr) -> Iterator[ast.expr]:
        match self._tree.parent(attributes):
            case ast.Subscript(slice=key, ctx=ast.Store() | ast.Del()):
                yield key
            case ast.Attribute(attr=method) if method in _CHANGING:
                yield attributes
            case ast.Assign() if isinstance(attributes, ast.Attribute):
                yield attributes

    def _is_child(self, name: ast.Name) -> bool:
        """Whether a name stands for a module that another one was asked for."""
        values = [each.value for each in self._bindings.reaching(name) if each.form in (Form.LOOP, Form.ASSIGNMENT)]
        parts = (part for value in values if value is not None for part in ast.walk(value))
        return any(isinstance(part, ast.Call) and last_name(part.func) in _CHILDREN for part in parts)

    def _is_open(self, definition: ast.ClassDef) -> bool:
        if definition not in self._of_class:
            is_decorated = any(map(self._may_replace, definition.decorator_list))
            self._of_class[definition] = is_decorated or _gives_freely(definition)
        return self._of_class[definition]

    def _may_replace(self, decorator: ast.expr) -> bool:
        """Whether a decorator may make another class of one: all but those that enter it into a registry."""
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        return self._facts.definition(called) is not None or not _REGISTRIES.search(ast.unparse(called))


def _gives_freely(definition: ast.ClassDef) -> bool:
    """Whether a class registers modules by names that are not written out, or has other ways to give attributes."""
    for part in ast.walk(definition):
        match part:
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[name, *_]) if is_self(owner):
                if method in _OF_SELF and not isinstance(name, ast.Constant):
                    return True
            case ast.Attribute(attr="__dict__" | "_modules") | ast.FunctionDef(name="__getattr__" | "__getattribute__"):
                return True
    return False


def _name_given(call: ast.Call) -> ast.expr | None:
    """The name by which a call sets something; the call itself where that is not told."""
    match call:
        case ast.Call(func=ast.Name(), args=[_, name, *_]):
            return name
        case ast.Call(func=ast.Attribute(attr="__setattr__", value=ast.Name(id=owner)), args=[_, name, _]) if owner != "self":
            return name
        case ast.Call(func=ast.Attribute(), args=[name, *_]):
            return name
    return call


def _shape(name: ast.expr) -> tuple[str, str]:
    """What the names start and end with that an expression gives, as far as that is written: ``f"layer{i}"``."""
    match name:
        case ast.JoinedStr(values=[first, *_, last]) | ast.JoinedStr(values=[first as last]):
            return _written(first), _written(last)
        case ast.BinOp(left=ast.Constant(value=str(start)), op=ast.Add()):
            return start, ""
        case ast.BinOp(left=ast.Constant(value=str(start)), op=ast.Mod()):
            return start.partition("%")[0], ""
    return "", ""


def _written(part: ast.expr) -> str:
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""
