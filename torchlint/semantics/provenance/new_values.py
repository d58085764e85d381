"""Functions and methods that compute a new tensor: one that shares no memory with anything, whatever they are given.

All were run on torch 2.13, with tensors of no, one and several elements, and arguments that leave the values as they are.
"""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import given_to

_ELEMENT_BY_ELEMENT = frozenset(
    {
        *(
            "abs",
            "acos",
            "asin",
            "atan",
            "atan2",
            "ceil",
            "clamp",
            "cos",
            "cosh",
            "erf",
            "exp",
            "expm1",
            "floor",
            "frac",
            "log",
        ),
        *("log10", "log1p", "log2", "neg", "pow", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt"),
        *("square", "tan", "tanh", "trunc", "add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "fmod"),
        *("maximum", "minimum", "lerp", "addcmul", "addcdiv", "relu", "softmax", "log_softmax", "clone", "masked_fill"),
    }
)
_COMPARING = frozenset(
    {
        *("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not"),
        *("logical_xor", "isclose", "argmax", "argmin", "argsort", "any", "all", "bincount", "count_nonzero", "multinomial"),
    }
)
"""These give numbers that nothing can be differentiated by."""
_REDUCING = frozenset(
    {
        *("sum", "mean", "prod", "std", "var", "norm", "max", "min", "amax", "amin", "median", "logsumexp", "cumsum"),
        *("cumprod", "sort", "topk", "kthvalue", "mode"),
    }
)
_COMBINING = frozenset(
    {
        *("matmul", "mm", "bmm", "mv", "dot", "outer", "addmm", "gather", "index_select", "masked_select", "scatter"),
        *("scatter_add", "repeat", "flip", "tril", "triu", "index_add"),
    }
)
_METHODS = frozenset({"new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"})
_FUNCTIONS = frozenset(
    {
        *("cat", "stack", "cosine_similarity", "dist"),
        *("zeros", "ones", "full", "empty", "rand", "randn", "randint", "randperm", "arange", "linspace", "eye"),
        *("zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like", "randint_like", "tensor"),
    }
)
_OF_NN = frozenset(
    {
        *(
            "relu",
            "softmax",
            "log_softmax",
            "sigmoid",
            "tanh",
            "elu",
            "gelu",
            "leaky_relu",
            "logsigmoid",
            "softplus",
            "normalize",
        ),
        *("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "embedding"),
        *("one_hot", "mse_loss", "l1_loss", "smooth_l1_loss", "nll_loss", "cross_entropy", "binary_cross_entropy", "kl_div"),
        *("binary_cross_entropy_with_logits", "cosine_similarity", "avg_pool2d", "layer_norm"),
    }
)

NEW_METHODS = _ELEMENT_BY_ELEMENT | _COMPARING | _REDUCING | _COMBINING | _METHODS
"""Methods of tensors that give new tensors."""
NEW_FUNCTIONS = frozenset(
    {
        *(f"torch.{name}" for name in (_ELEMENT_BY_ELEMENT | _COMPARING | _REDUCING | _COMBINING | _FUNCTIONS) - {"repeat"}),
        *(f"torch.nn.functional.{name}" for name in _OF_NN),
    }
)
"""Functions of torch that give new tensors, unless they are told where to put them (``out``) or to work ``inplace``."""
WITHOUT_GRAPH = (_COMPARING - {"bincount"}) | {"zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "one_hot"}
"""The last names of those whose results have no graph, whatever they are given: there is nothing to differentiate."""

IN_PLACE = {"relu": 1, "elu": 2, "leaky_relu": 2, "embedding": 3}
"""Behind so many arguments, these functions of `torch.nn.functional` are told by place to work in place."""
_PLACING = frozenset({"out", "inplace", "requires_grad", "max_norm"})
"""By `max_norm`, an embedding scales the rows of the table that it looks up, in place (ran)."""


class NewValues:
    """Tells whether a call computes a new tensor, or several."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._operands: dict[ast.Call, list[ast.expr] | None] = {}

    def operands(self, call: ast.Call) -> list[ast.expr] | None:
        """What a call computes new tensors of, by a function or method of torch; ``None`` if it may do anything else.

        That the receiver of a method is a tensor is for others to tell.
        """
        if call not in self._operands:
            self._operands[call] = self._find(call)
        return self._operands[call]

    def _find(self, call: ast.Call) -> list[ast.expr] | None:
        if any(word.arg is None or word.arg in _PLACING for word in call.keywords):
            return None
        given = given_to(call)
        name = self._semantics.qualified_name(call.func)
        if name in NEW_FUNCTIONS:
            return given if len(call.args) <= IN_PLACE.get(name.rpartition(".")[2], len(call.args)) else None
        if (
            (name is None or name.startswith("builtins."))
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in NEW_METHODS
        ):
            return [call.func.value, *given]
        return None
