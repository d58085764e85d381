"""What a move or a cast asks for: ``.cuda()``, ``.to(device)``, ``.float()``, ``.type_as(x)`` as a device and a dtype."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import Enum, auto

from torchlint.fact import CERTAIN, Fact, known, shortened, unknown
from torchlint.semantics import Semantics, Type
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import dotted, is_none
from torchlint.semantics.devices.certain_devices import CertainDevices

CASTING_METHODS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "byte": "uint8",
    "char": "int8",
    "bool": "bool",
}
"""Methods that cast to one dtype, and that dtype's name."""

DTYPES = {
    **{name: name for name in CASTING_METHODS.values()},
    **{"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64", "short": "int16"},
    **{"complex64": "complex64", "complex128": "complex128"},
}
"""The names that torch has for its dtypes, each with the plainest one."""

_TENSOR_CLASSES = {
    **{"FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16"},
    **{"IntTensor": "int32", "LongTensor": "int64", "ShortTensor": "int16", "ByteTensor": "uint8", "CharTensor": "int8"},
    **{"BoolTensor": "bool"},
}
_DEVICE_NAME = re.compile(r"devices?(_|\d|$)|(^|_)(dev\d?|ctx|gpu|gpu_?id|local_rank)$", re.IGNORECASE)
_DTYPE_NAME = re.compile(r"d_?type$", re.IGNORECASE)
_CASTS_IN_PYTHON = {"builtins.float": "float64", "builtins.int": "int64", "builtins.bool": "bool"}
_DEPTH = 5
_CURRENT = "None is the current GPU to `.cuda()`, and the default device to the factory"


class Role(Enum):
    """What an argument of ``.to()`` is."""

    DEVICE = auto()
    DTYPE = auto()
    TENSOR = auto()  # one that has both


@dataclass(frozen=True, slots=True)
class Placement:
    """What a move or cast asks for, with ``None`` for what stays as it is.

    ``device`` and ``dtype`` are expressions of the file, or text where it holds none that says so; ``known_dtype`` is torch's
    name of the dtype where the code tells it, and alone where a method's name says it (``.float()``); ``fact`` is whether the
    device and the dtype mean the same as ``device=`` and ``dtype=``.
    """

    device: ast.expr | str | None = None
    dtype: ast.expr | str | None = None
    known_dtype: str = ""
    fact: Fact = CERTAIN

    @property
    def device_name(self) -> str:
        """The device as it is written, without quotes: ``cuda:0``, ``self.device``."""
        written = ast.unparse(self.device) if isinstance(self.device, ast.AST) else self.device or ""
        return written.strip("\"'")

    @property
    def casts(self) -> bool:
        """Whether a dtype is asked for."""
        return self.dtype is not None or bool(self.known_dtype)


class Placements:
    """Reads moves and casts."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._devices = semantics.of(CertainDevices)

    def of(self, call: ast.Call) -> Placement | None:
        """What a call of a moving or casting method asks for; ``None`` where it is none, or nobody can tell."""
        if not isinstance(call.func, ast.Attribute):
            return None
        method = call.func.attr
        if method in CASTING_METHODS:
            return _cast(CASTING_METHODS[method]) if not call.args and not call.keywords else None
        if method == "cuda":
            return self._cuda(call)
        if method == "type_as":
            return self._like(call.args[0]) if len(call.args) == 1 and not call.keywords else None
        if method == "type":
            return self._type(call.args[0]) if len(call.args) == 1 and not call.keywords else None
        return self._to(call) if method == "to" else None

    def role(self, node: ast.expr, depth: int = 0) -> Role | None:
        """What ``node`` is as an argument of ``.to()``, as far as the code tells."""
        if depth > _DEPTH:
            return None
        name = self._semantics.qualified_name(node) or ""
        if _torch_dtype(name) or name in _CASTS_IN_PYTHON:
            return Role.DTYPE
        match node:
            case ast.Constant(value=str()) | ast.JoinedStr():
                return Role.DEVICE
            case ast.Call(func=function) if self._semantics.qualified_name(function) == "torch.device":
                return Role.DEVICE
            case ast.Attribute(attr="device"):
                return Role.DEVICE
            case ast.Attribute(attr="dtype"):
                return Role.DTYPE
            case ast.IfExp(body=body, orelse=orelse):
                first = self.role(body, depth + 1)
                return first if first is self.role(orelse, depth + 1) else None
        return self._role_of_value(node, depth)

    def _role_of_value(self, node: ast.expr, depth: int) -> Role | None:
        kind, last = self._semantics.kind(node), _last_name(node)
        if kind.is_tensor:
            is_perhaps_device = _DEVICE_NAME.search(last) is not None and not self._semantics.of(Tensors).fact(node).is_certain
            return Role.DEVICE if is_perhaps_device else Role.TENSOR
        if kind.known and kind.type not in (Type.NUMBER, Type.STRING, Type.NONE, Type.FUNCTION):
            return None
        if isinstance(node, ast.Name):
            bindings = self._semantics.bindings.reaching(node)
            values = [binding.value for binding in bindings if binding.form is Form.ASSIGNMENT and not binding.path]
            roles = {self.role(value, depth + 1) for value in values if value is not None and not is_none(value)}
            if len(roles) == 1 and None not in roles and len(values) == len(bindings):
                return roles.pop()
        if _DTYPE_NAME.search(last):
            return Role.DTYPE
        if _DEVICE_NAME.search(last) or kind.type is Type.NUMBER:
            return Role.DEVICE
        return None

    # --- the methods -------------------------------------------------------------------------------------------------

    def _cuda(self, call: ast.Call) -> Placement | None:
        if any(word.arg not in ("device", "non_blocking") for word in call.keywords) or len(call.args) > 2:
            return None
        given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "device")]
        if not given or is_none(given[0]):
            return Placement('"cuda"')
        node = given[0]
        match node:
            case _ if not _can_stand_elsewhere(node):
                return None
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int(index)):
                return Placement(f'"cuda:{index}"')
            case ast.Call(func=ast.Attribute(attr="get_device")):
                return Placement(node, fact=unknown(_CURRENT))
        if self.role(node) is Role.DEVICE:
            return Placement(node, fact=self._devices.fact(node) & known(not self._may_be_none(node), _CURRENT))
        return Placement(node, fact=self._devices.fact(node) & unknown(_CURRENT))

    def _may_be_none(self, node: ast.expr) -> bool:
        """Whether a device may be ``None``, which is the current GPU to ``.cuda()`` and the default device elsewhere."""
        if isinstance(node, ast.Attribute) and node.attr == "device" and self._semantics.kind(node.value).is_tensor:
            return False
        return not isinstance(node, (ast.Constant, ast.JoinedStr, ast.Call)) and not self._semantics.kind(node).known

    def _to(self, call: ast.Call) -> Placement | None:
        words = {word.arg: word.value for word in call.keywords}
        if words.keys() - {"device", "dtype", "non_blocking"} or len(call.args) > 2:
            return None
        found = [self._argument(argument) for argument in call.args]
        if "device" in words:
            device = words["device"]
            found.append(Placement(device, fact=self._devices.fact(device)) if _can_stand_elsewhere(device) else None)
        if "dtype" in words:
            found.append(self._dtype(words["dtype"]))
        placement = Placement()
        for part in found:
            if part is None or (part.device and placement.device) or (part.casts and placement.casts):
                return None
            placement = Placement(
                part.device or placement.device,
                part.dtype or placement.dtype,
                part.known_dtype or placement.known_dtype,
                part.fact & placement.fact,
            )
        return placement if found else None

    def _argument(self, node: ast.expr) -> Placement | None:
        match self.role(node):
            case Role.DEVICE:
                return Placement(node, fact=self._devices.fact(node)) if _can_stand_elsewhere(node) else None
            case Role.DTYPE:
                return self._dtype(node)
            case Role.TENSOR:
                return self._like(node)
        return None

    def _type(self, node: ast.expr) -> Placement | None:
        """``.type(dtype)``, ``.type(torch.LongTensor)``, ``.type("torch.cuda.FloatTensor")``."""
        name = self._semantics.qualified_name(node) or ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value
        module, _, last = name.rpartition(".")
        if module in ("torch", "torch.cuda") and last in _TENSOR_CLASSES:
            dtype = _cast(_TENSOR_CLASSES[last])
            return Placement('"cuda"', known_dtype=dtype.known_dtype) if module == "torch.cuda" else dtype
        is_dtype = _torch_dtype(name) or (isinstance(node, ast.Attribute) and node.attr == "dtype")
        return self._dtype(node) if is_dtype else None  # a name may be of a legacy class of tensors as well

    def _like(self, node: ast.expr) -> Placement | None:
        """The device and dtype of another tensor, which is named twice and so must be a plain name."""
        if isinstance(node, ast.Attribute) and node.attr == "data" and self._semantics.kind(node).is_tensor:
            node = node.value
        name = dotted(node)
        if name is None:
            return None
        asked_twice = known(isinstance(node, ast.Name) or self._is_plain(node), f"`{name}` is asked for twice")
        return Placement(f"{name}.device", f"{name}.dtype", fact=self._semantics.of(Tensors).fact(node) & asked_twice)

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether ``node`` is an attribute that methods of the class assign to: no property."""
        match node:
            case ast.Attribute(value=owner, attr=attribute):
                found = self._semantics.facts.self_class(owner)
                slots = self._semantics.facts.slots(found, attribute) if found is not None else []
                return any(slot.stores for slot in slots)
        return False

    def _dtype(self, node: ast.expr) -> Placement | None:
        name = self._semantics.qualified_name(node) or ""
        if not _can_stand_elsewhere(node):
            return None
        dtype = _CASTS_IN_PYTHON.get(name) or _torch_dtype(name)
        return Placement(
            None, node, dtype, known(bool(dtype) or self._is_tensors(node), f"`{shortened(node)}` may be no dtype")
        )

    def _is_tensors(self, node: ast.expr) -> bool:
        """Whether ``node`` is the dtype of a tensor."""
        return (
            isinstance(node, ast.Attribute) and node.attr == "dtype" and self._semantics.of(Tensors).fact(node.value).is_certain
        )


def _can_stand_elsewhere(argument: ast.expr) -> bool:
    """Whether an argument may be written as one of another call."""
    return not isinstance(argument, (ast.Starred, ast.NamedExpr))


def _cast(name: str) -> Placement:
    return Placement(known_dtype=name)


def _torch_dtype(name: str) -> str:
    module, _, last = name.rpartition(".")
    return DTYPES.get(last, "") if module == "torch" else ""


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function):
            return _last_name(function)
        case ast.Subscript(value=value, slice=ast.Constant(value=str(key))):
            return key
        case ast.Subscript(value=value):
            return _last_name(value)
    return ""
