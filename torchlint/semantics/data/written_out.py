"""Numbers of tensors that go into a text or become Python's own, where they are read, or once they were added up.

Those that get a name first are asked of `unrecorded.asked_numbers`.
"""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import last_name

NUMBERS = frozenset({"mean", "sum", "max", "min", "norm", "std", "var", "median", "cpu", "numpy", "item", "float", "squeeze"})
"""Methods that lead from a tensor to one number of it, or to a copy of it to show."""
REDUCES = frozenset({"mean", "sum", "max", "min", "std", "var", "median"})
"""Methods that give one number of a tensor, unless an axis is named."""
_TO_NUMBER_OF = frozenset(f"torch.{name}" for name in (*REDUCES, "norm", "median", "abs", "sqrt", "cat", "stack", "dist"))
"""Functions that lead from tensors to one number of them."""
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)
_SUMS = REDUCES | {"norm"}
_TO_NUMBERS = frozenset({"builtins.float", "builtins.int", "builtins.round", "builtins.bool", "builtins.print", "builtins.str"})
_OWN_NUMBERS = frozenset({"to_item", "to_scalar", "to_number", "to_float"})
"""Names that functions of many a program have that give the number of a tensor."""
_OF_WRITERS = frozenset({"add_histogram", "add_image", "add_images", "add_embedding"})
"""Methods of the writers of TensorBoard that make an array of what they are given, detached."""
RESHAPES = frozenset({"cpu", "cuda", "view", "reshape", "squeeze", "unsqueeze", "contiguous", "view_as", "expand_as"})
"""Methods that leave integers what they are."""


class WrittenOut:
    """Tells of values whether one number of them is shown, or becomes one of Python's, without a name but that of a sum."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_one(self, data: ast.expr) -> bool:
        """Whether a value, or one number of it, goes into a text or becomes a number of Python on the spot."""
        node: ast.expr = data
        while (following := self._following(node)) is not None:
            if isinstance(following, ast.Call) and isinstance(following.func, ast.Attribute) and following.func.attr == "item":
                return True
            node = following
        parent = self._tree.parent(node)
        match parent:
            case ast.FormattedValue():
                return True
            case ast.keyword():
                return self._formats(self._tree.parent(parent))
            case ast.Call(func=function) if node in parent.args and last_name(function) in _OWN_NUMBERS:
                return True
            case ast.Call(func=ast.Attribute(attr=method)) if node in parent.args and method in _OF_WRITERS:
                return True
            case ast.Call() if node in parent.args:
                return self._formats(parent) or self._semantics.qualified_name(parent.func) in _TO_NUMBERS
            case ast.BinOp(op=ast.Mod(), left=text, right=right) if right is node:
                return self._is_text(text)
            case ast.Tuple():
                match self._tree.parent(parent):
                    case ast.BinOp(op=ast.Mod(), left=text, right=right) if right is parent:
                        return self._is_text(text)
        return False

    def _following(self, node: ast.expr) -> ast.expr | None:
        """What an item or a method makes of a value on the way to a number; ``None`` where the way ends."""
        match parent := self._tree.parent(node):
            case ast.Subscript(value=value) if value is node:
                return parent
            case ast.BinOp(op=operator) if isinstance(operator, _ARITHMETIC):
                return parent
            case ast.UnaryOp(op=ast.USub()) | ast.IfExp():
                return parent
            case ast.Call(func=function, args=[first, *_]) if first is node:
                return parent if self._semantics.qualified_name(function) in _TO_NUMBER_OF else None
            case ast.Tuple() | ast.List():
                match call := self._tree.parent(parent):
                    case ast.Call(func=function, args=[first, *_]) if first is parent:
                        return call if self._semantics.qualified_name(function) in _TO_NUMBER_OF else None
            case ast.Attribute(attr=method) if method in NUMBERS or method == "abs" or method in RESHAPES:
                call = self._tree.parent(parent)
                return call if isinstance(call, ast.Call) and call.func is parent else None
        return None

    def _formats(self, call: ast.AST | None) -> bool:
        match call:
            case ast.Call(func=ast.Attribute(value=text, attr="format")):
                return self._is_text(text)
        return False

    def _is_text(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type is Type.STRING

    def is_counted(self, data: ast.expr) -> bool:
        """Whether one number of a tensor is added, `n += p.data.abs().sum()`, to what nothing but texts are made of."""
        node: ast.expr = data
        is_reduced = False
        while (following := self._following(node)) is not None:
            node = following
            is_reduced |= isinstance(node, ast.Call) and last_name(node.func) in _SUMS and not node.args
        match self._tree.parent(node):
            case ast.AugAssign(target=ast.Name() as target, op=ast.Add()) if is_reduced:
                binding = self._semantics.bindings.of(target)
                uses = self._uses_of(target) if binding is not None else []
                return bool(uses) and all(map(self._is_in_text, uses))
        return False

    def _uses_of(self, target: ast.Name) -> list[ast.Name]:
        """Where the variable is read that a name stands for, in its function."""
        scope = self._semantics.bindings.scope_of(target)
        found = [use for binding in scope.bindings.get(target.id, ()) for use in binding.uses]
        return [use for use in found if not isinstance(self._tree.parent(use), ast.AugAssign)]

    def _is_in_text(self, use: ast.expr) -> bool:
        """Whether a value goes into a text or is printed, as it is or divided by a number."""
        node: ast.expr = use
        while isinstance(parent := self._tree.parent(node), ast.BinOp) and not isinstance(parent.op, ast.Mod):
            node = parent
        return self.is_one(node)
