"""What is an integer for certain, and says why where it is not: what may index, or be a size."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, refuted, shortened
from torchlint.semantics import Semantics
from torchlint.semantics.certainty.sources import Condition, Sources
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.bindings import Form

_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
"""Operators that give an integer of two."""
_INTEGERS = frozenset({"builtins.len", "builtins.int"})


class Integers:
    """Tells of expressions whether they are integers of Python, with the reason if not.

    `provenance.numbers` asks for a number of any kind, floats among them, and gives no reason.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._sources = semantics.of(Sources)
        self._condition = Condition("integer", self._holds, frozenset({"builtins.int"}))

    def fact(self, node: ast.expr) -> Fact:
        """Whether ``node`` is an integer: written out, counted, or computed of such."""
        return self._sources.fact(node, self._condition)

    def _holds(self, node: ast.expr) -> Fact | None:
        match node:
            case ast.Constant(value=int()):
                return CERTAIN
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self.fact(operand)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _WHOLE):
                return self.fact(left) & self.fact(right)
            case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[_]):
                return self._semantics.of(Tensors).fact(tensor)
            case ast.Subscript(value=ast.Attribute(value=tensor, attr="shape"), slice=ast.Constant() | ast.UnaryOp()):
                return self._semantics.of(Tensors).fact(tensor)
            case ast.Call(func=ast.Attribute(value=tensor, attr="numel" | "dim" | "ndimension"), args=[]):
                return self._semantics.of(Tensors).fact(tensor)
            case ast.Call(func=function, args=[_]) if self._semantics.qualified_name(function) in _INTEGERS:
                return CERTAIN
            case ast.Constant():
                return refuted(f"`{shortened(node)}` is no integer")
            case ast.Name():
                found = self._semantics.bindings.reaching(node)
                if found and all(binding.form is Form.LOOP and self._counts(binding.value, binding.path) for binding in found):
                    return CERTAIN
        return None

    def _counts(self, iterable: ast.expr | None, path: tuple[int | None, ...]) -> bool:
        """Whether what a loop takes of an iterable is an integer: ``range(n)``, the first of ``enumerate(x)``."""
        match iterable:
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function)
                return (name == "builtins.range" and not path) or (name == "builtins.enumerate" and path == (0,))
        return False
