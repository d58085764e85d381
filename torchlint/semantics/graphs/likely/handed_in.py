"""What functions are given as arguments, and whether any call of them, as far as calls are known, hands in what has a graph."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.graphs.likely.origins import origin_of
from torchlint.semantics.summaries.calls import parameter

_CALLED_BY_OTHERS = frozenset({"forward", "__call__", "__init__"})
"""Methods that hardly anybody calls by their names."""
_DEPTH = 4


class HandedIn:
    """Tells of values whether they are arguments of functions, and whether their callers show that they have no graph."""

    def __init__(self, semantics: Semantics, is_graphless: Callable[[ast.expr], bool]) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._is_graphless = is_graphless
        self._known: dict[Binding, bool] = {}

    def is_one(self, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a value is an argument of a function that says nothing of it, or an item of one: others decide what it is."""
        origin = origin_of(node)
        bindings = self._semantics.bindings.reaching(origin) if isinstance(origin, ast.Name) and depth else ()
        return any(self._is_of_argument(each, depth - 1) for each in bindings)

    def _is_of_argument(self, binding: Binding, depth: int) -> bool:
        if binding.form is Form.PARAMETER:
            return binding.annotation is None
        if binding.form not in (Form.LOOP, Form.ASSIGNMENT) or not isinstance(
            binding.value, (ast.Name, ast.Call, ast.Subscript)
        ):
            return False
        return self.is_one(binding.value, depth)

    def are_graphless(self, node: ast.expr) -> bool:
        """Whether a name stands for an argument alone, moved at most, that has no graph in any call, and there is one."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(map(self._is_given_graphless, bindings))

    def _is_given_graphless(self, binding: Binding) -> bool:
        if binding not in self._known:
            self._known[binding] = False  # while it is looked at
            function = binding.scope.node
            if binding.form is Form.PARAMETER and isinstance(function, FUNCTIONS):
                self._known[binding] = self._is_called_alone(function, binding) and self._are_all_plain(binding)
            elif binding.form is Form.ASSIGNMENT and (value := _assigned(binding)) is not None:
                self._known[binding] = self.are_graphless(origin_of(value))
        return self._known[binding]

    def _are_all_plain(self, binding: Binding) -> bool:
        given = self._semantics.inference.given(binding)
        return bool(given) and all(each is not None and self._is_graphless(each) for each in given)

    def _is_called_alone(self, function: Function, binding: Binding) -> bool:
        """Whether a function is called by its name alone, by code of the file and, as far as is known, of no other one."""
        owner = self._tree.parent(function)
        if function.decorator_list or function.name in _CALLED_BY_OTHERS or not isinstance(owner, (ast.Module, ast.ClassDef)):
            return False
        facts, callers = self._semantics.facts, self._semantics.elsewhere.callers
        sites = facts.call_sites(function)
        is_method = isinstance(owner, ast.ClassDef)
        mentions = len(facts.calls.get(function.name, ())) if is_method else facts.read_names[function.name]
        if len(sites) != mentions:
            return False
        asked = parameter(function, binding.name, owner.name if isinstance(owner, ast.ClassDef) else "")
        return callers is None or not callers.given(asked)


def _assigned(binding: Binding) -> ast.expr | None:
    """What a name is given, be it beside others: ``x, y = x.to(device), y.to(device)``."""
    value = binding.value
    for place in binding.path:
        if not isinstance(value, ast.Tuple) or place is None or any(isinstance(each, ast.Starred) for each in value.elts):
            return None
        value = value.elts[place] if place < len(value.elts) else None
    return value
