"""Whether the arguments of a call can change places: nothing tells which of them is computed first."""

from __future__ import annotations

import ast
from enum import IntEnum
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.tree import given_to
from torchlint.semantics.observers.free_errors import FreeErrors

_PLAIN = frozenset({"zeros", "ones", "eye", "full", "arange", "zeros_like", "ones_like", "tensor"})
_COMPUTING = frozenset(
    {"sqrt", "add_", "add", "mul", "mul_", "div", "pow", "t", "view", "detach", "clone", "abs", "sum", "mean"}
)
"""Methods of tensors that draw no random numbers."""
_OF_TENSORS = frozenset({"data", "grad", "shape", "T"})
"""Attributes that every tensor has."""
_ANY_ATTRIBUTE = frozenset({"__getattr__", "__getattribute__"})
_ANY_ITEM = frozenset({"__getitem__", "__missing__"})
_OPERATORS = frozenset(
    {f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv", "pow", "matmul") for side in ("", "r")}
    | {"__neg__", "__pos__", "__eq__", "__lt__", "__gt__"}
)
_OTHERWISE = unknown("the arguments are computed in another order")


class Effect(IntEnum):
    """What working out an argument can do that shows when it is done, each more than the one before."""

    NONE = 0
    READS = 1
    RAISES = 2
    ACTS = 3


class ArgumentOrder:
    """Tells of calls whether their arguments can be worked out in another order."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_free(self, call: ast.Call) -> Fact:
        """Whether nobody notices: all but one of them do nothing, or several may raise, and nobody awaits the error."""
        effects = [effect for effect in map(self._effect, given_to(call)) if effect is not Effect.NONE]
        if any(map(self._runs_code, (part for each in given_to(call) for part in ast.walk(each)))):
            return _OTHERWISE
        if len(effects) > 1 and Effect.ACTS in effects:
            return _OTHERWISE
        return self._semantics.of(FreeErrors).of(call) if effects.count(Effect.RAISES) > 1 else CERTAIN

    def _runs_code(self, part: ast.AST) -> bool:
        """Whether a part of an argument hands the control over, or binds a name, on the way."""
        if isinstance(part, ast.Call):
            return not self._computes(part)
        return isinstance(part, (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom))

    def _effect(self, argument: ast.expr) -> Effect:
        return max(map(self._effect_of_part, ast.walk(argument)))

    def _effect_of_part(self, part: ast.AST) -> Effect:
        methods = self._semantics.facts.method_names
        match part:
            case ast.UnaryOp(operand=ast.Constant()):
                return Effect.NONE
            case ast.Attribute() if self._is_called(part):
                return Effect.NONE
            case ast.Attribute(attr=name) if not methods.isdisjoint({name, *_ANY_ATTRIBUTE}):
                return Effect.ACTS
            case ast.Attribute(attr=name) if name in _OF_TENSORS:
                return Effect.READS if name == "grad" else Effect.NONE
            case ast.Attribute():
                return Effect.READS if self._is_kept(part) else Effect.RAISES
            case ast.Subscript():
                return Effect.RAISES if methods.isdisjoint(_ANY_ITEM) else Effect.ACTS
            case ast.UnaryOp() | ast.BinOp() | ast.Compare():
                return self._of_operators
            case ast.Call():
                return Effect.RAISES
        return Effect.NONE

    @cached_property
    def _of_operators(self) -> Effect:
        """What the signs between values do: a class of the file may have its own."""
        return Effect.NONE if self._semantics.facts.method_names.isdisjoint(_OPERATORS) else Effect.ACTS

    def _is_called(self, function: ast.Attribute) -> bool:
        """Whether an attribute is a function that is called, of which it is told what that does."""
        call = self._semantics.tree.parent(function)
        return isinstance(call, ast.Call) and call.func is function

    def _is_kept(self, attribute: ast.Attribute) -> bool:
        """Whether an attribute is one that an object of a class of the file is given, and has no method for."""
        owner = self._semantics.facts.self_class(attribute.value)
        slots = self._semantics.facts.slots(owner, attribute.attr) if owner is not None else []
        return any(slot.stores for slot in slots)

    def _computes(self, call: ast.Call) -> bool:
        """Whether a call computes a tensor of tensors, so that it does not matter when; what draws random numbers does."""
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("torch."):
            return name not in torch_api.FACTORIES or name.rpartition(".")[2] in _PLAIN
        return isinstance(call.func, ast.Attribute) and call.func.attr in _COMPUTING
