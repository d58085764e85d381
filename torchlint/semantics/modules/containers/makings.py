"""What makes the containers of modules and parameters that have no `forward`: followed through names, attributes and loops."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeAlias

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import given_to, is_none, last_name
from torchlint.semantics.modules.lost_selves import GIVE_MODULE

CONTAINERS = tuple(f"torch.nn.{name}" for name in ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict"))
_SPELLINGS = {
    **{name: name for name in CONTAINERS},
    **{name.replace("torch.nn.", "torch.nn.modules.container."): name for name in CONTAINERS},
    **{name.replace("torch.nn.", "torch.nn.modules."): name for name in CONTAINERS},
}
_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.ModuleDict"})
_PLAIN_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic"})
_RUNNING = frozenset({"forward", "__call__", "_call_impl", "_wrapped_call_impl", "__getattr__", "__getattribute__", "__new__"})
"""What a class can have so that it is called in a way of its own."""
_REGISTERING = frozenset({"setattr", "add_module", "register_module", "__setattr__", "delattr"})
_CHANGING = frozenset(
    {"append", "insert", "extend", "pop", "popitem", "clear", "update", "add_module", "register_module", "_modules"}
)
_ITEMS = {"values": (), "items": (1,)}
_DEEP = 8

Makings: TypeAlias = "frozenset[ast.Call] | None"
"""The calls that make a container, one of which it is; ``None`` where it may be something else."""


class Containers:
    """Tells of expressions of one file whether they give a container without a `forward`."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._bindings = semantics.bindings
        self._facts = semantics.facts

    def makings(self, node: ast.expr, depth: int = 0) -> Makings:
        """What makes the container that an expression gives; ``None`` where that is not certain."""
        if depth > _DEEP:
            return None
        deeper = depth + 1
        match node:
            case ast.Name():
                return self._all(self._bound(each, deeper) for each in self._bindings.reaching(node))
            case ast.Attribute(value=owner, attr=name):
                return self._all(self.makings(value, deeper) for value in self._stored(owner, name))
            case ast.Subscript(value=whole, slice=index):
                return self.makings(whole, deeper) if isinstance(index, ast.Slice) else self._items(whole, deeper)
            case ast.IfExp(body=body, orelse=orelse):
                return self._all((self.makings(body, deeper), self.makings(orelse, deeper)))
            case ast.Call(func=ast.Attribute(value=module, attr=method)) if method in GIVE_MODULE:
                return self.makings(module, deeper)
            case ast.Call() if self.made(node):
                return frozenset({node})
        return None

    def made(self, call: ast.Call) -> str:
        """The container that a call makes, or the one that the class is derived from whose instance it makes; empty if none."""
        definition = self._facts.definition(call.func)
        if isinstance(definition, ast.ClassDef):
            return self._derived_from(definition)
        return _SPELLINGS.get(self._semantics.qualified_name(call.func) or "", "")

    @staticmethod
    def _all(found: Iterable[Makings]) -> Makings:
        """All that the parts found; ``None`` if one is not certain, or there are none."""
        joined: set[ast.Call] = set()
        for part in found:
            if part is None:
                return None
            joined |= part
        return frozenset(joined) if joined else None

    # --- classes -----------------------------------------------------------------------------------------------------

    def _derived_from(self, definition: ast.ClassDef) -> str:
        """The container that a class of the file is, without a way of its own to be called; empty if it is none."""
        bases = self._facts.bases(definition)
        outside = [base for each in bases for base in each.bases if self._facts.definition(base) is None]
        names = {self._outer_name(base) for base in outside} - _PLAIN_BASES
        if len(names) != 1 or any(each.decorator_list or each.keywords for each in bases):
            return ""
        for each in bases:
            facts = self._facts.classes[each]
            if not _RUNNING.isdisjoint(facts.methods) or not _RUNNING.isdisjoint(facts.slots):
                return ""
            if not all(_is_plain(statement) for statement in each.body):
                return ""
        return _SPELLINGS.get(names.pop(), "")

    def _outer_name(self, base: ast.expr) -> str:
        return self._semantics.qualified_name(base.value if isinstance(base, ast.Subscript) else base) or ""

    # --- names and attributes ----------------------------------------------------------------------------------------

    def _bound(self, binding: Binding, depth: int) -> Makings:
        value = binding.value
        if value is None:
            return None
        if binding.form is Form.ASSIGNMENT and not binding.path:
            return frozenset() if is_none(value) else self.makings(value, depth)
        if binding.form is not Form.LOOP:
            return None
        match value:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]) if binding.path == (1,):
                return self._iterated(inner, (), depth)
            case ast.Call(func=ast.Name(id="zip"), args=several) if len(binding.path) == 1:
                place = binding.path[0]
                is_told = (
                    place is not None and place < len(several) and not any(isinstance(one, ast.Starred) for one in several)
                )
                return self._iterated(several[place], (), depth) if is_told and place is not None else None
        return self._iterated(value, binding.path, depth)

    def _iterated(self, value: ast.expr, path: tuple[int | None, ...], depth: int) -> Makings:
        """What is made of what a loop goes through, by its values or itself."""
        match value:
            case ast.Call(func=ast.Attribute(value=whole, attr=method), args=[]) if _ITEMS.get(method) == path:
                return self._items(whole, depth, ("torch.nn.ModuleDict",))
            case ast.Call(func=ast.Name(id="reversed"), args=[whole]) if not path:
                return self._items(whole, depth, ("torch.nn.ModuleList",))
        return self._items(value, depth, ("torch.nn.ModuleList",)) if not path else None

    def _items(self, whole: ast.expr, depth: int, of: Iterable[str] = _LISTS) -> Makings:
        """What makes the items of a container that is as it was made; ``None`` where one of them may be something else."""
        makings = self.makings(whole, depth)
        if makings is None or not {self.made(each) for each in makings} <= set(of):
            return None
        return self._all(self._written_items(each, depth) for each in makings)

    def _written_items(self, made: ast.Call, depth: int) -> Makings:
        match self._tree.parent(made):
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]) if all(map(self._is_left, self.mentions(target))):
                pass
            case _:
                return None
        if isinstance(self._facts.definition(made.func), ast.ClassDef):
            return None  # whose constructor does with them what it likes
        match made:
            case ast.Call(args=[ast.List(elts=items) | ast.Tuple(elts=items)], keywords=[]):
                return self._all(self.makings(each, depth) for each in items)
            case ast.Call(args=[ast.ListComp(elt=item) | ast.GeneratorExp(elt=item)], keywords=[]):
                return self.makings(item, depth)
            case ast.Call(args=[ast.Dict(keys=keys, values=items)], keywords=[]) if None not in keys:
                return self._all(self.makings(each, depth) for each in items)
            case ast.Call(args=[ast.DictComp(value=item)], keywords=[]) if item is not None:
                return self.makings(item, depth)
        return None

    def mentions(self, target: ast.Name | ast.Attribute) -> Iterator[ast.expr]:
        """Where the file speaks of a name or an attribute, of whatever object, beside the place that assigns it."""
        name = last_name(target)
        for node in self._tree.of_type(type(target)):
            if node is not target and last_name(node) == name:
                yield node

    def _is_left(self, use: ast.expr) -> bool:
        """Whether a container is asked for its items, and nothing else gets hold of it or changes it."""
        match self._tree.parent(use):
            case ast.Subscript(value=whole, ctx=ast.Load()):
                return whole is use
            case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
                return iterated is use
            case ast.Attribute(attr=name):
                return name not in _CHANGING
            case ast.Call(func=ast.Name(id=name)):
                return name in ("enumerate", "zip", "len", "reversed")
            case ast.Call(func=function):
                return function is use
        return False

    def _stored(self, owner: ast.expr, name: str) -> list[ast.expr]:
        """All that is assigned to an attribute beside None; nothing where it may have been given something else."""
        definition = self._facts.self_class(owner) or self._class_of(owner)
        if definition is None or name in self._stored_by_others or name in self._facts.method_names:
            return []
        classes = {base for each in self._facts.derived(definition) for base in self._facts.bases(each)}
        slots = [found.slots[name] for each in classes if name in (found := self._facts.classes[each]).slots]
        if name in self._named or any(slot.class_values for slot in slots) or any(map(self._names_freely, classes)):
            return []
        return [value for value in self._facts.assigned(slots) if not is_none(value)]

    @cached_property
    def _stored_by_others(self) -> set[str]:
        """The attributes that the file gives to what is not the instance of the class around."""
        stores = (node for node in self._tree.of_type(ast.Attribute) if not isinstance(node.ctx, ast.Load))
        return {node.attr for node in stores if self._facts.self_class(node.value) is None}

    def _class_of(self, owner: ast.expr) -> ast.ClassDef | None:
        """The class of the file that makes what a name stands for."""
        made = self._bindings.assigned(owner)
        definition = self._facts.definition(made.func) if isinstance(made, ast.Call) else None
        return definition if isinstance(definition, ast.ClassDef) else None

    @cached_property
    def _named(self) -> set[str]:
        """What is said in strings to functions that register or set something by its name."""
        calls = (call for name in _REGISTERING for call in self._facts.calls.get(name, ()))
        values = (value.value for call in calls for value in given_to(call) if isinstance(value, ast.Constant))
        return {value for value in values if isinstance(value, str)}

    def _names_freely(self, definition: ast.ClassDef) -> bool:
        """Whether a class sets attributes by names that are not written out, or has other ways to give them."""
        for part in ast.walk(definition):
            match part:
                case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[_, name, *_]):
                    if not isinstance(name, ast.Constant):
                        return True
                case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=method), args=[name, *_]):
                    if method in _REGISTERING and not isinstance(name, ast.Constant):
                        return True
                case ast.Attribute(attr="__dict__" | "_modules") | ast.FunctionDef(name="__getattr__" | "__getattribute__"):
                    return True
        return False


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement of a class's body is a method, an annotation, an assignment to a name, or does nothing."""
    match statement:
        case ast.FunctionDef(decorator_list=decorators):
            return all(isinstance(each, ast.Name) for each in decorators)
        case ast.AnnAssign() | ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name()]):
            return True
    return False
