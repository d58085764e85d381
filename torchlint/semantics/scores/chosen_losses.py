"""Losses that a class chooses by a condition, and calls under the same condition."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, is_none
from torchlint.semantics.scores.activations import Activations

_CROSS_ENTROPIES = ("CrossEntropyLoss", "BCEWithLogitsLoss", "NLLLoss", "MultiLabelSoftMarginLoss")


class ChosenLosses:
    """Tells which of several losses an attribute holds where it is called."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._activations = semantics.of(Activations)

    def name(self, function: ast.expr) -> str | None:
        """The full name of the one class whose instance ``self.loss`` is under the conditions that hold there.

        ``self.loss`` is a `CrossEntropyLoss` ``if discrete:`` and an `MSELoss` otherwise, and is called ``if self.discrete:``;
        or what class it is of is asked: ``if isinstance(args.loss, nn.CrossEntropyLoss):``.
        """
        if (asked := self._asked(function)) is not None:
            return asked
        if not isinstance(function, ast.Attribute) or function.attr not in self._attributes:
            return None
        holding = set(self._conditions(function))
        made = [each for each in self._activations.constructions(function) if not is_none(each)]
        possible = [each for each in made if not any((test, not holds) in holding for test, holds in self._conditions(each))]
        names = {self._semantics.qualified_name(each.func) if isinstance(each, ast.Call) else None for each in possible}
        return names.pop() if len(names) == 1 else None

    def _asked(self, function: ast.expr) -> str | None:
        """The class that a condition around a call asks for and finds."""
        inner: ast.AST = function
        for outer in self._semantics.tree.ancestors(function):
            match outer:
                case ast.If(
                    test=ast.Call(func=ast.Name(id="isinstance"), args=[asked, (ast.Name() | ast.Attribute()) as expected]),
                    body=body,
                ) if inner in body and ast.dump(asked) == ast.dump(function):
                    return self._semantics.qualified_name(expected)
            if isinstance(outer, FUNCTIONS):
                break
            inner = outer
        return None

    @cached_property
    def _attributes(self) -> frozenset[str]:
        """The names of attributes that are assigned a loss under a condition."""
        found: set[str] = set()
        for call in (call for name in _CROSS_ENTROPIES for call in self._semantics.facts.calls.get(name, ())):
            statement = self._semantics.tree.statement(call)
            if isinstance(statement, ast.Assign) and any(True for _ in self._conditions(call)):
                found.update(target.attr for target in statement.targets if isinstance(target, ast.Attribute))
        return frozenset(found)

    def _conditions(self, node: ast.AST) -> Iterator[tuple[str, bool]]:
        """The tests around a node in its function, and whether each holds there; attributes of `self` go by their names."""
        inner: ast.AST = node
        for outer in self._semantics.tree.ancestors(node):
            if isinstance(outer, FUNCTIONS):
                return
            if isinstance(outer, ast.If) and inner is not outer.test:
                yield ast.unparse(outer.test).replace("self.", ""), inner in outer.body
            inner = outer
