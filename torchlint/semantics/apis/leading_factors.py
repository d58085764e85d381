"""Operations that are given their factors in front of their operands, ``w.add_(-lr, grad)``, as torch 0.3 took them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type
from torchlint.semantics.apis.methods import Methods

Node = TypeVar("Node")


@dataclass(frozen=True, slots=True)
class _Operation:
    """What the factors are called, and how many operands there are besides the input."""

    factors: tuple[str, ...]
    operands: int
    leads: bool = False
    """Whether the function takes the first factor even before the input: ``torch.addmm(beta, input, alpha, mat1, mat2)``."""


_OPERATIONS = {
    **dict.fromkeys(("add", "sub"), _Operation(("alpha",), 1)),
    **dict.fromkeys(("addcmul", "addcdiv"), _Operation(("value",), 2)),
    **dict.fromkeys(("addmm", "addmv", "addr", "baddbmm", "addbmm"), _Operation(("beta", "alpha"), 2, leads=True)),
}
"""By the names of the functions and methods; methods also have a form that ends in an underscore."""
SCALED_WORDS = frozenset(name + end for name in _OPERATIONS for end in ("", "_"))
"""Of these a file with such a call says one."""


@dataclass(frozen=True, eq=False, slots=True)
class Factor(Generic[Node]):
    """An argument that is a factor, and what the parameter is called."""

    name: str
    value: Node


class LeadingFactors:
    """Finds such operations in a file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._methods = semantics.of(Methods)

    @cached_property
    def given(self) -> dict[ast.Call, tuple[Factor[ast.expr], ...]]:
        """The calls of tensors' operations with factors in front, each with these."""
        calls = self._semantics.facts.calls
        named = ((call, operation) for name, operation in _OPERATIONS.items() for call in _calls(calls, name))
        found = ((call, self._factors(call, operation)) for call, operation in named)
        return {call: factors for call, factors in found if factors}

    def _factors(self, call: ast.Call, operation: _Operation) -> tuple[Factor[ast.expr], ...]:
        function = call.func
        if call.keywords or not call.args or any(isinstance(argument, ast.Starred) for argument in call.args):
            return ()
        if not isinstance(function, ast.Attribute):
            return ()
        is_function = self._semantics.qualified_name(function) == f"torch.{function.attr}"
        factors = _leading(call, operation, is_function)
        values = {factor.value for factor in factors}
        operands = [argument for argument in call.args if argument not in values]
        if not factors or any(self._semantics.kind(operand).type is Type.NUMBER for operand in operands):
            return ()
        return factors if is_function or self._methods.is_of_tensor(function) else ()


def _calls(calls: dict[str, list[ast.Call]], name: str) -> list[ast.Call]:
    return [*calls.get(name, ()), *calls.get(f"{name}_", ())]


def _leading(call: ast.Call, operation: _Operation, is_function: bool) -> tuple[Factor[ast.expr], ...]:
    """The arguments that are factors where as many are given; none where the call is one of today's."""
    places = list(range(len(operation.factors)))
    extra = len(call.args) - operation.operands - is_function
    if is_function:
        places = [0, 2] if operation.leads else [1]
    if extra < 1 or extra > len(places):
        return ()
    return tuple(Factor(name, call.args[place]) for name, place in zip(operation.factors, places[:extra]))
