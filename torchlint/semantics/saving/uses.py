"""Where what is loaded from a file is used: by itself, by its items, and under the names that it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.memory.references import References

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
                kept = [each for slot in slots for each in slot.uses] if sum(len(slot.stores) for slot in slots) == 1 else []
                for each in kept:
                    yield from self._uses(each, depth + 1)
            case ast.Return():
                function = self._tree.function(parent)
                for site in self._semantics.facts.call_sites(function) if isinstance(function, FUNCTIONS) else ():
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

    def _uses_of_name(self, target: ast.Name, depth: int) -> Iterator[ast.expr]:
        binding = self._semantics.bindings.of(target)
        for use in binding.uses if binding is not None else ():
            reaching = self._semantics.bindings.reaching(use)
            if all(each is binding or each.form is Form.ASSIGNMENT for each in reaching):
                yield from self._uses(use, depth + 1)


def _is_read(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load)
