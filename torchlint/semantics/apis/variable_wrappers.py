"""Functions of a file's own that stand for torch's `Variable`: ``Variable = lambda *args: autograd.Variable(*args).cuda()``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.code.tree import FUNCTIONS, Function

Node = TypeVar("Node")
Definition: TypeAlias = Function | ast.Lambda

VARIABLE = "torch.autograd.Variable"
_MOVES = frozenset({"cuda", "cpu", "to", "type", "float", "double", "long", "contiguous"})
_DEEP = 4


@dataclass(frozen=True, eq=False, slots=True)
class OwnWrapper(Generic[Node]):
    """A function that wraps what it is given first: its ``definition``, the ``calls`` of `Variable` in it, and its ``uses``.

    The ``uses`` are ``None`` where it may be called in other ways than those that are seen.
    """

    definition: Node
    calls: tuple[Node, ...]
    uses: tuple[Node, ...] | None


class OwnWrappers:
    """Finds them, and where they are called."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def all(self) -> dict[Definition, OwnWrapper[ast.AST]]:
        """The wrappers by their definitions."""
        inner: dict[Definition, list[ast.Call]] = {}
        for call in self._semantics.of(Spellings).calls({"Variable"}):
            function = self._tree.function(call)
            if function is not None and self._semantics.qualified_name(call.func) == VARIABLE:
                inner.setdefault(function, []).append(call)
        found: dict[Definition, OwnWrapper[ast.AST]] = {}
        for function, calls in inner.items():
            values = [function.body] if isinstance(function, ast.Lambda) else self._semantics.facts.returned(function)
            if values and all(value is not None and self._wraps(value, function, _DEEP) for value in values):
                found[function] = OwnWrapper(function, tuple(calls), self._uses(function))
        return found

    @cached_property
    def uninitialised(self) -> dict[ast.ClassDef, Function]:
        """The classes derived from `Variable` with an ``__init__`` of their own, by which nothing is initialised any more.

        Calling such a class gives a plain tensor, and never calls the method (ran on torch 2.13).
        """
        found = {}
        for owner, facts in self._semantics.facts.classes.items():
            method = facts.methods.get("__init__")
            if method is not None and any(self._semantics.qualified_name(base) == VARIABLE for base in owner.bases):
                found[owner] = method
        return found

    @cached_property
    def by_inner_call(self) -> dict[ast.AST, OwnWrapper[ast.AST]]:
        """The wrappers by the calls of `Variable` in them."""
        return {call: wrapper for wrapper in self.all.values() for call in wrapper.calls}

    @cached_property
    def calls(self) -> dict[ast.Call, OwnWrapper[ast.AST]]:
        """The wrappers by the calls of them."""
        return {call: wrapper for definition, wrapper in self.all.items() for call in self._calls_of(definition)}

    @cached_property
    def taking_volatile(self) -> list[ast.Call]:
        """The calls of wrappers that hand ``volatile`` on to `Variable`, or do nothing with it any more."""
        return [call for call, wrapper in self.calls.items() if _hands_on_volatile(wrapper) or self._ignores_volatile(wrapper)]

    def _ignores_volatile(self, wrapper: OwnWrapper[ast.AST]) -> bool:
        parameters = [node for node in ast.walk(wrapper.definition) if isinstance(node, ast.arg) and node.arg == "volatile"]
        bindings = [self._semantics.bindings.of(parameter) for parameter in parameters]
        return bool(bindings) and all(binding is not None and not binding.uses for binding in bindings)

    def called(self, call: ast.Call) -> OwnWrapper[ast.AST] | None:
        """The wrapper that a call is of; ``None`` if it is of anything else."""
        return self.calls.get(call)

    def _calls_of(self, definition: Definition) -> Iterator[ast.Call]:
        for use in self._mentions(definition):
            call = self._tree.parent(use)
            if isinstance(call, ast.Call) and call.func is use:
                yield call

    def _uses(self, definition: Definition) -> tuple[ast.Call, ...] | None:
        found = []
        for use in self._mentions(definition):
            call = self._tree.parent(use)
            if not isinstance(call, ast.Call) or call.func is not use:
                return None
            found.append(call)
        return tuple(found)

    def _mentions(self, definition: Definition) -> list[ast.Name]:
        """The names that refer to a function, and to nothing else."""
        binding = self._binding(definition)
        uses = binding.uses if binding is not None else ()
        return [use for use in uses if self._semantics.bindings.reaching(use) == (binding,)]

    def _binding(self, definition: Definition) -> Binding | None:
        if isinstance(definition, FUNCTIONS):
            return self._semantics.bindings.of(definition)
        match self._tree.parent(definition):
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is definition:
                return self._semantics.bindings.of(target)
        return None

    # --- what wraps --------------------------------------------------------------------------------------------------

    def _wraps(self, value: ast.expr, function: Definition, depth: int) -> bool:
        """Whether a value is what a function is given first, wrapped, perhaps moved."""
        match value:
            case ast.IfExp(body=body, orelse=orelse):
                return self._wraps(body, function, depth) and self._wraps(orelse, function, depth)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _MOVES:
                return self._wraps(inner, function, depth)
            case ast.Call(func=called, args=[data, *_]) if self._semantics.qualified_name(called) == VARIABLE:
                return self._is_given(data, function, depth)
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(self._binds(each, function, depth - 1) for each in bindings)
        return False

    def _binds(self, binding: Binding, function: Definition, depth: int) -> bool:
        is_assigned = binding.form is Form.ASSIGNMENT and not binding.path and binding.value is not None
        return is_assigned and binding.value is not None and self._wraps(binding.value, function, depth)

    def _is_given(self, data: ast.expr, function: Definition, depth: int) -> bool:
        """Whether a value is the first argument of a function, perhaps moved."""
        match data:
            case ast.Starred(value=ast.Name(id=name)):
                return function.args.vararg is not None and function.args.vararg.arg == name
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _MOVES:
                return self._is_given(inner, function, depth)
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(data)
                return bool(bindings) and all(self._gives(each, function, depth - 1) for each in bindings)
        return False

    def _gives(self, binding: Binding, function: Definition, depth: int) -> bool:
        if binding.form is Form.PARAMETER:
            return binding.node in [*function.args.posonlyargs, *function.args.args][:2]  # behind `self`, too
        value = binding.value
        return binding.form is Form.ASSIGNMENT and value is not None and self._is_given(value, function, depth)


def _hands_on_volatile(wrapper: OwnWrapper[ast.AST]) -> bool:
    calls = [call for call in wrapper.calls if isinstance(call, ast.Call)]
    return any(word.arg in (None, "volatile") for call in calls for word in call.keywords)
