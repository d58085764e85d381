"""What makes the containers of modules and parameters that have no `forward`: followed through names, attributes and loops."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import TypeAlias

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import is_none, last_name, own_returns, walk_body
from torchlint.semantics.modules.containers.replaced import ReplacedAttributes
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
        self._replaced = semantics.of(ReplacedAttributes)

    def makings(self, node: ast.expr, depth: int = 0) -> Makings:
        """What makes the container that an expression gives; ``None`` where that is not certain."""
        if depth > _DEEP:
            return None
        deeper = depth + 1
        match node:
            case ast.Name():
                return self._all(self._bound(each, deeper) for each in self._bindings.reaching(node))
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(owner, name, deeper)
            case ast.Subscript(value=whole, slice=index):
                return self.makings(whole, deeper) if isinstance(index, ast.Slice) else self._items(whole, deeper)
            case ast.IfExp(body=body, orelse=orelse):
                return self._all((self.makings(body, deeper), self.makings(orelse, deeper)))
            case ast.Call(func=ast.Attribute(value=module, attr=method)) if method in GIVE_MODULE:
                return self.makings(module, deeper)
            case ast.Call() if self.made(node):
                return frozenset({node})
            case ast.Call(func=ast.Name() as function):
                return self._returned(function, deeper)
        return None

    def _returned(self, function: ast.Name, depth: int) -> Makings:
        """What a plain function of the file makes, whatever it returns."""
        definition = self._facts.definition(function)
        if not isinstance(definition, ast.FunctionDef) or definition.decorator_list:
            return None
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk_body(definition.body)):
            return None
        values = [each.value for each in own_returns(definition)]
        return self._all(self.makings(each, depth) if each is not None else None for each in values)

    def made(self, call: ast.Call) -> str:
        """The container that a call makes, or the one that the class is derived from whose instance it makes; empty if none."""
        definition = self._facts.definition(call.func)
        if isinstance(definition, ast.ClassDef):
            return self._derived_from(definition)
        name = _SPELLINGS.get(self._semantics.qualified_name(call.func) or "", "")
        return name if name and self._is_of_torch(call.func) else ""

    def _is_of_torch(self, function: ast.expr) -> bool:
        """Whether a name that may be one of torch is not imported from elsewhere, too, and torch is not given another one."""
        if last_name(function) in self._facts.stored_attributes:
            return False
        while isinstance(function, ast.Attribute):
            function = function.value
        bindings = self._bindings.reaching(function) if isinstance(function, ast.Name) else ()
        if bindings:
            return len({each.imported if each.form is Form.IMPORT else id(each) for each in bindings}) == 1
        stars = [each for each in self._tree.of_type(ast.ImportFrom) if each.names[0].name == "*"]
        return all((each.module or "").partition(".")[0] == "torch" and not each.level for each in stars)

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
        if (
            len(names) != 1
            or self._replaced.may_be_named("forward")
            or any(each.decorator_list or each.keywords for each in bases)
        ):
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
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]) if not self._replaced.are_items:
                changing = [use for use in self._changing[type(target), last_name(target)] if use is not target]
            case _:
                return None
        if isinstance(self._facts.definition(made.func), ast.ClassDef):
            return None  # whose constructor does with them what it likes
        appended = list(map(self._appended, changing))
        further = [each for each in appended if each is not None]
        written = self._written(made) if len(further) == len(appended) else None
        return self._all(self.makings(each, depth) for each in (*written, *further)) if written is not None else None

    @staticmethod
    def _written(made: ast.Call) -> list[ast.expr] | None:
        """The items that a container is made with, one for all of a comprehension; ``None`` where that is not written there."""
        match made:
            case ast.Call(args=[], keywords=[]):
                return []
            case ast.Call(args=[ast.List(elts=items) | ast.Tuple(elts=items)], keywords=[]):
                return items
            case ast.Call(args=[ast.ListComp(elt=item) | ast.GeneratorExp(elt=item)], keywords=[]):
                return [item]
            case ast.Call(args=[ast.Dict(keys=keys, values=items)], keywords=[]) if None not in keys:
                return items
            case ast.Call(args=[ast.DictComp(value=item)], keywords=[]) if item is not None:
                return [item]
        return None

    def _appended(self, use: ast.expr) -> ast.expr | None:
        """What a container gets where it is mentioned, and nothing else happens to it: ``self.stages.append(stage)``."""
        method = self._tree.parent(use)
        match method, self._tree.parent(method) if method is not None else None:
            case ast.Attribute(attr="append"), ast.Call(func=function, args=[item], keywords=[]) as call if function is method:
                return item if isinstance(self._tree.parent(call), ast.Expr) else None
        return None

    @cached_property
    def mentions(self) -> dict[tuple[type[ast.AST], str], list[ast.expr]]:
        """Where the file speaks of a name or an attribute, of whatever object."""
        found: dict[tuple[type[ast.AST], str], list[ast.expr]] = defaultdict(list)
        nodes: list[ast.Name | ast.Attribute] = [*self._tree.of_type(ast.Name), *self._tree.of_type(ast.Attribute)]
        for node in nodes:
            found[type(node), last_name(node)].append(node)
        return found

    @cached_property
    def _changing(self) -> dict[tuple[type[ast.AST], str], list[ast.expr]]:
        """The mentions by which a container may change, or somebody else get hold of it."""
        found: dict[tuple[type[ast.AST], str], list[ast.expr]] = defaultdict(list)
        for key, uses in self.mentions.items():
            found[key] = [use for use in uses if not self._is_left(use)]
        return found

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

    def _attribute(self, owner: ast.expr, name: str, depth: int) -> Makings:
        """What makes the container that an attribute is, as long as nobody may give it something else."""
        definition = self._facts.self_class(owner) or self._class_of(owner)
        if definition is None or name in self._facts.method_names:
            return None
        classes = {base for each in self._facts.derived(definition) for base in self._facts.bases(each)}
        slots = [found.slots[name] for each in classes if name in (found := self._facts.classes[each]).slots]
        if any(slot.class_values for slot in slots) or self._replaced.may_be_here(name, classes):
            return None
        makings = self._all(self.makings(value, depth) for value in self._facts.assigned(slots) if not is_none(value))
        return makings if makings and not self._replaced.may_be_elsewhere(name, classes) else None

    def _class_of(self, owner: ast.expr) -> ast.ClassDef | None:
        """The class of the file that makes what a name stands for."""
        made = self._bindings.assigned(owner)
        definition = self._facts.definition(made.func) if isinstance(made, ast.Call) else None
        return definition if isinstance(definition, ast.ClassDef) else None


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement of a class's body is a method, an annotation, an assignment to a name, or does nothing."""
    match statement:
        case ast.FunctionDef(decorator_list=decorators):
            return all(isinstance(each, ast.Name) for each in decorators)
        case ast.AnnAssign() | ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name()]):
            return True
    return False
