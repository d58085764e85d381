"""Conditions that the constants of a file decide: ``gpus = 1``, and then ``if gpus > 1``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from torchlint.semantics import Form, Semantics
from torchlint.semantics.conditions.assumptions import Assumptions

_COMPARED: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class ConstantConditions:
    """Tells of places of one file whether they are ever run, as long as nobody writes other constants there."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def rule_out(self, node: ast.AST) -> bool:
        """Whether a condition that decides on a node does not hold, by numbers and truths that its names were given."""
        return any(self._decided(test) is (not holds) for test, holds in self._semantics.of(Assumptions).guards(node))

    def _decided(self, test: ast.expr) -> bool | None:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                found = self._decided(operand)
                return None if found is None else not found
            case ast.BoolOp(op=op, values=values):
                parts = [self._decided(value) for value in values]
                ending = isinstance(op, ast.Or)
                return ending if ending in parts else None if None in parts else not ending
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                one, other = self._number(left), self._number(right)
                return None if one is None or other is None else _COMPARED[type(op)](one, other)
        number = self._number(test)
        return None if number is None else bool(number)

    def _number(self, node: ast.expr) -> float | None:
        """The number or truth that is written out, or that a name was given in the one place where it is bound."""
        if isinstance(node, ast.Name):
            bindings = self._semantics.bindings.reaching(node)
            if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path or bindings[0].value is None:
                return None
            if len(self._semantics.bindings.lookup(node.id, bindings[0].scope)) != 1:
                return None
            node = bindings[0].value
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)) else None
