"""Values that decide a condition, and are gone with it."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.torch_api import TENSOR_METHODS

_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "squeeze", "unsqueeze", "view", "reshape", "item"})
_COMPUTING = ("torch.", "math.", "builtins.")
"""Libraries whose functions keep nothing of what a condition asks them."""


class DecidingReads:
    """Tells of values whether only a condition is made of them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_one(self, data: ast.expr) -> bool:
        """Whether only a condition is made of a value: ``if torch.sigmoid(gate.data) > threshold``."""
        node = data
        while True:
            match parent := self._tree.parent(node):
                case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if test is node:
                    return True
                case ast.Compare() | ast.BoolOp() | ast.BinOp() | ast.UnaryOp() | ast.Subscript():
                    node = parent
                case ast.Attribute(attr=method) if method in TENSOR_METHODS or method in _MOVES:
                    call = self._tree.parent(parent)
                    if not isinstance(call, ast.Call) or call.func is not parent:
                        return False
                    node = call
                case ast.Call(func=function) if node in parent.args:
                    if not (self._semantics.qualified_name(function) or "").startswith(_COMPUTING):
                        return False
                    node = parent
                case _:
                    return False
