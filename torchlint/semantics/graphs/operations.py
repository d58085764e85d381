"""What is asked of an operation for each of its operands: worked out once for all, so that many operands cost what they are."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from itertools import islice

from torchlint.semantics import Semantics
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.graphs.graphless import Graphless
from torchlint.semantics.provenance.new_values import NewValues
from torchlint.semantics.provenance.numbers import Numbers

_ABOUT_OBJECTS = (ast.Is, ast.IsNot, ast.In, ast.NotIn)


class Operations:
    """Tells of calls and comparisons what their other operands are, and of values which call takes them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._new = semantics.of(NewValues)
        self._exceptions: dict[ast.Call | ast.Compare, tuple[ast.expr, ...]] = {}
        """The first operands that something does not hold of, two at most: enough to tell of others than a given one."""
        self._value_comparisons: dict[ast.Compare, bool] = {}
        self._keepers: dict[ast.AST, ast.Call | None] = {}

    def are_others_graphless(self, call: ast.Call, operand: ast.expr) -> bool:
        """Whether no other operand of a call that makes a new value has a graph."""
        return self._hold_of_others(call, operand, self._new.operands(call) or (), self._semantics.of(Graphless).is_graphless)

    def are_others_numbers_or_tensors(self, comparison: ast.Compare, operand: ast.expr) -> bool:
        """Whether all else that is compared is a number or a tensor."""
        operands = (comparison.left, *comparison.comparators) if comparison not in self._exceptions else ()
        return self._hold_of_others(comparison, operand, operands, self.is_number_or_tensor)

    def is_number_or_tensor(self, node: ast.expr) -> bool:
        """Whether a value that is read is a number or a tensor."""
        return self._semantics.of(Numbers).is_number(node) or self._semantics.of(Tensors).is_tensor(node)

    def compares_values(self, comparison: ast.Compare) -> bool:
        """Whether a comparison looks at values only, and not at which objects they are."""
        if comparison not in self._value_comparisons:
            about_objects = any(isinstance(operator, _ABOUT_OBJECTS) for operator in comparison.ops)
            self._value_comparisons[comparison] = not about_objects
        return self._value_comparisons[comparison]

    def keeper(self, node: ast.expr) -> ast.Call | None:
        """The innermost call in the statement that ``node`` is an argument of, directly or not, and that makes no new value."""
        passed: list[ast.AST] = []
        found: ast.Call | None = None
        child: ast.AST = node
        while not isinstance(child, ast.stmt):
            if child in self._keepers:
                found = self._keepers[child]
                break
            passed.append(child)
            parent = self._semantics.tree.parent(child)
            if isinstance(parent, ast.Call) and child is not parent.func and self._new.operands(parent) is None:
                found = parent
                break
            assert parent is not None, "an expression stands in a statement"
            child = parent
        self._keepers.update(dict.fromkeys(passed, found))
        return found

    def _hold_of_others(
        self,
        operation: ast.Call | ast.Compare,
        operand: ast.expr,
        operands: Iterable[ast.expr],
        holds: Callable[[ast.expr], bool],
    ) -> bool:
        if operation not in self._exceptions:
            self._exceptions[operation] = tuple(islice((each for each in operands if not holds(each)), 2))
        return all(each is operand for each in self._exceptions[operation])
