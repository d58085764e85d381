"""What autocast keeps of tensors: the cast of a parameter, for all that follows."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics

_UNCAST = frozenset(
    {
        *(
            "abs",
            "add",
            "sub",
            "subtract",
            "mul",
            "multiply",
            "div",
            "divide",
            "true_divide",
            "floor_divide",
            "remainder",
            "neg",
        ),
        *("clamp", "clip", "sign", "round", "floor", "ceil", "sqrt", "square", "mean", "sum", "max", "min", "amax", "amin"),
        *("std", "var", "argmax", "argmin", "eq", "ne", "gt", "ge", "lt", "le", "masked_fill", "where", "clone", "lerp"),
        *("maximum", "minimum", "isnan", "isinf", "isfinite", "any", "all", "nonzero", "numel", "norm", "pow", "exp", "log"),
        *("copy_", "add_", "sub_", "mul_", "div_", "lerp_", "clamp_", "clip_", "addcmul_", "addcdiv_", "masked_fill_"),
    }
)
"""Functions and methods of which autocast keeps nothing that they take (ran)."""
_CAST = frozenset(
    {
        *("matmul", "mm", "bmm", "mv", "addmm", "addbmm", "baddbmm", "addmv", "addr", "linear", "bilinear", "prelu", "einsum"),
        *(
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_transpose1d",
            "conv_transpose2d",
            "conv_transpose3d",
            "chain_matmul",
            "multi_dot",
        ),
        *("tensordot", "inner", "vecdot", "dot", "vdot", "outer", "ger", "kron", "cdist", "scaled_dot_product_attention"),
        *("gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell", "matrix_power", "gru", "lstm", "__matmul__"),
    }
)
"""Functions and methods of which autocast casts what they take to half precision, or which are made of such."""


class Autocast:
    """Tells of operations whether autocast, which a caller may have switched on, keeps casts of what they take.

    The cast of a leaf that requires grad is kept until the block is left, and is taken again although the leaf has been changed
    since (ran). Of what is detached, nothing is kept.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def leaves(self, node: ast.expr) -> bool:
        """Whether what ``node`` is an operand of, or an argument, leaves it as it is."""
        parent = self._tree.parent(node)
        match parent:
            case ast.BinOp(op=operator):
                return not isinstance(operator, ast.MatMult)
            case ast.AugAssign(op=operator):
                return not isinstance(operator, ast.MatMult)
            case ast.Attribute(attr=method):
                return method in _UNCAST
            case ast.Call(func=ast.Attribute(attr=method)):
                return method in _UNCAST
        return isinstance(parent, (ast.UnaryOp, ast.Compare))

    def is_cast(self, node: ast.expr) -> bool:
        """Whether ``node`` is an operand of which autocast may keep a cast."""
        parent = self._tree.parent(node)
        if isinstance(parent, (ast.keyword, ast.Attribute)):
            parent = self._tree.parent(parent)
        return parent is not None and node in self.casts(parent)

    def casts(self, node: ast.AST) -> list[ast.expr]:
        """The operands of an operation of which autocast may keep casts."""
        match node:
            case ast.BinOp(op=ast.MatMult(), left=left, right=right):
                return [left, right]
            case ast.Call(func=function, args=arguments, keywords=words):
                name = self._semantics.qualified_name(function) or ""
                given = [*arguments, *(word.value for word in words)]
                if name.startswith("torch.") and name.rpartition(".")[2] in _CAST:
                    return given
                if isinstance(function, ast.Attribute) and function.attr in _CAST and not name.startswith(("torch.", "numpy.")):
                    return [function.value, *given]
        return []
