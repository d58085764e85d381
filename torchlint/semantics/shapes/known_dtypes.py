"""Dtypes that are written out where tensors and arrays are made."""

from __future__ import annotations

import ast

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, own_returns

_DEFAULT = frozenset(f"torch.{name}" for name in ("zeros", "ones", "rand", "randn", "empty", "eye", "linspace"))
"""Functions that make tensors of the default dtype, on the CPU unless told otherwise."""
_CHANGING = frozenset({"set_default_dtype", "set_default_tensor_type"})
_TOLD = _DEFAULT | {"torch.tensor", "torch.as_tensor", "torch.full", "torch.arange"}
_FLOATS = frozenset({"numpy.zeros", "numpy.ones", "numpy.empty", "numpy.eye", "numpy.identity"})
"""Functions of numpy that make floats, of 64 bits, unless they are told otherwise."""
_DRAWS = frozenset(f"numpy.random.{name}" for name in ("rand", "randn", "random", "random_sample", "uniform", "normal"))
"""Those that draw floats of 64 bits."""
_SHARED = frozenset({"torch.from_numpy", "numpy.expand_dims", "numpy.ascontiguousarray", "numpy.transpose", "numpy.squeeze"})
"""Functions that keep the dtype of what they are given."""
_KEEPING = frozenset(
    {"cpu", "detach", "clone", "unsqueeze", "squeeze", "view", "reshape", "transpose", "permute", "contiguous", "copy"}
)
"""Methods that do so."""
_CASTS = {
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "byte": "uint8",
    "float": "float32",
    "double": "float64",
    "half": "float16",
}
_CLASSES = {
    **{f"torch.{name.capitalize()}Tensor": dtype for name, dtype in _CASTS.items()},
    "torch.BFloat16Tensor": "bfloat16",
    "torch.CharTensor": "int8",
}
_NAMES = {"float": "float64", "float_": "float64", "single": "float32", "double": "float64", "long": "int64", "half": "float16"}
_DEPTH = 9


class KnownDtypes:
    """Tells the dtypes of tensors and arrays of one file, as they are made."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def of(self, node: ast.expr, depth: int = _DEPTH) -> str | None:
        """The dtype of an array, or of a tensor on the CPU; ``None`` where the code does not tell it."""
        if not depth:
            return None
        match node:
            case ast.Call():
                return self._of_call(node, depth)
            case ast.Subscript(value=value, slice=index) if not _is_key(index):
                return self.of(value, depth - 1)
            case ast.Name():
                return self._of_name(node, depth)
            case ast.Attribute(value=owner, attr=name):
                return self._of_attribute(owner, name, depth)
        return None

    def _of_name(self, name: ast.Name, depth: int) -> str | None:
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].value is None:
            return None
        value = bindings[0].value
        match bindings[0].path:
            case ():
                return self.of(value, depth - 1)
            case (int(index),) if isinstance(value, ast.Call) and index // 2 < len(value.args):
                is_split = (self._semantics.qualified_name(value.func) or "").endswith(".train_test_split")
                return self.of(value.args[index // 2], depth - 1) if is_split else None
        return None

    def _of_attribute(self, owner: ast.expr, name: str, depth: int) -> str | None:
        """The dtype of an attribute of ``self`` that all that is stored there has, or what the constructor leaves there."""
        definition = self._semantics.facts.self_class(owner)
        slots = self._semantics.facts.slots(definition, name) if definition is not None else []
        statements = [self._semantics.tree.parent(store) for slot in slots for store in slot.stores]
        made = [each for each in statements if isinstance(each, ast.Assign) and len(each.targets) == 1]
        if definition is None or not made or len(made) < len(statements):
            return None
        last, constructor = max(made, key=lambda each: each.lineno), self._semantics.facts.method(definition, "__init__")
        if all(self._semantics.tree.function(each) is constructor for each in made):
            if isinstance(constructor, FUNCTIONS) and last in constructor.body:
                made = made if self._semantics.tree.function(owner) is constructor else [last]
        found = {self.of(each.value, depth - 1) for each in made}
        return found.pop() if len(found) == 1 else None

    def _of_call(self, call: ast.Call, depth: int) -> str | None:
        name = self._semantics.qualified_name(call.func) or ""
        if name in _CLASSES:
            return None if call.keywords else _CLASSES[name]
        definition = self._definition(call.func)
        if isinstance(definition, FUNCTIONS):
            found = {self.of(each.value, depth - 1) if each.value else None for each in own_returns(definition)}
            return found.pop() if len(found) == 1 else None
        match call:
            case ast.Call(func=ast.Attribute(attr="astype"), args=[dtype, *_]):
                return self._said(dtype)
            case ast.Call(func=ast.Attribute(attr="to" | "type"), args=[dtype], keywords=[]):
                return self._said(dtype)
        if name in _SHARED:
            return self.of(call.args[0], depth - 1) if call.args else None
        if name in _TOLD or name.startswith("numpy."):
            return self._told(call, name)
        match call:
            case ast.Call(func=ast.Attribute(attr=cast), args=[], keywords=[]) if cast in _CASTS:
                return _CASTS[cast]
            case ast.Call(func=ast.Attribute(attr=method, value=owner)) if method in _KEEPING:
                return self.of(owner, depth - 1)
        return None

    def _definition(self, function: ast.expr) -> ast.AST | None:
        """The function or class of the file that is called, or the method of ``self``."""
        facts = self._semantics.facts
        owner = facts.self_class(function.value) if isinstance(function, ast.Attribute) else None
        if owner is not None and isinstance(function, ast.Attribute):
            return facts.method(owner, function.attr)
        return facts.definition(function)

    def _told(self, call: ast.Call, name: str) -> str | None:
        """The dtype that a function is told, or has if it is told nothing."""
        words = {word.arg: word.value for word in call.keywords}
        if "device" in words or None in words:
            return None
        if "dtype" in words:
            return self._said(words["dtype"])
        if name in _FLOATS | {"numpy.array", "numpy.asarray"} and len(call.args) == 2:
            return self._said(call.args[1])
        if name in _DEFAULT:
            return None if _CHANGING & self._semantics.words.all else "float32"
        return "float64" if name in _DRAWS or (name in _FLOATS and len(call.args) == 1) else None

    def _said(self, dtype: ast.expr) -> str | None:
        """The name of a dtype that is written out: of numpy, of torch, or of Python."""
        if isinstance(dtype, ast.Constant):
            return dtype.value if isinstance(dtype.value, str) else None
        library, _, name = (self._semantics.qualified_name(dtype) or "").rpartition(".")
        return _NAMES.get(name, name) if library in ("numpy", "torch", "builtins") else None


def _is_key(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and isinstance(index.value, str)
