"""Whether a backward pass still comes: behind a place in the code, and through a value that was computed there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.autograd.backwards import BACKWARDS
from torchlint.semantics.autograd.paths import connected
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, last_name, position, walk_body
from torchlint.semantics.conditions.assumptions import Assumptions

_INFERENCE = re.compile(r"training|inference|deploy|export|onnx|predict|eval", re.IGNORECASE)
"""What conditions speak of behind which a model is not trained."""
_TARGETS = re.compile(r"(^|_)(targets?|labels?|gts?|ground_truths?)(_|$)", re.IGNORECASE)
"""What is called that only training gives a model."""
_MOST_SOURCES = 500
"""So many variables that a value is made of are followed; code that has more of them is generated."""


class LaterBackwards:
    """Tells of values whether their gradients are still to be computed."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._flow = semantics.control_flow
        self._facts = semantics.facts
        self._flows: dict[ast.AST, frozenset[Binding]] = {}

    def are_in(self, function: Function) -> bool:
        """Whether a function, or one within it, calls ``backward``."""
        return any(self._tree.inside(call, function) for call in self._calls)

    def are_of_callers(self, root: ast.expr) -> bool:
        """Whether a function that learns by graphs of gradients hands out a sum: its callers back-propagate through all of it.

        So is the loss over several tasks summed up, each behind some steps of its own, ``grad(loss, w, create_graph=True)``.
        """
        calls = (
            [each for each in self._facts.calls.get("grad", ()) if asks_for_graph(each)] if isinstance(root, ast.Name) else []
        )
        function = self._tree.function(root) if calls else None
        holders: set[ast.AST | None] = {self._tree.function(each) for each in calls}
        if not isinstance(function, FUNCTIONS) or not self._differentiates(function, holders):
            return False
        spelled = last_name(root)
        parts = (part for each in self._facts.returned(function) if each is not None for part in ast.walk(each))
        return any(isinstance(part, ast.Name) and part.id == spelled for part in parts)

    def _differentiates(self, function: Function, holders: set[ast.AST | None]) -> bool:
        """Whether a function asks for graphs of gradients, or one of the file, or of its object, does that it calls."""
        if function in holders:
            return True
        called = (part.func for part in walk_body(function.body) if isinstance(part, ast.Call))
        return any(self._called(each) in holders for each in called if isinstance(each, (ast.Name, ast.Attribute)))

    def _called(self, function: ast.Name | ast.Attribute) -> ast.AST:
        """The function of the file that is called, or the method of the same object; else what calls it."""
        if isinstance(function, ast.Name):
            return self._facts.definition(function) or function
        owner = self._facts.self_class(function.value)
        return (self._facts.method(owner, function.attr) if owner is not None else None) or function

    def may_follow(self, place: ast.AST, operation: ast.expr, results: Iterable[Binding]) -> bool:
        """Whether a backward pass through one of ``results`` may come behind ``place``, and not behind ``operation`` again.

        It does so by a ``backward`` in the same scope, or, where there is none, by one that the value gets to elsewhere, or
        because a module's ``forward`` returns it.
        """
        results = set(results)
        passes = self._passes.get(self._flow.scope(place))
        if passes is not None:
            calls = {call for result in results for call in passes.get(result, ())}
            return bool(calls) and self._flow.leads_to_any(place, sorted(calls, key=position), [operation])
        backpropagated = self._semantics.of(Backpropagated)
        if any(backpropagated.binding(result) for result in results):
            return True
        function = self._tree.function(place)
        return isinstance(function, FUNCTIONS) and self._is_trained(function, place, results)

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return [call for name in sorted(BACKWARDS) for call in self._facts.calls.get(name, ())]

    @cached_property
    def _passes(self) -> dict[FlowScope, dict[Binding, list[ast.Call]]]:
        """For each scope that has any, the calls of ``backward``, by the variables that what they are called on is made of."""
        found: dict[FlowScope, dict[Binding, list[ast.Call]]] = {}
        for call in self._calls:
            of_scope = found.setdefault(self._flow.scope(call), {})
            for binding in self._made_of(call):
                of_scope.setdefault(binding, []).append(call)
        return found

    def _is_trained(self, function: Function, place: ast.AST, results: set[Binding]) -> bool:
        """Whether a function is a module's ``forward`` that returns one of ``results``, on a way that training takes."""
        owner = self._tree.parent(function)
        if function.name != "forward" or not isinstance(owner, ast.ClassDef) or not self._facts.is_module(owner):
            return False
        guards = self._semantics.of(Assumptions).guards(place)
        if any(_INFERENCE.search(ast.unparse(test)) or _lacks_targets(test, holds=holds) for test, holds in guards):
            return False
        return not results.isdisjoint(self._made_of(function))

    def _made_of(self, end: ast.Call | Function) -> frozenset[Binding]:
        """The variables that a back-propagated value, or what a function returns, is made of."""
        if end not in self._flows:
            parts = self._facts.returned(end) if isinstance(end, FUNCTIONS) else self._propagated(end)
            self._flows[end] = self._followed(parts)
        return self._flows[end]

    def _propagated(self, call: ast.Call) -> list[ast.expr | None]:
        """What a call of ``backward`` back-propagates."""
        parts = [*call.args, *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
        return [part for part in parts if part in self._semantics.of(Backpropagated).every_root]

    def _followed(self, pending: list[ast.expr | None]) -> frozenset[Binding]:
        """The variables that go into some values, and into these variables."""
        found: set[Binding] = set()
        while pending:
            value = pending.pop()
            for part in connected(value, self._semantics.names) if value is not None else ():
                for binding in self._semantics.bindings.reaching(part) if isinstance(part, ast.Name) else ():
                    for source in (binding, *binding.before):
                        if source not in found and len(found) < _MOST_SOURCES:
                            found.add(source)
                            pending.append(source.value)
        return frozenset(found)


def asks_for_graph(value: ast.expr) -> bool:
    """Whether a value is made by a call that is told to keep its graph: ``torch.autograd.grad(y, x, create_graph=True)``."""
    words = (word for part in ast.walk(value) if isinstance(part, ast.Call) for word in part.keywords)
    return any(word.arg == "create_graph" for word in words)


def _lacks_targets(test: ast.expr, *, holds: bool) -> bool:
    """Whether a test comes out so where a model is given nothing to learn: ``targets is None``."""
    match test:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as asked], comparators=[ast.Constant(value=None)]):
            return _TARGETS.search(last_name(left)) is not None and isinstance(asked, ast.Is) is holds
    return False
