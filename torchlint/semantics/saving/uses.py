"""Where what is loaded from a file is used: by itself, by its items, and under the names that it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, Function, is_none
from torchlint.semantics.conditions.assumptions import Assumption, Assumptions
from torchlint.semantics.memory.references import References
from torchlint.semantics.saving.files import SavedFiles

_DEPTH = 4


class LoadedUses:
    """Follows what calls give to where it is used."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._found: dict[ast.expr, tuple[ast.expr, ...]] = {}

    def of(self, value: ast.expr) -> tuple[ast.expr, ...]:
        """A value, its items and parts, and where names, attributes, callers and functions that get these use them."""
        if value not in self._found:
            self._found[value] = tuple(self._uses(value, 0))
        return self._found[value]

    def _uses(self, value: ast.expr, depth: int) -> Iterator[ast.expr]:
        yield value
        parent = self._tree.parent(value)
        if depth >= _DEPTH:
            return
        match parent:
            case ast.Subscript(value=owner, slice=ast.Constant(value=str())) if owner is value and _is_read(parent):
                yield from self._uses(parent, depth + 1)
            case ast.Attribute(attr="module", value=owner) if owner is value:  # of what was wrapped when it was saved
                yield from self._uses(parent, depth + 1)
            case ast.Attribute(attr="cuda" | "to" | "cpu", value=owner) if owner is value:
                moved = self._tree.parent(parent)
                if isinstance(moved, ast.Call) and moved.func is parent:
                    yield from self._uses(moved, depth + 1)
            case ast.Assign(targets=[ast.Name() as target], value=given) if given is value:
                yield from self._uses_of_name(target, depth)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=given) if given is value:
                for each in targets:
                    if isinstance(each, ast.Name):
                        yield from self._uses_of_name(each, depth)
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)], value=given) if given is value:
                definition = self._semantics.facts.self_class(owner)
                slots = self._semantics.facts.slots(definition, name) if definition is not None else []
                others = [store for slot in slots for store in slot.stores if store is not parent.targets[0]]
                is_loaded_anyway = all(
                    self._is_wrapped_by(other) or self._is_loaded(other) or self._is_made(other, parent) for other in others
                )
                uses = [use for slot in slots for use in slot.uses]
                if is_loaded_anyway:
                    uses = [use for use in uses if self._may_be_read(use, parent)]
                else:
                    uses = self._read_here(uses, parent, others)
                for each in uses:
                    yield from self._uses(each, depth + 1)
            case ast.Return():
                function = self._tree.function(parent)
                for site in self._semantics.facts.call_sites(function) if isinstance(function, FUNCTIONS) else ():
                    if isinstance(function, FUNCTIONS) and not self._is_replaced(value, function, site):
                        yield from self._uses(site, depth + 1)
            case ast.Call(func=function) as call if function is not value:
                yield from self._uses_in_function(call, value, depth)
            case ast.keyword(value=given) if isinstance(named := self._tree.parent(parent), ast.Call):
                yield from self._uses_in_function(named, given, depth)

    def _uses_in_function(self, call: ast.Call, given: ast.expr, depth: int) -> Iterator[ast.expr]:
        """The uses of the parameter that one of the file's functions has for what a call gives to it."""
        references = self._semantics.of(References)
        function = references.callee(call)
        parameter = references.parameter(call, function, given) if function is not None else None
        binding = self._semantics.bindings.of(parameter) if parameter is not None else None
        for use in binding.uses if binding is not None else ():
            if self._semantics.bindings.reaching(use) == (binding,):
                yield from self._uses(use, depth + 1)

    def _is_wrapped_by(self, store: ast.expr) -> bool:
        """Whether an attribute gets a module of torch's around what it was: ``self.net = nn.Sequential(self.net, head)``."""
        match self._tree.parent(store):
            case ast.Assign(value=ast.Call(func=function, args=args)):
                is_module = self._semantics.qualified_name(function) in torch_api.MODULES
                return is_module and ast.dump(store).replace("Store()", "Load()") in map(ast.dump, args)
        return False

    def _is_loaded(self, store: ast.expr) -> bool:
        """Whether an attribute gets what is loaded on another way, moved perhaps, or nothing yet: ``self.net = None``."""
        match self._tree.parent(store):
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value not in self._loads:
                    if value.func.attr not in ("cuda", "to", "cpu", "eval"):
                        return False
                    value = value.func.value
                return value in self._loads or is_none(value)
        return False

    def _is_made(self, store: ast.expr, load: ast.Assign) -> bool:
        """Whether an attribute gets a module on another way than the load, or before it: what takes its place, and is moved as
        no state is, is one, too.
        """
        flow, function = self._semantics.control_flow, self._tree.function(store)
        match self._tree.parent(store):
            case ast.Assign(value=ast.Call() as value) if self._semantics.kind(value).type is Type.MODULE:
                moved = load.value.func if isinstance(load.value, ast.Call) and load.value not in self._loads else None
                is_here = function is self._tree.function(load) and not flow.may_follow(load, store)
                is_first = getattr(function, "name", "") == "__init__" and function is not self._tree.function(load)
                return isinstance(moved, ast.Attribute) and (is_here or is_first) and not self._is_mentioned(store, value)
        return False

    @staticmethod
    def _is_mentioned(store: ast.expr, value: ast.expr) -> bool:
        spelled = ast.unparse(store)
        return any(isinstance(part, ast.Attribute) and ast.unparse(part) == spelled for part in ast.walk(value))

    def _may_be_read(self, use: ast.expr, store: ast.Assign) -> bool:
        """Whether an attribute may have been stored where it is used: in any other function, or behind the store."""
        flow = self._semantics.control_flow
        return flow.scope(use) is not flow.scope(store) or flow.may_follow(store, use)

    def _read_here(self, uses: list[ast.Attribute], store: ast.Assign, others: list[ast.Attribute]) -> list[ast.Attribute]:
        """The uses of an attribute behind what stores it in a function that stores nothing else there in between, be it under a
        condition: others store it ahead, in other branches, or where the object is made.
        """
        function = self._tree.function(store)
        here = [other for other in others if self._tree.function(other) is function]
        making = [each for each in map(self._tree.function, others) if each is not function]
        if not isinstance(function, FUNCTIONS) or any(getattr(each, "name", "") != "__init__" for each in making):
            return []
        ahead = self._semantics.control_flow.ahead_of(function, [store])
        if any(ahead.includes(other) for other in here):
            return []
        return [use for use in uses if self._tree.function(use) is function and ahead.includes(use)]

    def _is_replaced(self, returned: ast.expr, function: Function, call: ast.Call) -> bool:
        """Whether a variable gets another value, in a function that is called so, than the first before it is returned:
        ``if state_dict: model = Net()``, which is true by default.
        """
        bindings = self._semantics.bindings.reaching(returned) if isinstance(returned, ast.Name) else ()
        if len(bindings) < 2:
            return False
        assumptions = self._semantics.of(Assumptions)
        given = assumptions.within(function, call, Assumption())
        last = max(bindings, key=lambda each: _place(each.node))
        guards = assumptions.guards(last.node)
        is_load = last.value is not None and any(part in self._loads for part in ast.walk(last.value))
        return not is_load and bool(guards) and all(assumptions.decided(test, given) is holds for test, holds in guards)

    @cached_property
    def _loads(self) -> set[ast.Call]:
        return self._semantics.of(SavedFiles).loads

    def _uses_of_name(self, target: ast.Name, depth: int) -> Iterator[ast.expr]:
        binding = self._semantics.bindings.of(target)
        for use in binding.uses if binding is not None else ():
            reaching = self._semantics.bindings.reaching(use)
            if all(each is binding or each.form is Form.ASSIGNMENT for each in reaching):
                yield from self._uses(use, depth + 1)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _is_read(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load)
