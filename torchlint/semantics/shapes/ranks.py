"""How many dimensions a tensor has, as far as the way it was made says so."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.shapes.sizes import number

_DEPTH = 40
"""Nothing is known of what is more steps than this away from anything simple."""

_SIZED = frozenset({"zeros", "ones", "rand", "randn", "empty"})
KEEPING = frozenset(
    {
        *("relu", "relu_", "relu6", "leaky_relu", "elu", "selu", "tanh", "sigmoid", "softplus", "softsign", "dropout", "exp"),
        *("log", "sqrt", "abs", "neg", "pow", "clamp", "softmax", "log_softmax", "softmin", "normalize", "threshold", "div"),
        *("mul", "add", "sub", "transpose", "permute", "hardtanh", "layer_norm", "batch_norm", "cumsum", "flip"),
        *("contiguous", "float", "double", "half", "long", "int", "cuda", "cpu", "to", "type", "detach", "clone", "type_as"),
        *("repeat_interleave", "index_select", "gather", "masked_fill", "zero_", "fill_", "normal_", "uniform_", "add_"),
        *("mul_", "div_", "sub_", "clamp_", "narrow", "linear", "requires_grad_", "cat", "masked_fill_", "copy_"),
    }
)
"""Functions and methods whose result has as many dimensions as the tensor, or as the first of the tensors."""
_FIXED = {
    **dict.fromkeys(("mv", "addmv"), 1),
    **dict.fromkeys(("mm", "addmm", "ger", "outer", "t"), 2),
    **dict.fromkeys(("bmm", "baddbmm"), 3),
    **{f"{name}{axes}d": axes + 2 for name in ("conv", "conv_transpose", "max_pool", "avg_pool") for axes in (2, 3)},
    **dict.fromkeys(("adaptive_avg_pool2d", "adaptive_max_pool2d", "dropout2d", "pixel_shuffle"), 4),
}
"""Functions and methods that give a certain number of dimensions, whatever they get."""
_REDUCING = frozenset({"sum", "mean", "prod", "norm", "std", "var", "argmax", "argmin", "logsumexp"})
_SHAPING = frozenset({"view", "reshape", "expand", "repeat"})
KEEPING_MODULES = frozenset(
    {
        *("Linear", "Dropout", "ReLU", "ReLU6", "LeakyReLU", "PReLU", "ELU", "SELU", "Tanh", "Sigmoid", "Softplus"),
        *("LayerNorm", "Softmax", "LogSoftmax", "Identity", "GELU", "BatchNorm1d"),
    }
)
"""Modules of `torch.nn` whose result has as many dimensions as what they are given."""
_MODULES = {
    **{f"{name}{axes}d": axes + 2 for name in ("Conv", "ConvTranspose", "BatchNorm", "MaxPool", "AvgPool") for axes in (2, 3)},
    **dict.fromkeys(("AdaptiveAvgPool2d", "AdaptiveMaxPool2d", "Upsample", "Dropout2d", "Softmax2d"), 4),
    **dict.fromkeys(("LSTMCell", "GRUCell", "RNNCell", "Bilinear"), 2),
}
_RECURRENT = frozenset({"LSTM", "GRU", "RNN"})


class Ranks:
    """Works out the number of dimensions of one file's tensors."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._ranks: dict[ast.AST, int | None] = {}
        self._depth = 0

    def of(self, node: ast.expr) -> int | None:
        """How many dimensions ``node`` has; ``None`` where that is not known."""
        if node not in self._ranks:
            self._ranks[node] = None
            if self._depth < _DEPTH:
                self._depth += 1
                self._ranks[node] = self._work_out(node)
                self._depth -= 1
        return self._ranks[node]

    def behind(self, modules: list[ast.expr]) -> int | None:
        """How many dimensions the result of a chain of modules has; ``None`` where that depends on what goes in."""
        for module in reversed(modules):
            last = self._semantics.kind(module).name.rpartition(".")[2]
            if last not in KEEPING_MODULES:
                return _MODULES.get(last)
        return None

    def are_kept(self, modules: list[ast.expr]) -> bool:
        """Whether the result of a chain of modules has as many dimensions as what goes in."""
        return all(self._semantics.kind(module).name.rpartition(".")[2] in KEEPING_MODULES for module in modules)

    def _work_out(self, node: ast.expr) -> int | None:
        match node:
            case ast.Name():
                ranks = {self._bound(binding) for binding in self._semantics.bindings.reaching(node)}
                return ranks.pop() if len(ranks) == 1 else None
            case ast.Attribute(attr="data" | "grad", value=value):
                return self.of(value)
            case ast.Subscript(value=value, slice=index):
                return self._indexed(value, index)
            case ast.UnaryOp(op=ast.USub(), operand=value):
                return self.of(value)
            case ast.BinOp(left=left, right=right):
                return self._combined(left, right)
            case ast.Call():
                return self._called(node)
        return None

    def _bound(self, binding: Binding) -> int | None:
        match binding.form:
            case Form.ASSIGNMENT if not binding.path and binding.value is not None:
                return self.of(binding.value)
            case Form.ASSIGNMENT if binding.path == (0,) and isinstance(binding.value, ast.Call):
                kind = self._semantics.kind(binding.value.func)
                return 3 if kind.type is Type.MODULE and kind.name.rpartition(".")[2] in _RECURRENT else None
            case Form.PARAMETER:
                return self._given(binding)
            case Form.AUGMENTED if binding.before:
                return self._bound(binding.before[0])
        return None

    def _given(self, parameter: Binding) -> int | None:
        """How many dimensions all calls in the file give a parameter."""
        ranks = {self.of(value) if value is not None else None for value in self._semantics.inference.given(parameter)}
        return ranks.pop() if len(ranks) == 1 else None

    def _indexed(self, value: ast.expr, index: ast.expr) -> int | None:
        rank = self.of(value)
        if rank is None:
            return None
        match index:
            case ast.Slice():
                return rank
            case _ if number(index) is not None or self._semantics.kind(index).type is Type.NUMBER:
                return rank - 1
        return None

    def _combined(self, left: ast.expr, right: ast.expr) -> int | None:
        ranks = [0 if self._semantics.kind(operand).type is Type.NUMBER else self.of(operand) for operand in (left, right)]
        known = [rank for rank in ranks if rank is not None]
        return max(known) if len(known) == 2 and max(known) > 0 else None

    def _called(self, call: ast.Call) -> int | None:
        name = self._semantics.qualified_name(call.func)
        if name is not None and name.startswith("torch."):
            return self._function(call, name)
        if isinstance(call.func, ast.Attribute) and (rank := self._method(call, call.func)) is not None:
            return rank
        module = self._semantics.kind(call.func)
        if module.type is not Type.MODULE or not module.name.startswith("torch.nn."):
            return None
        last = module.name.rpartition(".")[2]
        if last == "Embedding":
            return self._more(call.args[0], 1) if call.args else None
        return self.of(call.args[0]) if last in KEEPING_MODULES and call.args else _MODULES.get(last)

    def _function(self, call: ast.Call, name: str) -> int | None:
        last = name.rpartition(".")[2]
        if last in _SIZED or (last.endswith("Tensor") and len(call.args) > 1):
            return self._sizes(call.args)
        if last in _FIXED:
            return _FIXED[last]
        if not call.args:
            return None
        first, rest = call.args[0], call.args[1:]
        if last == "cat" and isinstance(first, (ast.Tuple, ast.List)):
            return next((rank for part in first.elts if (rank := self.of(part)) is not None), None)
        if last == "stack" and isinstance(first, (ast.Tuple, ast.List)) and first.elts:
            return self._more(first.elts[0], 1)
        if name == "torch.autograd.Variable":
            return self.of(first)
        return self._changed(call, last, first, rest)

    def _method(self, call: ast.Call, function: ast.Attribute) -> int | None:
        if function.attr in _SHAPING or function.attr in ("new_zeros", "new_ones", "new_empty"):
            return self._sizes(call.args)
        if function.attr in _FIXED:
            return _FIXED[function.attr]
        return self._changed(call, function.attr, function.value, call.args)

    def _changed(self, call: ast.Call, operation: str, tensor: ast.expr, arguments: list[ast.expr]) -> int | None:
        """The rank that an operation makes of that of the tensor."""
        if operation in KEEPING:
            return self.of(tensor)
        if operation == "unsqueeze":
            return self._more(tensor, 1)
        if operation in _REDUCING or operation == "squeeze":
            keeps = any(word.arg == "keepdim" for word in call.keywords) or len(arguments) > 1
            return self._more(tensor, -1) if arguments and number(arguments[0]) is not None and not keeps else None
        return None

    def _more(self, tensor: ast.expr, change: int) -> int | None:
        rank = self.of(tensor)
        return rank + change if rank is not None else None

    def _sizes(self, arguments: list[ast.expr]) -> int | None:
        """How many sizes the arguments of ``view`` or ``zeros`` are."""
        if len(arguments) == 1:
            match arguments[0]:
                case ast.Tuple(elts=[part]) | ast.List(elts=[part]):
                    return None if isinstance(part, ast.Starred) else 1
                case ast.Tuple(elts=elements) | ast.List(elts=elements):
                    return self._sizes(elements)
                case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[], keywords=[]):
                    return self.of(tensor)
                case ast.Attribute(value=tensor, attr="shape"):
                    return self.of(tensor)
                case argument if number(argument) is None and self._semantics.kind(argument).type is not Type.NUMBER:
                    return None
        return None if not arguments or any(isinstance(part, ast.Starred) for part in arguments) else len(arguments)
