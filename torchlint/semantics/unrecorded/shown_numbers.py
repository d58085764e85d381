"""One number of a tensor that is read to be shown, logged or kept for a report: a new tensor, or none, and nobody's memory."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.shapes.scalars import CHAIN, Scalars, base, names_loss

_REDUCES = frozenset({"mean", "sum", "max", "min", "std", "var", "median", "norm"})
"""Methods that give one number of a tensor, unless an axis is named."""
_KEEPS = frozenset(
    {"abs", "exp", "sqrt", "sigmoid", "log", "cpu", "float", "double", "squeeze", "view", "reshape", "item", "numpy"}
)
"""Methods between a tensor and its one number, and behind it."""
_TO_NUMBERS = frozenset({"builtins.float", "builtins.int", "builtins.round"})
_SHOWS = frozenset({"builtins.print", "builtins.str", "builtins.repr", "builtins.format"})
_LOGS = frozenset(
    {"info", "debug", "warning", "write", "add_scalar", "add_scalars", "scalar_summary", "log_value", "log_scalar"}
)
"""Methods that show numbers, or put them into a log."""


class ShownNumbers:
    """Tells of the ``.data`` of tensors whether one number of it is read for people alone, or as code of torch 0.3 read one."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_one(self, data: ast.Attribute) -> bool:
        """Whether an ``x.data`` is reduced to a number that is shown, or indexed for the number that a loss was once."""
        return self._is_reduced_for_text(data) or self._is_first_of_one(data)

    def _is_reduced_for_text(self, data: ast.expr) -> bool:
        """Whether a number is computed that, by a name or none, texts and logs alone are given: ``d_x = out.data.mean()``."""
        end, is_reduced = data, False
        while (call := self._method_call(end)) is not None and isinstance(call.func, ast.Attribute):
            name = call.func.attr
            if name in _REDUCES and not call.args and not call.keywords:
                is_reduced = True
            elif name not in _KEEPS:
                break
            end = call
        return is_reduced and (self._is_shown(end) or self._is_named_for_text(end))

    def _is_named_for_text(self, number: ast.expr) -> bool:
        match self._tree.parent(number):
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is number:
                binding = self._semantics.bindings.of(name)
                uses = binding.uses if binding is not None else ()
                return bool(uses) and binding is not None and binding.form is Form.ASSIGNMENT and all(map(self._is_shown, uses))
        return False

    def _is_shown(self, number: ast.expr) -> bool:
        """Whether a number goes into a text, into a call that prints or logs it, or becomes one of Python's first."""
        node: ast.AST = number
        while True:
            parent = self._tree.parent(node)
            match parent:
                case ast.FormattedValue():
                    return True
                case ast.BinOp(op=ast.Mod(), left=text, right=right) if right is node and self._is_text(text):
                    return True
                case ast.Call(func=ast.Attribute(value=text, attr="format")) if self._is_text(text):
                    return True
                case ast.Call(func=ast.Attribute(attr="item"), args=[]):
                    return True
                case ast.Call(func=function) if node in parent.args:
                    name = self._semantics.qualified_name(function) or ""
                    is_logged = isinstance(function, ast.Attribute) and function.attr in _LOGS
                    return name in _SHOWS or name in _TO_NUMBERS or is_logged
                case ast.keyword() | ast.Tuple() | ast.UnaryOp(op=ast.USub()):
                    node = parent
                case ast.Attribute(attr=name) if name in ("item", "cpu"):
                    node = parent
                case ast.Call(func=function) if function is node and last_name(function) == "cpu":
                    node = parent
                case _:
                    return False

    def _is_text(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type is Type.STRING

    def _is_first_of_one(self, data: ast.Attribute) -> bool:
        """Whether ``[0]`` is asked for of a loss, of what is squeezed, or beside the numbers of losses."""
        end: ast.expr = data
        is_squeezed = False
        while (call := self._method_call(end)) is not None and isinstance(call.func, ast.Attribute):
            if call.func.attr not in CHAIN or call.args or call.keywords:
                return False
            is_squeezed = is_squeezed or call.func.attr == "squeeze"
            end = call
        match item := self._tree.parent(end):
            case ast.Subscript(value=value, slice=ast.Constant(value=0), ctx=ast.Load()) if value is end:
                return is_squeezed or names_loss(base(data)) or self._stands_beside_losses(item)
        return False

    def _stands_beside_losses(self, item: ast.expr) -> bool:
        """Whether such numbers of losses, which raise, are in the same list, tuple or call: ``[loss.data[0], h.data[0]]``."""
        match self._tree.parent(item):
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Call(args=parts):
                indexed = self._semantics.of(Scalars).indexed
                return any(part in indexed for part in parts)
        return False

    def _method_call(self, node: ast.expr) -> ast.Call | None:
        """The call of a method of ``node``."""
        parent = self._tree.parent(node)
        call = self._tree.parent(parent) if isinstance(parent, ast.Attribute) else None
        return call if isinstance(call, ast.Call) and call.func is parent else None
