"""What a file thaws, or gives new parts: by which names it speaks of networks and parameters that may require gradients."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, given_to, is_false, is_self, last_name

_THAWING = re.compile(r"requires_?grad|un_?freeze|thaw|trainable|defrost|toggle_?grad", re.IGNORECASE)
"""What functions are called that may thaw what they are given."""
_PARTS = frozenset({"parameters", "named_parameters", "children", "modules", "named_modules", "named_children"})
"""Methods that give the parts of a module, or its parameters."""
_GATHERING = frozenset({"list", "tuple", "iter", "filter", "chain", "reversed"})
"""Functions that give what they are given, one by one."""
_ADDING = frozenset({"add_module", "register_module", "register_parameter", "append", "extend", "insert"})
"""Methods that give a module parts."""
_DEPTH = 3
"""So many names may lie between what is thawed and what it is a part of."""


class Thawed:
    """Tells of names whether the file may thaw what they stand for, or a part of it; what is called alike is the same."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def may_be(self, node: ast.expr) -> bool:
        """Whether something that is called as ``node`` is may be thawed."""
        return last_name(node) in self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        """What is thawed in the file, by all its names."""
        return frozenset(name for node in self._nodes() for name in self._named(node, _DEPTH))

    def _nodes(self) -> Iterator[ast.expr]:
        """What is thawed somewhere in the file, or handed to what may do so."""
        yield from (flag.value for flag in self._flags)
        for call in self._tree.of_type(ast.Call):
            yield from self._changed_by(call)
            yield from self._thawed_elsewhere(call)
        for call in self._thawing_calls:
            yield from given_to(call)
            if isinstance(call.func, ast.Attribute):
                yield call.func.value
        stores: list[ast.Attribute | ast.Subscript] = [*self._tree.of_type(ast.Attribute), *self._tree.of_type(ast.Subscript)]
        for store in stores:
            if isinstance(store.ctx, ast.Store) and self._gets_part(store) and not is_self(store.value):
                yield store.value
        yield from self._given_to_thawing_functions()

    @cached_property
    def _flags(self) -> list[ast.Attribute]:
        """Where a ``requires_grad`` gets something else than ``False``."""
        flags = (node for node in self._tree.of_type(ast.Attribute) if node.attr == "requires_grad")
        return [flag for flag in flags if isinstance(flag.ctx, ast.Store) and not self._gets_false(flag)]

    @cached_property
    def _thawing_calls(self) -> list[ast.Call]:
        """The calls of what may thaw, by its name; what is given ``False`` in the end does not."""
        calls = (call for call in self._tree.of_type(ast.Call) if _THAWING.search(last_name(call.func)))
        return [call for call in calls if not any(map(is_false, given_to(call)[-1:]))]

    def _given_to_thawing_functions(self) -> Iterator[ast.expr]:
        """What the file gives to its functions that thaw something, or has them applied to."""
        places = [*self._flags, *(call for call in self._thawing_calls if last_name(call.func) == "requires_grad_")]
        applied = self._applied()
        for function in {self._tree.function(place) for place in places}:
            if isinstance(function, FUNCTIONS):
                yield from applied.get(function.name, ())
                for site in self._semantics.facts.calls.get(function.name, ()):
                    given = given_to(site)
                    if not any(map(is_false, given)):
                        yield from given

    @staticmethod
    def _changed_by(call: ast.Call) -> Iterator[ast.expr]:
        """What a call gives another part, or thaws: ``net.add_module(…)``, ``setattr(p, "requires_grad", True)``."""
        match call:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _ADDING and not is_self(owner):
                yield owner
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, name, value]) if not is_self(owner):
                is_part = isinstance(value, (ast.Call, ast.Name, ast.Attribute))
                if is_part or (isinstance(name, ast.Constant) and name.value == "requires_grad" and not is_false(value)):
                    yield owner
            case ast.Call(func=ast.Attribute(value=owner, attr="apply"), args=[ast.Lambda(body=body)]):
                names = {part.attr for part in ast.walk(body) if isinstance(part, ast.Attribute)}
                if any(map(_THAWING.search, names)):
                    yield owner

    def _thawed_elsewhere(self, call: ast.Call) -> Iterator[ast.expr]:
        """What a function of another file is given that thaws it."""
        if not isinstance(call.func, (ast.Name, ast.Attribute)) or not (call.args or call.keywords):
            return
        found = self._semantics.elsewhere.function(call.func)
        if found is None or not found.summary.thaws:
            return
        given = given_to(call)
        if not any(map(is_false, given)):
            yield from (value for name, value in zip(found.summary.positional, call.args) if name in found.summary.thaws)
            yield from (word.value for word in call.keywords if word.arg in found.summary.thaws)

    def _applied(self) -> dict[str, list[ast.expr]]:
        """The modules to whose parts functions are applied, by the names of these: ``net.apply(reset)``."""
        found: dict[str, list[ast.expr]] = {}
        for call in self._semantics.facts.calls.get("apply", ()):
            match call:
                case ast.Call(func=ast.Attribute(value=owner), args=[ast.Name(id=name)]):
                    found.setdefault(name, []).append(owner)
        return found

    def _gets_part(self, store: ast.expr) -> bool:
        """Whether what is stored may be a module that is made anew: ``net.fc = nn.Linear(8, 2)``, ``net.fc = head``."""
        statement = self._tree.parent(store)
        match statement:
            case ast.Assign(value=ast.Call(func=made)):
                return isinstance(store, ast.Attribute) or last_name(made)[:1].isupper()
            case ast.Assign(value=ast.Name() | ast.Attribute()):
                return isinstance(store, ast.Attribute)
        return False

    def _gets_false(self, target: ast.Attribute) -> bool:
        """Whether a flag is assigned to, and gets ``False``."""
        statement = self._tree.parent(target)
        return isinstance(statement, ast.Assign) and is_false(statement.value)

    @staticmethod
    def _is_part(binding: Binding) -> bool:
        """Whether a variable is a part of something, or a list of its parameters: ``last = net.fc``."""
        match binding:
            case Binding(form=Form.ASSIGNMENT, value=ast.Attribute() | ast.Subscript() | ast.Name()):
                return True
            case Binding(form=Form.ASSIGNMENT, value=ast.Call(func=function)):
                return last_name(function) in _PARTS | _GATHERING
        return False

    def _named(self, node: ast.expr, depth: int) -> Iterator[str]:
        """The names that lead to something: of the variable of a loop, those of what it goes through."""
        match node:
            case ast.Name(id=name):
                yield name
                for binding in self._semantics.bindings.reaching(node) if depth else ():
                    if binding.value is not None and (binding.form is Form.LOOP or self._is_part(binding)):
                        yield from self._named(binding.value, depth - 1)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _PARTS:
                yield from self._named(owner, depth)
            case ast.Call(args=given):
                for each in given:
                    yield from self._named(each, depth)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                for each in parts:
                    yield from self._named(each, depth)
            case ast.Attribute(value=owner, attr=name):
                if name != "self":
                    yield name
                yield from self._named(owner, depth) if not is_self(owner) else ()
            case ast.Subscript(value=owner) | ast.Starred(value=owner):
                yield from self._named(owner, depth)
