"""Whether a call of a function's successor, which takes or gives something else, does the same here (ran on torch 2.13)."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, known, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.certainty.argument_order import ArgumentOrder
from torchlint.semantics.code.tree import given_to, is_none, keyword
from torchlint.semantics.observers.free_errors import FreeErrors
from torchlint.semantics.shapes.ranks import Ranks

_DTYPES = frozenset(
    {
        *("float", "float16", "float32", "float64", "double", "half", "bfloat16", "uint8", "int8", "int16", "int32", "int64"),
        *("short", "int", "long"),
    }
)
_DEEP = 3


class Successors:
    """Tells it of the functions that are replaced by hand."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def does_the_same(self, call: ast.Call, old: str) -> Fact:
        """Whether the successor of ``old``, the function that is called, is called to the same end."""
        match old.rpartition(".")[2]:
            case "chain_matmul":
                return self._are_matrices(call)
            case "qr":
                return known(self._is_taken_apart(call), f"the type of what `{shortened(call)}` gives may be looked at")
            case "cholesky":
                return self._semantics.of(FreeErrors).texts
            case "lu_solve":
                return self._semantics.of(ArgumentOrder).is_free(call)
            case "range":
                return self._is_of_dtype(keyword(call, "dtype"), _DEEP)
        return CERTAIN

    def _are_matrices(self, call: ast.Call) -> Fact:
        """Whether all arguments are matrices: `multi_dot` takes vectors at the ends, and `chain_matmul` raises."""
        ranks = self._semantics.of(Ranks)
        if all(ranks.of(each) == 2 for each in given_to(call)):
            return CERTAIN
        return self._semantics.of(FreeErrors).of(call)

    def _is_taken_apart(self, node: ast.expr) -> bool:
        """Whether nothing is done with a pair, or by a name of it, but to take its parts out: the types have two names."""
        match self._semantics.tree.parent(node):
            case ast.Subscript(value=value) if value is node:
                return True
            case ast.Attribute(attr="Q" | "R"):
                return True
            case ast.Assign(targets=[ast.Tuple() | ast.List()]):
                return True
            case ast.Assign(targets=[ast.Name() as name]):
                binding = self._semantics.bindings.of(name)
                return binding is not None and all(map(self._is_taken_apart, binding.uses))
        return False

    def _is_of_dtype(self, dtype: ast.expr | None, depth: int) -> Fact:
        """Whether the argument ``dtype`` is one: for ``None`` a range of integers is of these, and one of `range` is not."""
        if is_none(dtype) or dtype is None or self._is_dtype(dtype, depth):
            return CERTAIN
        return unknown(f"`{shortened(dtype)}` may be None, which leaves integers integers")

    def _is_dtype(self, node: ast.expr, depth: int) -> bool:
        match node:
            case ast.Attribute(attr="dtype"):
                return True
            case ast.Call(func=function):
                return self._semantics.qualified_name(function) == "torch.get_default_dtype"
            case ast.Name() | ast.Attribute() if self._is_named(node):
                return True
            case ast.IfExp(body=body, orelse=other) if depth:
                return self._is_dtype(body, depth - 1) and self._is_dtype(other, depth - 1)
            case ast.Name() if depth:
                values = self._semantics.bindings.values(node)
                return bool(values) and all(self._is_dtype(each, depth - 1) for each in values)
        return False

    def _is_named(self, node: ast.expr) -> bool:
        module, _, last = (self._semantics.qualified_name(node) or "").rpartition(".")
        return module == "torch" and last in _DTYPES
