"""Values of which the code shows, where it stands, that they are no parameter and no module."""

from __future__ import annotations

import ast
from enum import Enum

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.kinds.bound.filled import is_floating
from torchlint.semantics.registration.names import Registered, RegisteredNames, Role

_NEW_BY_METHOD = frozenset(
    {
        *("detach", "clone", "view", "reshape", "permute", "transpose", "t", "unsqueeze", "squeeze", "expand"),
        *("sum", "mean", "norm", "mul", "div", "add", "sub", "matmul", "mm", "bmm", "pow", "sqrt", "exp", "log", "abs"),
        *("clamp", "softmax", "sigmoid", "tanh", "masked_fill", "new_zeros", "new_ones", "new_empty", "new_full"),
    }
)
"""Methods of tensors whose result is never the tensor itself."""
_VIEWING = frozenset({"detach", "view", "reshape", "permute", "transpose", "t", "unsqueeze", "squeeze", "expand"})
_NEW_BY_FUNCTION = frozenset(
    {
        *(f"torch.{name}" for name in ("cat", "stack", "where", "softmax", "sigmoid", "tanh", "relu", "exp", "log", "sqrt")),
        *(f"torch.{name}" for name in ("abs", "clamp", "matmul", "mm", "bmm", "einsum", "mul", "div", "add", "sub", "clone")),
        *(f"torch.nn.functional.{name}" for name in ("normalize", "softmax", "relu", "sigmoid", "tanh", "gelu", "silu")),
    }
)
_HANDING_ON = frozenset({"torch.as_tensor", "torch.asarray"})
"""Functions that may give what they are given; found by running each on torch 2.13, as all that stands above."""
_ARRAYS = frozenset(f"numpy.{name}" for name in ("zeros", "ones", "empty", "full", "array", "arange", "linspace", "eye"))
_NUMBERS = frozenset(f"builtins.{name}" for name in ("len", "int", "float", "bool"))
_NOT_LAYERS = frozenset({"Identity", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Container"})
"""Modules that may give what they are given, or cannot be called."""
_GIVING_TUPLES = frozenset({"RNN", "LSTM", "GRU", "MultiheadAttention", "AdaptiveLogSoftmaxWithLoss", "LSTMCell"})


class Given(Enum):
    """What is assigned."""

    TENSOR = "tensor"
    NUMBER = "number"
    STRING = "string"
    ARRAY = "array"
    SEQUENCE = "sequence"
    DICT = "dict"
    FUNCTION = "function"
    MODULE = "module"


class PlainValues:
    """Tells what values of one file are, by the expression alone and what constructors register."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._names = semantics.of(RegisteredNames)

    def refused(self, value: ast.expr, role: Role) -> Given | None:
        """What a value is that is refused in this role; ``None`` where it may be taken."""
        if self._is_new_tensor(value):
            return Given.TENSOR if role is not Role.BUFFER else None
        if isinstance(value, ast.Call):
            if role is Role.MODULE and (name := self._layer(value.func)):
                return Given.SEQUENCE if name.rpartition(".")[2] in _GIVING_TUPLES else Given.TENSOR
            if role is Role.PARAMETER and self._names.role(value) is Role.MODULE:
                return Given.MODULE
        return self._shown(value)

    def takes_fractions(self, registered: Registered) -> bool:
        """Whether what is registered is of floating point."""
        value = registered.value
        if registered.role is Role.PARAMETER and isinstance(value, ast.Call) and value.args:
            return is_floating(value.args[0], self._semantics.qualified_name)
        return is_floating(value, self._semantics.qualified_name)

    @staticmethod
    def is_view(value: ast.expr) -> bool:
        """Whether a tensor may lie in the memory of another one."""
        match value:
            case ast.Subscript() | ast.Attribute():
                return True
            case ast.Call(func=function):
                return last_name(function) in _VIEWING
        return False

    def _shown(self, value: ast.expr) -> Given | None:
        """What the expression itself shows that is neither a tensor nor a module."""
        match value:
            case ast.Constant(value=int() | float() | complex()) | ast.UnaryOp(operand=ast.Constant(value=int() | float())):
                return Given.NUMBER
            case ast.Constant(value=str() | bytes()) | ast.JoinedStr():
                return Given.STRING
            case ast.List() | ast.Tuple() | ast.Set() | ast.ListComp() | ast.SetComp():
                return Given.SEQUENCE
            case ast.Dict() | ast.DictComp():
                return Given.DICT
            case ast.Lambda():
                return Given.FUNCTION
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                return Given.ARRAY if name in _ARRAYS else Given.NUMBER if name in _NUMBERS else None
        return None

    def _layer(self, function: ast.expr) -> str:
        """The name of the layer of torch that a constructor registers and that is called; empty for all else."""
        registered = self._names.named(function)
        if registered is None or registered.role is not Role.MODULE:
            return ""
        name = self._semantics.kind(registered.value).name
        return name if name in torch_api.MODULES and name.rpartition(".")[2] not in _NOT_LAYERS else ""

    def _is_new_tensor(self, value: ast.expr) -> bool:
        """Whether a value is a tensor that is made on the spot, and no parameter."""
        match value:
            case ast.BinOp(left=left, right=right):
                return self._is_tensor(left) or self._is_tensor(right)
            case ast.UnaryOp(op=ast.USub(), operand=whole) | ast.Subscript(value=whole):
                return self._is_tensor(whole)
            case ast.Attribute(value=whole, attr="data" | "T" | "mT"):
                return self._is_tensor(whole)
            case ast.Call(func=function, keywords=words):
                if any(word.arg in (None, "out", "inplace") for word in words):
                    return False
                name = self._semantics.qualified_name(function) or ""
                if name in _NEW_BY_FUNCTION or (name in torch_api.FACTORIES and name not in _HANDING_ON):
                    return True
                return last_name(function) in _NEW_BY_METHOD and self._is_receiver(function)
        return False

    def _is_receiver(self, method: ast.expr) -> bool:
        return isinstance(method, ast.Attribute) and self._is_tensor(method.value)

    def _is_tensor(self, value: ast.expr) -> bool:
        """Whether a value is a tensor; what a constructor registers as one is, whatever is assigned to it later."""
        registered = self._names.named(value)
        if registered is not None and registered.role is not Role.MODULE:
            return True
        kind = self._semantics.kind(value)
        return (kind.is_tensor and not kind.loose) or self._is_new_tensor(value)
