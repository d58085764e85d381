"""What of a tensor is read where it stands: its form, or its values, and whether these go into a new tensor."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, torch_api

_FORM = frozenset(
    {
        *("shape", "size", "dim", "ndim", "ndimension", "numel", "nelement", "dtype", "device", "is_cuda", "is_sparse"),
        *("layout", "get_device", "element_size", "data_ptr", "is_contiguous", "stride", "is_floating_point", "tolist"),
        *("item", "new", "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"),
    }
)
"""What reads the same from a tensor and from its ``.data`` and never takes part in the graph."""
_SIZES = frozenset({"size", "dim", "numel"})
"""Methods that tell the size alone."""
_LIKE = frozenset(f"torch.{name}_like" for name in ("zeros", "ones", "full", "empty", "rand", "randn", "randint"))
_MAY_GIVE_THE_SAME = (
    torch_api.VIEW_METHODS
    | torch_api.MAYBE_VIEW_METHODS
    | torch_api.INPLACE_METHODS
    | {"cpu", "cuda", "to", "type", "float", "double", "half", "bfloat16", "long", "int", "short", "byte", "bool", "char"}
    | {"contiguous", "type_as", "coalesce", "pin_memory", "requires_grad_", "retain_grad", "register_hook", "backward"}
)
"""Methods that may return their tensor itself, or another look at it, or that are about its place in the graph."""


class Reads:
    """Tells what is read of tensors."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_of_form(self, node: ast.expr) -> bool:
        """Whether only the shape, type or device of ``node`` is read, or a number."""
        match self._semantics.tree.parent(node):
            case ast.Attribute(attr="type") as method:
                match self._semantics.tree.parent(method):
                    case ast.Call(func=function, args=[], keywords=[]):
                        return function is method  # its name
                return False
            case ast.Attribute(attr=attribute, ctx=ast.Load()):
                return attribute in _FORM
            case ast.Call(func=ast.Attribute(attr="type_as" | "view_as" | "expand_as" | "reshape_as" | "resize_as_")):
                return True
            case ast.Call(func=function, args=[first, *_]) if first is node:
                return self._semantics.qualified_name(function) in _LIKE
        return False

    def is_of_size_behind(self, node: ast.expr) -> bool:
        """Whether only the size is asked for of what methods and indices make of ``node``: ``x.max(1)[1].size()``."""
        tree = self._semantics.tree
        while True:
            match parent := tree.parent(node):
                case ast.Subscript(value=value) if value is node:
                    node = parent
                case ast.Attribute(attr=method):
                    call = tree.parent(parent)
                    if not isinstance(call, ast.Call) or call.func is not parent or method in _SIZES:
                        return isinstance(call, ast.Call) and method in _SIZES
                    node = call
                case _:
                    return False

    def makes_new_value(self, node: ast.expr) -> bool:
        """Whether ``node`` stands where only its values go into a result that is a new tensor, or none."""
        parent = self._semantics.tree.parent(node)
        match parent:
            case ast.BinOp() | ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
                return True
            case ast.Compare(ops=operators):
                return not any(isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for operator in operators)
            case ast.Attribute(attr=method):
                return method in torch_api.TENSOR_METHODS and method not in _MAY_GIVE_THE_SAME
            case ast.AugAssign(value=value):
                return value is node
            case ast.Call(func=ast.Attribute(value=base, attr=method), args=arguments) if self._semantics.kind(base).is_tensor:
                return node in arguments and method in torch_api.TENSOR_METHODS
            case ast.Call(func=function, args=arguments) if node in arguments:
                name = self._semantics.qualified_name(function) or ""
                return name in torch_api.FUNCTIONS and name.rpartition(".")[2] not in _MAY_GIVE_THE_SAME
        return False
