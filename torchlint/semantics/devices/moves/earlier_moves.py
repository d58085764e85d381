"""Moves to a device on which a tensor is already, by the moves that the lines above show."""

from __future__ import annotations

import ast

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.bindings import Binding

_PRODUCTS = frozenset({"torch.mm", "torch.matmul", "torch.bmm", "torch.einsum"})
"""What computes of tensors with axes, which are all on one device: that of the result."""
_STAYING = frozenset(
    {"t", "float", "double", "half", "long", "int", "bool", "view", "reshape", "transpose", "permute", "squeeze", "unsqueeze"}
    | {"detach", "clone", "contiguous", "flatten", "mm", "matmul", "bmm", "sum", "mean", "exp", "log", "abs", "T", "data"}
)
"""Methods and attributes whose result is where the tensor is."""
_DEEPEST = 4
"""Through so many variables a tensor is followed."""
_MOST = 4
"""So many values that a variable may hold are looked at."""


class EarlierMoves:
    """Tells of moves whether they do nothing."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def make_needless(self, move: ast.Call) -> bool:
        """Whether what a move is called on was moved to the same device before, and computed there since."""
        place = self._place(move)
        return place is not None and isinstance(move.func, ast.Attribute) and self._is_there(move.func.value, place, _DEEPEST)

    def _place(self, call: ast.Call) -> tuple[str, frozenset[Binding]] | None:
        """The device that a move is to, and nothing else: by its name, or the variable that has it, with what that holds."""
        match call:
            case ast.Call(func=ast.Attribute(attr="cpu"), args=[], keywords=[]):
                return "cpu", frozenset()
            case ast.Call(func=ast.Attribute(attr="cuda"), args=[], keywords=[]):
                return "cuda", frozenset()
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value=str(name))], keywords=[]):
                return name, frozenset()
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Name() as device], keywords=[]):
                bindings = self._semantics.bindings.reaching(device)
                is_settled = bool(bindings) and not self._semantics.kind(device).is_tensor
                return (device.id, frozenset(bindings)) if is_settled and not _is_dtype(device.id) else None
        return None

    def _is_there(self, node: ast.expr, place: tuple[str, frozenset[Binding]], depth: int) -> bool:
        match node:
            case ast.Name():
                return depth > 0 and self._is_assigned_there(node, place, depth)
            case ast.Call(func=ast.Attribute(attr="to" | "cuda" | "cpu")) as move:
                return self._place(move) == place
            case ast.Call(func=ast.Attribute(value=owner, attr=name) as function) if not self._is_of_torch(function):
                return name in _STAYING and self._is_there(owner, place, depth)
            case ast.Attribute(value=owner, attr=name):
                return name in _STAYING and self._is_there(owner, place, depth)
            case ast.Call(func=function, args=given) if self._semantics.qualified_name(function) in _PRODUCTS:
                return any(self._is_there(each, place, depth) for each in given)
            case ast.BinOp(left=left, right=right):
                sides = [self._is_there(each, place, depth) for each in (left, right)]
                return all(sides) or (any(sides) and not self._is_tensor(right if sides[0] else left))
        return False

    def _is_assigned_there(self, name: ast.Name, place: tuple[str, frozenset[Binding]], depth: int) -> bool:
        """Whether all that a variable may hold is there; one that the function itself was given or a loop runs over is not."""
        bindings = self._semantics.bindings.reaching(name)
        return 0 < len(bindings) <= _MOST and all(
            each.form is Form.ASSIGNMENT
            and not each.path
            and each.value is not None
            and self._is_there(each.value, place, depth - 1)
            for each in bindings
        )

    def _is_of_torch(self, function: ast.expr) -> bool:
        return (self._semantics.qualified_name(function) or "").startswith("torch.")

    def _is_tensor(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).is_tensor


def _is_dtype(name: str) -> bool:
    return "type" in name
