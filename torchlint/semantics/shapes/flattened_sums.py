"""Sums over the only dimension of what was flattened, also those that a function gives back: ``hits.view(-1).sum(0)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function

_REDUCING = frozenset({"sum", "mean"})
_KEEPING = frozenset({"float", "double", "half", "long", "int", "cpu", "cuda", "detach", "clone", "contiguous"})
"""Methods that leave a tensor its dimensions."""
_COMPUTING = frozenset({"mul", "div", "mul_", "div_"})
_DEPTH = 6


class FlattenedSums:
    """Tells which names are for such sums, be it by way of a function of the file that counts them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._known: dict[Binding, bool] = {}

    def is_number(self, value: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a value has no dimensions, as it is a sum over the only one, or is computed of that and numbers."""
        if not depth:
            return False
        match value:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(self._is_known_for_number(each, depth - 1) for each in bindings)
            case ast.BinOp(left=left, right=right, op=ast.Mult() | ast.Div()):
                return self.is_number(left, depth - 1) and self._is_plain(right)
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=given, keywords=words):
                if method in _REDUCING:
                    return _is_flat(owner) and _is_over_first(given, words)
                if method in _COMPUTING:
                    return self.is_number(owner, depth - 1) and not words and len(given) == 1 and self._is_plain(given[0])
                return method in _KEEPING and not given and not words and self.is_number(owner, depth - 1)
        return False

    def _is_plain(self, factor: ast.expr) -> bool:
        """Whether a factor is a number of Python, as far as it is written: a constant, a length, computed of such."""
        match factor:
            case ast.Constant(value=int() | float()):
                return True
            case ast.BinOp(left=left, right=right):
                return self._is_plain(left) and self._is_plain(right)
        return self._semantics.kind(factor).type is Type.NUMBER

    def _is_known_for_number(self, binding: Binding, depth: int) -> bool:
        if binding not in self._known:
            self._known[binding] = False  # for what is made of itself
            self._known[binding] = self._is_bound_to_number(binding, depth)
        return self._known[binding]

    def _is_bound_to_number(self, binding: Binding, depth: int) -> bool:
        value = binding.value
        if binding.form is not Form.ASSIGNMENT or value is None:
            return False
        if not binding.path:
            return self.is_number(value, depth)
        function = self._semantics.facts.definition(value.func) if isinstance(value, ast.Call) else None
        return isinstance(function, FUNCTIONS) and self._gives_numbers(function, binding.path, depth)

    def _gives_numbers(self, function: Function, path: tuple[object, ...], depth: int) -> bool:
        """Whether a function returns lists, or tuples, that hold such sums at a place."""
        returned = self._semantics.facts.returned(function)
        if not returned or len(path) != 1:
            return False
        for value in returned:
            held = list(self._held(value, path[0])) if value is not None else []
            if not held or not all(self.is_number(each, depth) for each in held):
                return False
        return True

    def _held(self, value: ast.expr, place: object) -> Iterator[ast.expr]:
        """What a list that is returned may hold at a place; nothing where that is not known."""
        match value:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if elements:
                if isinstance(place, int) and place < len(elements):
                    yield elements[place]
            case ast.ListComp(elt=element):
                yield element
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                if len(bindings) == 1 and isinstance(bindings[0].value, ast.List) and not bindings[0].value.elts:
                    added = [self._added(use) for use in bindings[0].uses if use is not value]
                    yield from (each for each in added if each is not None) if None not in added else ()

    def _added(self, use: ast.expr) -> ast.expr | None:
        """What is appended to a list where it is used."""
        method = self._semantics.tree.parent(use)
        call = self._semantics.tree.parent(method) if isinstance(method, ast.Attribute) and method.attr == "append" else None
        return call.args[0] if isinstance(call, ast.Call) and call.func is method and len(call.args) == 1 else None


def _is_flat(value: ast.expr) -> bool:
    """Whether a tensor has one dimension, as it is written: `x.view(-1)`, `x.reshape(-1).float()`, `x.flatten()`."""
    match value:
        case ast.Call(
            func=ast.Attribute(attr="view" | "reshape"), args=[ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))]
        ):
            return True
        case ast.Call(func=ast.Attribute(attr="flatten" | "ravel"), args=[], keywords=[]):
            return True
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[], keywords=[]) if method in _KEEPING:
            return _is_flat(owner)
    return False


def _is_over_first(given: list[ast.expr], words: list[ast.keyword]) -> bool:
    """Whether a reduction is over the first dimension, or over all, and keeps none."""
    if any(word.arg not in ("dim", "axis") for word in words):
        return False
    over = [*given, *(word.value for word in words)]
    return len(over) <= 1 and all(
        isinstance(each, ast.Constant) and each.value == 0 and each.value is not False for each in over
    )
