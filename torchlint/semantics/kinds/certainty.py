"""Which values are tensors, or arrays, on every path: where it is not enough that they may be.

A kind says what a value is where that is known, and takes no notice of other values that it may have: ``x = None`` before,
an annotation ``float | Tensor``, a test ``isinstance(x, Tensor)``. Here all of them count.
"""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.kinds.kind import Basis, Grad, Type

_CASTS = frozenset({"to", "type", "cuda", "cpu", "float", "double", "half", "bfloat16", "long", "int", "bool"})
_TESTS = frozenset({"builtins.isinstance", "builtins.type", "builtins.hasattr", "torch.is_tensor", "numpy.isscalar"})
_TENSOR_CLASSES = frozenset({"torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.nn.Parameter", "builtins.Tensor"})
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


class Certainty:
    """Tells of expressions whether they are tensors, or arrays, whatever path led there."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tensors = Beliefs(semantics.bindings, self._find_tensor)
        self._arrays = Beliefs(semantics.bindings, self._find_array)
        self._asked_about: dict[Binding, bool] = {}

    # --- tensors -----------------------------------------------------------------------------------------------------

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether ``node`` is a tensor for certain."""
        return self._tensors.hold(node)

    def _find_tensor(self, value: Value) -> bool:
        match value:
            case Binding():
                return self._binds_tensor(value)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(self._tensors.hold(binding) for binding in bindings)
            case ast.Call():
                return self._gives_tensor(value)
            case ast.BinOp(left=left, right=right):
                return self.is_tensor(left) or self.is_tensor(right)
            case ast.Compare(left=left, comparators=[right], ops=[operator]) if not isinstance(
                operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)
            ):
                return self.is_tensor(left) or self.is_tensor(right)
            case ast.UnaryOp(op=op, operand=operand):
                return not isinstance(op, ast.Not) and self.is_tensor(operand)
            case ast.Subscript(value=inner) | ast.NamedExpr(value=inner):
                return self.is_tensor(inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_tensor(body) and self.is_tensor(orelse)
            case ast.Attribute():
                return self._has_tensor(value)
        return False

    def _binds_tensor(self, binding: Binding) -> bool:
        if self._is_asked_about(binding):
            return False
        if binding.form is Form.PARAMETER:
            return self._is_tensor_class(binding.annotation)
        if binding.form is Form.AUGMENTED:
            value = binding.value
            before = bool(binding.before) and all(self._tensors.hold(each) for each in binding.before)
            return before or (value is not None and self.is_tensor(value))
        kind = self._semantics.inference.binding_kind(binding)
        if not kind.is_tensor or binding.value is None:
            return False
        if kind.loose:
            return binding.form is Form.LOOP and kind.basis is Basis.BATCH and self._collates_as_usual
        if binding.form is Form.LOOP:
            return kind.grad is Grad.LEAF or (not binding.path and self._gives_tensors(binding.value))
        if binding.form is not Form.ASSIGNMENT:
            return False
        return self._gives_tensors(binding.value) if binding.path else self.is_tensor(binding.value)

    @cached_property
    def _collates_as_usual(self) -> bool:
        """Whether the file's data loaders make tensors of what they load."""
        return not self._semantics.words.speak_of("collate_fn")

    def _is_asked_about(self, binding: Binding) -> bool:
        """Whether any use asks what the value is."""
        if binding not in self._asked_about:
            self._asked_about[binding] = any(self._is_tested(use) for use in binding.uses)
        return self._asked_about[binding]

    def _is_tested(self, use: ast.Name) -> bool:
        """Whether a use asks what the value is, as one does of what may be several things."""
        call = self._semantics.tree.parent(use)
        return isinstance(call, ast.Call) and use in call.args and self._semantics.qualified_name(call.func) in _TESTS

    def _is_tensor_class(self, annotation: ast.expr | None) -> bool:
        if not isinstance(annotation, (ast.Name, ast.Attribute)):
            return False
        name = self._semantics.qualified_name(annotation) or ""
        return name in _TENSOR_CLASSES

    def _gives_tensor(self, call: ast.Call) -> bool:
        kind = self._semantics.kind(call)
        if not kind.is_tensor or kind.loose:
            return False
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("torch.") and name != "torch.nn.utils.clip_grad_norm_":  # which was a number once
            return True
        if isinstance(call.func, ast.Attribute) and self._is_method_of_tensor(call.func, "tensor"):
            return True
        called = self._semantics.kind(call.func)
        if called.type is Type.MODULE and called.name in torch_api.MODULES and called.definition is None:
            return True
        if called.type is Type.FUNCTION and isinstance(called.definition, FUNCTIONS):
            values = self._semantics.facts.returned(called.definition)
            return bool(values) and all(value is not None and self.is_tensor(value) for value in values)
        return False

    def _gives_tensors(self, value: ast.expr) -> bool:
        """Whether all parts of a value that is taken apart are tensors."""
        if not isinstance(value, ast.Call):
            return self.is_tensor(value)
        name = self._semantics.qualified_name(value.func) or ""
        if name.startswith("torch."):
            return torch_api.FUNCTIONS.get(name, "").partition("|")[0] in ("tensor", "tuple", "list")
        return isinstance(value.func, ast.Attribute) and self._is_method_of_tensor(value.func, "tuple", "tensor|tuple", "list")

    def _is_method_of_tensor(self, function: ast.Attribute, *results: str) -> bool:
        result = torch_api.TENSOR_METHODS.get(function.attr, "tensor" if function.attr in _CASTS else "")
        if result not in results and not result.startswith("tensor"):
            return False
        if function.attr in torch_api.TENSOR_ONLY and self._semantics.kind(function.value).type in (Type.UNKNOWN, Type.TENSOR):
            return True  # nothing else has the method
        return self.is_tensor(function.value)

    def _has_tensor(self, node: ast.Attribute) -> bool:
        if node.attr in ("T", "mT", "data", "grad", "real", "imag"):
            return self.is_tensor(node.value)
        kind = self._semantics.kind(node)
        if not kind.is_tensor or kind.loose:
            return False
        owner = self._semantics.facts.self_class(node.value)
        if owner is None:
            return kind.grad is Grad.LEAF and self._semantics.kind(node.value).type is Type.MODULE
        stores = [store for slot in self._semantics.facts.slots(owner, node.attr) for store in slot.stores]
        return bool(stores) and all(self._stores_tensor(store) for store in stores)

    def _stores_tensor(self, store: ast.Attribute) -> bool:
        match self._semantics.tree.parent(store):
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return self.is_tensor(value)
        return False

    # --- arrays ------------------------------------------------------------------------------------------------------

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
        if self._is_asked_about(binding):
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
