"""Columns that meet vectors in a loss or a figure: each item of the batch is compared with each other one."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.numerics.columns import Columns, Shape

Node = TypeVar("Node")

_LOSSES = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
_LOSS_MODULES = frozenset({"torch.nn.MSELoss", "torch.nn.L1Loss", "torch.nn.SmoothL1Loss", "torch.nn.HuberLoss"})
_KEEPING = frozenset(
    {"pow", "abs", "float", "exp", "log", "square", "sqrt", "clamp", "double", "detach", "cpu", "long", "int", "neg", "relu"}
)
_REDUCING = frozenset({"mean", "sum"})
_DEPTH = 4


@dataclass(frozen=True, eq=False, slots=True)
class Broadcast(Generic[Node]):
    """A ``column`` of shape (B, 1) and a ``vector`` of shape (B,), which are computed with together.

    ``warns`` is whether torch says so when it is run.
    """

    column: Node
    vector: Node
    warns: bool


class Broadcasts:
    """Looks at the losses of one file, those of torch and those that are written out."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._columns = semantics.of(Columns)
        self._reduced: dict[tuple[ast.AST, int], bool] = {}
        """Whether values are reduced, by how many names they are followed through."""

    @cached_property
    def found(self) -> dict[ast.expr, Broadcast[ast.expr]]:
        """The operations and calls on a column and a vector whose result is reduced to one number."""
        found: dict[ast.expr, Broadcast[ast.expr]] = {}
        if not self._semantics.words.all & {"Linear", "gather"}:
            return found
        operations: Sequence[ast.expr] = self._tree.of_type(ast.BinOp, ast.Compare, ast.Call)
        for node in operations:
            match node:
                case ast.BinOp(left=left, right=right, op=ast.Sub() | ast.Add() | ast.Mult() | ast.Div()):
                    is_loss = False
                case ast.Compare(left=left, ops=[_], comparators=[right]):
                    is_loss = False
                case ast.Call(args=[left, right]) if self._is_loss(node):
                    is_loss = True
                case _:
                    continue
            if not is_loss and not self._is_reduced(node, _DEPTH):
                continue
            broadcast = self._broadcast(left, right, warns=is_loss)
            if broadcast is not None:
                found[node] = broadcast
        return found

    def _broadcast(self, left: ast.expr, right: ast.expr, *, warns: bool) -> Broadcast[ast.expr] | None:
        shapes = self._columns.of(left), self._columns.of(right)
        if shapes == (Shape.COLUMN, Shape.VECTOR):
            return Broadcast(left, right, warns)
        return Broadcast(right, left, warns) if shapes == (Shape.VECTOR, Shape.COLUMN) else None

    def _is_loss(self, call: ast.Call) -> bool:
        """Whether a loss of torch is called that takes tensors of other shapes, with a warning."""
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("torch.nn.functional."):
            return name.rpartition(".")[2] in _LOSSES
        return not name and self._semantics.kind(call.func).name in _LOSS_MODULES

    def _is_reduced(self, node: ast.expr, depth: int) -> bool:
        """Whether the mean or the sum of all elements is taken of a value."""
        passed: list[tuple[ast.AST, int]] = []
        around: ast.AST | bool = node
        while not isinstance(around, bool):
            key = around, depth
            if key in self._reduced:
                around = self._reduced[key]
            else:
                passed.append(key)
                around = self._around(around, depth)
        self._reduced.update(dict.fromkeys(passed, around))
        return around

    def _around(self, current: ast.AST, depth: int) -> ast.AST | bool:
        """What is computed of a value element by element, or whether all elements of it are put together."""
        parent = self._tree.parent(current)
        match parent:
            case ast.BinOp() | ast.UnaryOp():
                return parent
            case ast.Attribute(attr=name) if isinstance(call := self._tree.parent(parent), ast.Call) and call.func is parent:
                if name in _REDUCING:
                    return not call.args and not call.keywords
                return call if name in _KEEPING else False
            case ast.Call(func=function, args=[first, *rest]) if first is current:
                short = (self._semantics.qualified_name(function) or "").rpartition("torch.")[2]
                if short in _REDUCING:
                    return not rest and not parent.keywords
                return parent if short in _KEEPING else False
            case ast.Assign(targets=[ast.Name() as target]) if depth:
                binding = self._semantics.bindings.of(target)
                return binding is not None and any(self._is_reduced(use, depth - 1) for use in binding.uses)
        return False
