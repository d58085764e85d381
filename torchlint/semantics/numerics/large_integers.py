"""Integers that floats of 32 bits do not all hold: those above 2**24."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Semantics

_LAST_EXACT = 2**24
"""Up to here float32 holds each integer; the next one becomes this one."""
_MOST_BITS = 128
_GIVE_LARGE = frozenset(
    {
        *("builtins.hash", "builtins.id", "time.time_ns", "time.perf_counter_ns", "time.monotonic_ns", "random.getrandbits"),
        *("zlib.crc32", "zlib.adler32", "binascii.crc32"),
    }
)
"""Functions whose results are large as a rule."""
_OF_ANY = frozenset({"builtins.range", "numpy.arange", "random.randint", "random.randrange", "numpy.random.randint"})
"""Functions that give integers up to what they are told."""
_OF_FIRST = frozenset(
    {
        *(f"builtins.{name}" for name in ("list", "tuple", "sorted", "int", "abs", "max", "sum")),
        *(f"numpy.{name}" for name in ("array", "asarray", "stack", "concatenate", "int64")),
    }
)
"""Functions that give the integers that they are given, in another form."""
_KEEP = frozenset({"astype", "tolist", "reshape", "copy", "flatten", "ravel"})
"""Methods that do so."""
_DEPTH = 12


class LargeIntegers:
    """Tells of values whether integers among them are large, for all to see."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._bound: dict[Binding, bool] = {}

    def are_in(self, value: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a number, or one of what a list or an array holds, is above 2**24, or comes of what gives such."""
        if not depth:
            return False
        if (number := _written(value)) is not None:
            return abs(number) > _LAST_EXACT
        match value:
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return any(self.are_in(part, depth - 1) for part in parts)
            case ast.Starred(value=inner) | ast.UnaryOp(op=ast.USub(), operand=inner):
                return self.are_in(inner, depth - 1)
            case ast.ListComp(elt=inner) | ast.GeneratorExp(elt=inner):
                return self.are_in(inner, depth - 1)
            case ast.IfExp(body=one, orelse=other):
                return self.are_in(one, depth - 1) or self.are_in(other, depth - 1)
            case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.BitOr() | ast.BitXor(), right=right):
                return self.are_in(left, depth - 1) or self.are_in(right, depth - 1)
            case ast.BinOp(left=left, op=ast.Sub(), right=right) if _written(right) is not None:
                return self.are_in(left, depth - 1)
            case ast.BinOp(left=left, op=ast.Mod() | ast.BitAnd(), right=right):
                return self.are_in(left, depth - 1) and self.are_in(right, depth - 1)
            case ast.Name():
                return any(self._is_bound_to_large(each, depth - 1) for each in self._semantics.bindings.reaching(value))
            case ast.Attribute():
                return self._is_largest(value)
            case ast.Call():
                return self._gives_large(value, depth - 1)
        return False

    def _gives_large(self, call: ast.Call, depth: int) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if name in _GIVE_LARGE:
            return True
        if name in _OF_ANY:
            return any(self.are_in(each, depth) for each in call.args)
        if name in _OF_FIRST:
            return bool(call.args) and self.are_in(call.args[0], depth)
        match call.func:
            case ast.Attribute(value=inner, attr=method) if method in _KEEP:
                return self.are_in(inner, depth)
        return False

    def _is_largest(self, value: ast.Attribute) -> bool:
        """Whether a value is the largest that a machine has: ``sys.maxsize``, ``np.iinfo(np.int64).max``."""
        match value:
            case ast.Attribute(value=ast.Call(func=ast.Attribute() as function, args=[kind]), attr="max"):
                is_told = self._semantics.qualified_name(function) == "numpy.iinfo"
                return is_told and self._semantics.qualified_name(kind) in ("numpy.int32", "numpy.int64")
        return self._semantics.qualified_name(value) == "sys.maxsize"

    def _is_bound_to_large(self, binding: Binding, depth: int) -> bool:
        if binding not in self._bound:
            self._bound[binding] = False  # while it is looked at
            self._bound[binding] = self._is_of_large(binding, depth)
        return self._bound[binding]

    def _is_of_large(self, binding: Binding, depth: int) -> bool:
        if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None:
            return False
        if isinstance(binding.value, ast.List) and any(self._fills_large(use, depth) for use in binding.uses):
            return True
        return self.are_in(binding.value, depth)

    def _fills_large(self, use: ast.Name, depth: int) -> bool:
        """Whether a list is filled with such a number: ``x.append(hash(word))``."""
        method = self._semantics.tree.parent(use)
        match self._semantics.tree.parent(method) if isinstance(method, ast.Attribute) else None:
            case ast.Call(func=ast.Attribute(attr="append" | "extend"), args=[given]) as call if call.func is method:
                return self.are_in(given, depth)
        return False


def _written(value: ast.expr) -> int | None:
    """An integer that is written out, perhaps as a power: ``2**31``, ``1 << 40``."""
    match value:
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=ast.Constant(value=int(base)), op=operator, right=ast.Constant(value=int(exponent))):
            if isinstance(operator, (ast.Pow, ast.LShift)) and 0 <= exponent <= _MOST_BITS:
                return base**exponent if isinstance(operator, ast.Pow) else base << exponent
    return None
