"""Lists, tuples and dicts that objects of a class keep in an attribute: how they are made, and what is put into them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import last_name, walk_body

LISTS = frozenset({"builtins.list", "builtins.tuple"})
DICTS = frozenset({"builtins.dict", "collections.OrderedDict"})
_DEEP = 3
"""Through so many functions a list is followed that they are given."""
FILLING = frozenset({"append", "insert", "extend", "update", "setdefault"})
"""Methods that put things into a list or dict."""


@dataclass(eq=False, slots=True)
class Collection:
    """A list, tuple or dict that is given to an attribute of ``self``, and what the class makes of it."""

    owner: ast.ClassDef
    target: ast.Attribute
    value: ast.expr
    uses: list[ast.expr] = field(default_factory=list)
    """Where the attribute, or a name that stands for the same object, is read."""
    displays: list[ast.expr] = field(default_factory=list)
    """Where the collection is made: one place, but for a name that is bound in several."""
    fillings: list[ast.expr] = field(default_factory=list)
    """What is put in later; of a list that extends it, the list."""
    keys: list[ast.expr | None] = field(default_factory=list)
    """The keys of a dict; ``None`` for those that are not written out."""


class Collections:
    """Finds the collections of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._judged: dict[ast.expr, bool] = {}
        self._taken: list[ast.expr] = []
        """What was found to be a collection, in order, maybe because something not judged yet was believed to be one."""

    def is_collection(self, value: ast.expr) -> bool:
        """Whether an expression makes a list, tuple or dict, or is a name for one.

        One that is made of itself, as in ``xs = xs + [x]``, is what the rest of it is.
        """
        judged = self._judged.get(value)
        if judged is not None:
            return judged
        before = len(self._taken)
        self._judged[value] = True
        self._taken.append(value)
        if self._is_made_of_collections(value):
            return True
        for taken in self._taken[before:]:  # maybe only because this one was believed to be a collection
            del self._judged[taken]
        del self._taken[before:]
        self._judged[value] = False
        return False

    def _is_made_of_collections(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=function):
                given = self._returned(value)
                return self._semantics.qualified_name(function) in LISTS | DICTS or (
                    bool(given) and all(each is not None and self.is_collection(each) for each in given)
                )
            case ast.IfExp(body=body, orelse=other):
                return self.is_collection(body) and self.is_collection(other)
            case ast.Name():
                values = self._named(value)
                return bool(values) and all(not isinstance(v, ast.Name) and self.is_collection(v) for v in values)
            case ast.BinOp(left=left, right=right, op=ast.Mult()):
                return self.is_collection(left) or self.is_collection(right)
            case ast.BinOp(left=left, right=right, op=ast.Add()):
                return self.is_collection(left) and self.is_collection(right)
        return may_be_collection(value)

    def _named(self, name: ast.Name) -> list[ast.expr]:
        """The values of a name that is only ever assigned; lists that are added to keep their first."""
        values: list[ast.expr] = []
        for binding in self.origins(name):
            if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None:
                return []
            values.append(binding.value)
        return values

    def origins(self, name: ast.Name) -> Iterator[Binding]:
        """The bindings that a name has its value from, behind those that add to it."""
        pending, seen = list(self._semantics.bindings.reaching(name)), set[Binding]()
        while pending:
            binding = pending.pop()
            if binding in seen:
                continue
            seen.add(binding)
            if binding.form is Form.AUGMENTED:
                pending.extend(binding.before)
            else:
                yield binding

    def collected(self, owner: ast.ClassDef, statement: ast.stmt, target: ast.Attribute, value: ast.expr) -> Collection | None:
        """What ``statement`` gives the attribute ``target``; ``None`` where two attributes share it."""
        found = Collection(owner, target, value)
        found.uses.extend(self._uses_of_attribute(owner, target.attr))
        self._add_displays(found, value)
        if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
            for other in statement.targets:
                if isinstance(other, ast.Name) and (bound := self._semantics.bindings.of(other)) is not None:
                    found.uses.extend(bound.uses)
                elif isinstance(other, ast.Attribute) and other is not target:
                    return None  # one object under two names: whoever writes that, means something else
        for display in found.displays:
            found.keys.extend(keys_of(display))
        for use in found.uses:
            self._add_filling(found, use)
        return found

    def _add_displays(self, found: Collection, value: ast.expr, depth: int = _DEEP) -> None:
        """Notes where a value is made, and the uses of the names that it has there."""
        if isinstance(value, ast.Name):
            found.displays.extend(self._named(value))
            for binding in self._aliases(value):
                found.uses.extend(use for use in binding.uses if use is not value)
        elif isinstance(value, ast.IfExp):
            self._add_displays(found, value.body, depth)
            self._add_displays(found, value.orelse, depth)
        elif isinstance(value, ast.Call) and depth and (returned := self._returned(value)):
            for each in returned:
                if each is not None:
                    self._add_displays(found, each, depth - 1)
        else:
            found.displays.append(value)

    def _returned(self, call: ast.Call) -> list[ast.expr | None]:
        """What a function or method of the file returns that is called; nothing where it is another, or a generator."""
        function = self._semantics.facts.called(call)
        if function is None or function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
            return []
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk_body(function.body)):
            return []
        return self._semantics.facts.returned(function)

    def parameter_given(self, call: ast.Call, argument: ast.AST) -> Binding | None:
        """The parameter of a function of the file, or method of ``self``, that an argument is given for."""
        function = self._semantics.facts.called(call)
        if function is None:
            return None
        for parameter in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]:
            given = self._semantics.facts.argument(call, function, parameter)
            if given is not None and given in (argument, getattr(argument, "value", None)):
                return self._semantics.bindings.of(parameter)
        return None

    def given(self, item: ast.expr) -> list[ast.expr]:
        """What the calls in the file give for a parameter that is put into a collection; for all else, the item itself."""
        bindings = self._semantics.bindings.reaching(item) if isinstance(item, ast.Name) else ()
        values = self._semantics.inference.given(bindings[0]) if len(bindings) == 1 else []
        return [value if value is not None else item for value in values] or [item]

    def _aliases(self, name: ast.Name) -> Iterator[Binding]:
        """The bindings of a name, and the augmented assignments that add to what they bind."""
        for binding in self._semantics.bindings.lookup(name.id, self._semantics.bindings.scope_of(name)):
            if binding in set(self.origins(name)) or binding.form is Form.AUGMENTED:
                yield binding

    def _uses_of_attribute(self, owner: ast.ClassDef, name: str) -> Iterator[ast.Attribute]:
        """Where an attribute is read: by the class, its bases and what derives from it in the file, and on its instances."""
        for definition, facts in self._semantics.facts.classes.items():
            if name in facts.slots and (definition is owner or self._are_related(definition, owner)):
                yield from facts.slots[name].uses
                for store in facts.slots[name].stores:
                    if isinstance(self._semantics.tree.parent(store), ast.AugAssign):
                        yield store
        for node in self._attributes.get(name, ()):
            if self._semantics.facts.self_class(node.value) is None:
                if self._semantics.kind(node.value).definition is owner:
                    yield node

    @cached_property
    def _attributes(self) -> dict[str, list[ast.Attribute]]:
        """The attributes that are read in the file, by their name."""
        found: dict[str, list[ast.Attribute]] = {}
        for node in self._semantics.tree.of_type(ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                found.setdefault(node.attr, []).append(node)
        return found

    def _are_related(self, one: ast.ClassDef, other: ast.ClassDef) -> bool:
        return other in self._semantics.facts.bases(one) or one in self._semantics.facts.bases(other)

    def _add_filling(self, found: Collection, use: ast.expr, depth: int = _DEEP) -> None:
        parent = self._semantics.tree.parent(use)
        match parent:
            case ast.Call(args=arguments) if depth and use in arguments:
                given = self.parameter_given(parent, use)
                for inner in given.uses if given is not None else ():
                    self._add_filling(found, inner, depth - 1)
            case ast.Attribute(attr=method) if method in FILLING:
                call = self._semantics.tree.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent and call.args:
                    found.fillings.append(call.args[-1])
                    if method == "setdefault":
                        found.keys.append(call.args[0])
                    elif method == "update":
                        found.keys.extend(keys_of(call.args[0]))
            case ast.Subscript(ctx=ast.Store(), slice=key):
                statement = self._semantics.tree.parent(parent)
                if isinstance(statement, ast.Assign):
                    found.fillings.append(statement.value)
                    found.keys.append(key)
            case ast.AugAssign(value=value, op=ast.Add()):
                found.fillings.append(value)

    def items(self, found: Collection) -> Iterator[ast.expr]:
        """The single things in a collection, those of nested ones included."""
        pending = [*found.displays, *found.fillings][::-1]
        named = set(found.displays)
        while pending:
            node = pending.pop()
            parts = self._parts(node)
            if parts is None:
                yield node
                continue
            if isinstance(node, ast.Name):  # which may be a part of itself
                parts = [part for part in parts if part not in named]
                named.update(parts)
            pending.extend(reversed(parts))

    def _parts(self, node: ast.expr) -> list[ast.expr] | None:
        """What a collection is made of; ``None`` for what is none."""
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return parts
            case ast.Starred(value=value):
                return [value]
            case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part):
                return [part]
            case ast.Dict(values=parts):
                return parts
            case ast.BinOp(left=left, right=right, op=ast.Mult() | ast.Add()):
                return [side for side in (left, right) if may_be_collection(side)]
            case ast.Call(func=function, args=arguments, keywords=words):
                name = self._semantics.qualified_name(function)
                if name in DICTS:
                    return [*_values_of_pairs(arguments), *(word.value for word in words)]
                return arguments if name in LISTS else None
            case ast.Name():
                values = self._named(node)
                if values and all(not isinstance(value, ast.Name) and self.is_collection(value) for value in values):
                    return values
        return None

    def is_dict(self, found: Collection) -> bool:
        """Whether a collection is a dict."""
        return any(self.is_dict_display(display) for display in found.displays)

    def is_dict_display(self, display: ast.expr) -> bool:
        """Whether an expression makes a dict."""
        if isinstance(display, ast.Call):
            return self._semantics.qualified_name(display.func) in DICTS
        return isinstance(display, (ast.Dict, ast.DictComp))

    def nested(self, found: Collection) -> Iterator[ast.expr]:
        """The collections inside of a collection; what extends it is none of them."""
        pending = [part for display in found.displays for part in self._direct(display)]
        for filling in found.fillings:
            call = self._semantics.tree.parent(filling)
            extends = isinstance(call, ast.Call) and last_name(call.func) in ("extend", "update")
            pending.extend(self._direct(filling) if extends or isinstance(call, ast.AugAssign) else [filling])
        seen = set[ast.expr]()
        while pending:
            part = pending.pop()
            if isinstance(part, (ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.DictComp)) and part not in seen:
                seen.add(part)
                yield part
                pending.extend(self._direct(part))

    def _direct(self, collection: ast.expr) -> Iterator[ast.expr]:
        """The items of a collection, those of the lists that it is joined from included."""
        for part in self._parts(collection) or ():
            if isinstance(collection, (ast.BinOp, ast.Starred, ast.Call)) or isinstance(part, ast.Starred):
                yield from self._direct(part) if self._parts(part) is not None else [part]
            else:
                yield part


def may_be_collection(value: ast.expr) -> bool:
    """Whether an expression may be a plain list, tuple or dict, by its looks."""
    match value:
        case ast.List() | ast.Tuple() | ast.ListComp() | ast.Dict() | ast.DictComp() | ast.Name():
            return True
        case ast.Call(func=ast.Name(id="list" | "tuple" | "dict" | "OrderedDict") | ast.Attribute(attr="OrderedDict")):
            return True
        case ast.BinOp(left=left, right=right, op=ast.Mult() | ast.Add()):
            return may_be_collection(left) or may_be_collection(right)
    return False


def keys_of(display: ast.expr) -> list[ast.expr | None]:
    """The keys of a dict as it is made; ``None`` for those that are not written out."""
    match display:
        case ast.Dict(keys=keys):
            return list(keys)
        case ast.DictComp(key=key):
            return [key]
        case ast.Call(args=[ast.List(elts=pairs)]):
            return [pair.elts[0] if isinstance(pair, ast.Tuple) and pair.elts else None for pair in pairs]
        case ast.Call(args=[_, *_]):
            return [None]
    return []


def _values_of_pairs(arguments: list[ast.expr]) -> list[ast.expr]:
    match arguments:
        case [ast.List(elts=pairs)] | [ast.Tuple(elts=pairs)]:
            return [pair.elts[1] if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else pair for pair in pairs]
    return arguments
