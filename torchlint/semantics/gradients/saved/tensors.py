"""What autograd keeps of a tensor for the backward pass, and which changes in place it will not forgive.

`torch_api` knows which operations need their result or their input unchanged *for some arguments*. Here it is decided for the
arguments at hand; each exception was found by running it (torch 2.13).
"""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.gradients.saved.chosen_classes import ChosenClasses
from torchlint.semantics.gradients.saved.kept_arguments import KeptArguments
from torchlint.semantics.kinds.kind import Grad, Kind, Type
from torchlint.semantics.sequences.ends import SEQUENTIAL, SequenceEnds

_DEPENDS = frozenset({"pow", "float_power", "gumbel_softmax", "scaled_dot_product_attention", "ctc_loss", "vander", "polar"})
"""They save their result for some arguments or on some devices only."""
_ELEMENTWISE_OF_TWO = frozenset({"max", "min"})
"""They save their result when they reduce, and not when they compare two tensors."""
_NEEDS_PARTNER = frozenset(
    {
        *("mul", "multiply", "matmul", "mm", "bmm", "mv", "dot", "inner", "outer", "ger", "vdot"),
        *("div", "divide", "true_divide"),
    }
)
"""They save an operand only for the gradient of the other one."""
_SELECTING = torch_api.VALUES_AND_INDICES - {"sort", "topk", "kthvalue"}
"""With a dim, they save no more than where the selected values were."""
_KEEPS_LITTLE = frozenset(
    {
        *("fmod", "remainder", "float_power", "matrix_power", "cross", "lerp", "gather", "take", "take_along_dim"),
        *("masked_select", "index_reduce", "renorm", "stft", "prelu", "scatter_reduce", "igamma", "igammac"),
    }
)
"""They need no more of their input than its shape for some arguments."""
SAVING_MODULES = frozenset({"torch.nn." + name for name in ("Sigmoid", "Tanh", "Softmax", "LogSoftmax", "Softmin", "ReLU")})
_LAYERS = frozenset(
    {
        *("torch.nn.Linear", "torch.nn.LayerNorm", "torch.nn.GroupNorm"),
        *(f"torch.nn.{name}{dims}d" for name in ("Conv", "ConvTranspose", "BatchNorm") for dims in (1, 2, 3)),
    }
)
"""Layers that save their input for the gradient of their weight."""


class SavedTensors:
    """Tells what operations keep for the backward pass."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._own = KeptArguments(semantics, self.keeping_operand)

    def keeping_result(self, value: ast.expr) -> ast.Call | None:
        """The operation that made ``value`` and keeps it for the backward pass, also behind views such as ``.view(…)``."""
        while isinstance(value, ast.Call):
            if self._keeps_result(value):
                return value if self._semantics.kind(value).carries_graph else None
            if not isinstance(value.func, ast.Attribute) or value.func.attr not in torch_api.VIEW_METHODS - {"detach", "numpy"}:
                return None
            value = value.func.value
        return None

    def _keeps_result(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        last = name.rpartition(".")[2]
        if name.startswith("torch."):
            reduces = last not in _ELEMENTWISE_OF_TWO or len(call.args) == 1
            return name in torch_api.SAVES_OUTPUT_FUNCTIONS and last not in _DEPENDS and reduces
        function = self._semantics.kind(call.func)
        if function.type is Type.MODULE:
            if function.name == SEQUENTIAL:
                return self._are_all(self._semantics.of(SequenceEnds).last(call.func), SAVING_MODULES)
            return function.name in SAVING_MODULES and not self._semantics.of(ChosenClasses).is_chosen(call.func)
        if isinstance(call.func, ast.Attribute) and self._semantics.kind(call.func.value).is_tensor:
            method = call.func.attr
            reduces = method not in _ELEMENTWISE_OF_TWO or not call.args
            return method in torch_api.SAVES_OUTPUT_METHODS and method not in _DEPENDS and reduces
        return False

    def keeping_operand(self, use: ast.expr) -> ast.expr | None:
        """The operation that ``use`` is an operand of and that keeps it for the backward pass: ``x ** 2``, ``self.fc(x)``."""
        parent = self._semantics.tree.parent(use)
        match parent:
            case ast.Attribute(value=value, attr=method) if value is use and method in torch_api.SAVES_INPUT_METHODS:
                call = self._semantics.tree.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    return call if self._keeps_input(use, method, call.args, call) else None
            case ast.Call(args=[*arguments]) if use in arguments:
                is_kept = self._function_keeps(parent, use) or self._own.is_kept(parent, use)
                return parent if is_kept else None
            case ast.BinOp(left=left, right=right, op=ast.Mult() | ast.MatMult()):
                return parent if self._requires_grad(right if use is left else left) else None
            case ast.BinOp(left=left, right=right, op=ast.Div()):
                return parent if self._requires_grad(right) and self._semantics.kind(left).is_tensor else None
            case ast.BinOp(left=left, right=ast.Constant(value=exponent), op=ast.Pow()) if left is use:
                return parent if exponent not in (0, 1) and self._requires_grad(use) else None
        return None

    def _function_keeps(self, call: ast.Call, use: ast.expr) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if any(word.arg == "inplace" for word in call.keywords):
            return False  # it keeps its result, which is the input changed
        if name in torch_api.SAVES_INPUT_FUNCTIONS:
            others = [argument for argument in call.args if argument is not use]
            return use is call.args[0] and self._keeps_input(use, name.rpartition(".")[2], others, call)
        function = self._semantics.kind(call.func)
        if function.type is not Type.MODULE or self._semantics.no_grad.covers(call):
            return False
        if function.name == SEQUENTIAL:
            return self._are_all(self._semantics.of(SequenceEnds).first(call.func), _LAYERS)
        return function.name in _LAYERS

    def _are_all(self, made: tuple[ast.Call, ...], classes: frozenset[str]) -> bool:
        """Whether there are calls that make layers, each one of one of some classes."""
        return bool(made) and all(self._semantics.qualified_name(each.func) in classes for each in made)

    def _keeps_input(self, use: ast.expr, method: str, others: list[ast.expr], call: ast.Call) -> bool:
        if method in _KEEPS_LITTLE:
            return False
        if method in _SELECTING and (others or call.keywords):
            return bool(others) and self._semantics.kind(others[0]).is_tensor and self._requires_grad(use)
        if method in _NEEDS_PARTNER:
            return len(others) == 1 and self._requires_grad(others[0])
        if method.startswith(("conv", "linear", "layer_norm", "group_norm", "batch_norm", "bilinear", "embedding")):
            return False  # its weight is what counts
        return self._requires_grad(use)

    def _requires_grad(self, node: ast.expr) -> bool:
        kind: Kind = self._semantics.kind(node)
        return kind.is_tensor and kind.grad in (Grad.GRAPH, Grad.LEAF) and not self._semantics.no_grad.covers(node)
