"""Lists that get what each step of a training back-propagates, and that outlive the steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.autograd.accumulation import Accumulations
from torchlint.semantics.autograd.accumulators import root_of
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.autograd.paths import connected
from torchlint.semantics.code.tree import Loop, last_name

_SHAPING = frozenset({"sum", "mean", "scale", "cpu", "cuda", "to", "float", "double", "clone"})
"""Methods whose result is back-propagated through what they are called on, or given: ``scaler.scale(loss)``."""
_EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "remove"})
"""Methods that take items out of a list or a dict."""
_CONTAINERS = frozenset(
    {"builtins.list", "builtins.dict", "collections.defaultdict", "collections.deque", "collections.OrderedDict"}
)
_SCHEDULES = ("scheduler", "schedule", "sched", "env")
"""What is called that has a ``step``, and is no optimizer."""


class TrainedLists:
    """Tells of statements that keep values whether these are surely losses of a training, in a list that outlives its steps."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def get_losses(self, statement: ast.AST) -> bool:
        """Whether what a statement keeps is back-propagated by the same round of the same loop, which takes a step of an
        optimizer, too; and it is kept in what was made before the loop, as a variable of the same function, and is never
        emptied.
        """
        leak = self._semantics.of(Accumulations).leaks.get(statement) if isinstance(statement, ast.stmt) else None
        loop = next(self._tree.loops(statement), None)
        root = root_of(leak.target) if leak is not None else None
        if leak is None or loop is None or not isinstance(root, ast.Name) or loop not in self._stepping:
            return False
        bindings = self._semantics.bindings.reaching(root)
        if not bindings or not all(self._is_made_before(each, loop) for each in bindings):
            return False
        if any(self._is_emptied(use) for each in bindings for use in each.uses):
            return False
        if leak.propagated_there:
            return True
        propagated = {binding for root in self._roots.get(loop, ()) for binding in self._named(root)}
        return all(any(not propagated.isdisjoint(self._named(part)) for part in _parts(value)) for value in leak.values)

    def is_assumed(self, statement: ast.AST) -> bool:
        """Whether a sum gets what is only taken to have a graph, as what is unpacked beside a loss, or called like one: nothing
        shows that it has one, and it is not back-propagated itself.
        """
        leak = self._semantics.of(Accumulations).leaks.get(statement) if isinstance(statement, ast.stmt) else None
        return leak is not None and not any(map(self._surely_has_graph, leak.values))

    def _surely_has_graph(self, value: ast.expr) -> bool:
        propagated, names = self._semantics.of(Backpropagated), self._semantics.names
        for part in connected(value, names):
            if self._semantics.kind(part).carries_graph:
                return True
            if isinstance(part, (ast.Name, ast.Attribute)) and (propagated.name(part) or propagated.before_return(part)):
                return True
        return False

    @cached_property
    def _stepping(self) -> set[Loop]:
        """The loops each of whose rounds takes a step of an optimizer."""
        functions = (call.func for call in self._semantics.facts.calls.get("step", ()))
        steps = (
            each
            for each in functions
            if isinstance(each, ast.Attribute) and not last_name(each.value).lower().endswith(_SCHEDULES)
        )
        return {loop for loop in (next(self._tree.loops(each), None) for each in steps) if loop is not None}

    @cached_property
    def _roots(self) -> dict[Loop, list[ast.expr]]:
        """What each round of a loop back-propagates, by the innermost loop around."""
        found: dict[Loop, list[ast.expr]] = {}
        for root in self._semantics.of(Backpropagated).roots:
            if (loop := next(self._tree.loops(root), None)) is not None:
                found.setdefault(loop, []).append(root)
        return found

    def _named(self, value: ast.expr) -> Iterator[Binding]:
        """The values of the variables that a value is, or is a sum or a multiple of."""
        match value:
            case ast.Name():
                yield from self._semantics.bindings.reaching(value)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
                yield from self._named(left)
                yield from self._named(right)
            case ast.Call(func=ast.Attribute(attr="scale"), args=[inner], keywords=[]):
                yield from self._named(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _SHAPING:
                yield from self._named(inner)

    def _is_made_before(self, binding: Binding, loop: Loop) -> bool:
        """Whether a list or a dict is made outside of a loop, in the function around that, and has this one name."""
        value = binding.value
        is_new = isinstance(value, (ast.List, ast.Dict)) or (
            isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) in _CONTAINERS
        )
        if not is_new or binding.form is not Form.ASSIGNMENT or binding.path or self._tree.inside(binding.node, loop):
            return False
        statement = self._tree.statement(binding.node)
        is_shared = isinstance(statement, ast.Assign) and len(statement.targets) > 1
        return not is_shared and self._tree.function(statement) is self._tree.function(loop)

    def _is_emptied(self, use: ast.expr) -> bool:
        """Whether items are taken out where a list is named."""
        parent = self._tree.parent(use)
        while isinstance(parent, ast.Subscript) and parent.value is use:
            if isinstance(parent.ctx, ast.Del) or (isinstance(parent.ctx, ast.Store) and isinstance(parent.slice, ast.Slice)):
                return True
            use, parent = parent, self._tree.parent(parent)
        return isinstance(parent, ast.Attribute) and parent.attr in _EMPTYING


def _parts(value: ast.expr) -> list[ast.expr]:
    """The parts of what is kept together: ``(step, loss)``."""
    return value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
