"""Which values are numpy arrays on every path, and whether anybody else has their memory."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.certainty.likely_tensors import TypeTests
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.bindings import Binding, Form

_ARRAY_MAKERS = frozenset(
    {
        *("array", "asarray", "ascontiguousarray", "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like"),
        *("arange", "linspace", "eye", "stack", "concatenate", "vstack", "hstack", "column_stack", "tile", "repeat", "copy"),
        *("random.rand", "random.randn", "random.permutation", "transpose", "expand_dims", "reshape", "pad", "fromfile"),
        *("frombuffer", "loadtxt", "genfromtxt", "meshgrid", "random.choice", "random.randint", "random.normal"),
    }
)
_SIZED_DRAWS = frozenset({"random.rand", "random.randn", "random.randint", "random.normal", "random.choice"})
"""Functions that give a number where no size is asked for."""
_ARRAY_METHODS = frozenset(
    {"astype", "reshape", "transpose", "copy", "flatten", "ravel", "squeeze", "repeat", "swapaxes", "clip", "round"}
)
_SHARING_MAKERS = frozenset(
    {"asarray", "ascontiguousarray", "reshape", "transpose", "expand_dims", "frombuffer", "squeeze", "ravel", "broadcast_to"}
)
_SHARING_METHODS = frozenset({"reshape", "transpose", "ravel", "squeeze", "swapaxes"})
"""Functions and methods whose result is the array itself, or a view of it."""


class Arrays:
    """Tells of expressions whether they are arrays, whatever path led there."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._arrays = Beliefs(semantics.bindings, self._find_array)
        self._tests = semantics.of(TypeTests)

    def is_array(self, node: ast.expr) -> bool:
        """Whether ``node`` is a numpy array for certain, and no number that numpy made."""
        return self._arrays.hold(node)

    def _find_array(self, value: Value) -> bool:
        match value:
            case Binding():
                return self._binds_array(value)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(self._arrays.hold(binding) for binding in bindings)
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                if name.startswith("numpy."):
                    return self._makes_array(value, name.removeprefix("numpy."))
                if isinstance(function, ast.Attribute):
                    if function.attr == "numpy":
                        return self._semantics.kind(function.value).is_tensor
                    return function.attr in _ARRAY_METHODS and self.is_array(function.value)
            case ast.BinOp(left=left, right=right):
                return self.is_array(left) or self.is_array(right)
            case ast.Attribute(value=inner, attr="T"):
                return self.is_array(inner)
            case ast.Subscript(value=inner, slice=index) if _keeps_axes(index):
                return self.is_array(inner)
        return False

    def _makes_array(self, call: ast.Call, maker: str) -> bool:
        if maker in _SIZED_DRAWS:
            words = {word.arg for word in call.keywords}
            return "size" in words or (maker in ("random.rand", "random.randn") and bool(call.args)) or len(call.args) > 2
        return maker in _ARRAY_MAKERS

    def _binds_array(self, binding: Binding) -> bool:
        if self._tests.ask_about(binding):
            return False
        if binding.form is Form.PARAMETER:
            annotation = binding.annotation
            return annotation is not None and self._semantics.qualified_name(annotation) == "numpy.ndarray"
        if binding.form is Form.AUGMENTED:
            return bool(binding.before) and all(self._arrays.hold(each) for each in binding.before)
        return (
            binding.form is Form.ASSIGNMENT and not binding.path and binding.value is not None and self.is_array(binding.value)
        )

    def is_new_array(self, node: ast.expr) -> bool:
        """Whether ``node`` is an array whose memory nobody else has: made where it stands, or for the name that it is."""
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return len(bindings) == 1 and self._binds_new_array(bindings[0])
            case ast.Call(func=function):
                if (shown := self.shown_array(node)) is not None:
                    return self.is_new_array(shown)
                if (self._semantics.qualified_name(function) or "").removeprefix("numpy.") in _SHARING_MAKERS:
                    return False
                shares = isinstance(function, ast.Attribute) and function.attr == "numpy"
                lazy = any(word.arg == "copy" for word in node.keywords)
                return not shares and not lazy and self.is_array(node)
            case ast.BinOp():
                return self.is_array(node)
        return False

    def shown_array(self, node: ast.expr) -> ast.expr | None:
        """What an array is, or may be, a view of, by the call that gives it: ``z`` of ``z.reshape(-1)``."""
        match node:
            case ast.Call(func=function, args=arguments):
                name = self._semantics.qualified_name(function) or ""
                if name.removeprefix("numpy.") in _SHARING_MAKERS:
                    return arguments[0] if arguments else None
                if isinstance(function, ast.Attribute) and function.attr in _SHARING_METHODS and name == "":
                    return function.value
        return None

    def _binds_new_array(self, binding: Binding) -> bool:
        if binding.form is Form.AUGMENTED:
            return len(binding.before) == 1 and self._binds_new_array(binding.before[0])
        value = binding.value
        if value is None or isinstance(value, ast.Name):
            return False
        return self._arrays.hold(binding) and self.is_new_array(value)


def _keeps_axes(index: ast.expr) -> bool:
    """Whether an index takes no axis away: ``[a:b]``, ``[:, None]``."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...)) for part in parts)
