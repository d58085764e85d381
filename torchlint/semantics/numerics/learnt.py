"""Numbers that may be back-propagated through, and those of code that learns nothing."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, last_name, walk_body
from torchlint.semantics.purpose import Purpose

_LEARNING = re.compile(
    r"backward$|^(grad|value_and_grad|step|fit|jacobian|hessian)$|train|optimi[sz]e|minimi[sz]e|update|learn"
)
"""What is called that back-propagates, or may do so in another file."""
_KEEPING = frozenset({"append", "extend", "add", "insert", "setattr"})


class LearntNumbers:
    """Tells of the numbers of one file whether gradients may go through them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def may_learn(self, node: ast.expr) -> bool:
        """Whether a backward pass may reach a value: the file has one, or a function hands on what it computes of it.

        It does not under ``no_grad``, in a test of the code, and in what a file tries out when it is run itself.
        """
        semantics, purpose = self._semantics, self._semantics.of(Purpose)
        if semantics.no_grad.covers(node) or purpose.is_test_case(semantics.control_flow.scope(node)):
            return False
        return not purpose.is_self_test(node) and (self._learns or self._hands_on(node))

    @cached_property
    def _learns(self) -> bool:
        return any(calls and _LEARNING.search(name) for name, calls in self._semantics.facts.calls.items())

    def _hands_on(self, node: ast.expr) -> bool:
        """Whether a function around a value returns, or keeps, anything."""
        tree = self._semantics.tree
        function = tree.function(node)
        if isinstance(function, ast.Lambda):
            return True
        return isinstance(function, FUNCTIONS) and any(map(_is_handed_on, walk_body(function.body)))


def _is_handed_on(part: ast.AST) -> bool:
    match part:
        case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
            return not isinstance(value, ast.Constant)
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            return True
        case ast.Call(func=func):
            return last_name(func) in _KEEPING
    return False
