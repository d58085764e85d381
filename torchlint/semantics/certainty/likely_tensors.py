"""Which values are tensors on every path: where it is not enough that they may be.

A kind says what a value is where that is known, and takes no notice of other values that it may have: ``x = None`` before,
an annotation ``float | Tensor``, a test ``isinstance(x, Tensor)``. Here all of them count.
"""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, walk_body
from torchlint.semantics.kinds.asked import AskedTensors
from torchlint.semantics.kinds.kind import Basis, Grad, Kind, Type

_CASTS = frozenset({"to", "type", "cuda", "cpu", "float", "double", "half", "bfloat16", "long", "int", "bool"})
_TESTS = frozenset({"builtins.isinstance", "builtins.type", "builtins.hasattr", "torch.is_tensor", "numpy.isscalar"})
_TENSOR_CLASSES = frozenset({"torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.nn.Parameter", "builtins.Tensor"})

PARTS = frozenset({"T", "mT", "data", "grad", "real", "imag"})
"""Attributes of a tensor that are tensors."""


class TypeTests:
    """Tells which values the code asks what they are."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._asked_about: dict[Binding, bool] = {}

    def ask_about(self, binding: Binding) -> bool:
        """Whether any use asks what the value is, as one does of what may be several things."""
        if binding not in self._asked_about:
            self._asked_about[binding] = any(self._test(use) for use in binding.uses)
        return self._asked_about[binding]

    def _test(self, use: ast.Name) -> bool:
        call = self._semantics.tree.parent(use)
        return isinstance(call, ast.Call) and use in call.args and self._semantics.qualified_name(call.func) in _TESTS


class LikelyTensors:
    """Tells of expressions whether they are tensors, whatever path led there."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tensors = Beliefs(semantics.bindings, self._find_tensor)
        self._tests = semantics.of(TypeTests)

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether ``node`` is a tensor, whatever path led there."""
        return self._tensors.hold(node)

    def _find_tensor(self, value: Value) -> bool:
        match value:
            case Binding():
                return self._binds_tensor(value)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                known = bool(bindings) and all(self._tensors.hold(binding) for binding in bindings)
                return known or self._semantics.of(AskedTensors).are_tensors(value)
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
            case ast.Subscript(slice=ast.Constant(value=str())):
                return False  # no tensor has such an index: something else is bound to the name here
            case ast.Subscript(value=inner) | ast.NamedExpr(value=inner):
                return self.is_tensor(inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_tensor(body) and self.is_tensor(orelse)
            case ast.Attribute():
                return self._has_tensor(value)
        return False

    def _binds_tensor(self, binding: Binding) -> bool:
        if self._tests.ask_about(binding):
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
            is_item = binding.form is Form.LOOP or (binding.form is Form.ASSIGNMENT and bool(binding.path))
            return is_item and kind.basis is Basis.BATCH and self._is_collated and not self._may_be_of_others(binding)
        if binding.form is Form.LOOP:
            return kind.grad is Grad.LEAF or (not binding.path and self._gives_tensors(binding.value))
        if binding.form is not Form.ASSIGNMENT:
            return False
        return self._gives_tensors(binding.value) if binding.path else self.is_tensor(binding.value)

    @property
    def _is_collated(self) -> bool:
        """Whether what data loaders give is made of tensors: no function of the file makes batches."""
        return not self._semantics.words.speak_of("collate_fn")

    def _may_be_of_others(self, binding: Binding) -> bool:
        """Whether an item of a batch has a key, as those of other libraries do, or its batch may be what a generator of the
        file yields: what a session of TensorFlow's gives is an array.
        """
        match binding.value, binding.path:
            case ((ast.Tuple(elts=parts) | ast.List(elts=parts)), (int() as place, *_)) if place < len(parts):
                return isinstance(parts[place], ast.Subscript) and not self.is_tensor(parts[place])
            case ast.Name() as batch, _ if binding.form is Form.ASSIGNMENT:
                return any(map(self._is_of_generator, self._semantics.bindings.reaching(batch)))
        return self._is_of_generator(binding)

    def _is_of_generator(self, item: Binding) -> bool:
        """Whether a loop runs over a variable that has a generator of the file on one of the ways to it."""
        iterated = item.value if item.form is Form.LOOP else None
        while isinstance(iterated, ast.Call) and iterated.args:
            iterated = iterated.args[0]
        bindings = self._semantics.bindings.reaching(iterated) if isinstance(iterated, ast.Name) else ()
        made = (each.value for each in bindings if isinstance(each.value, ast.Call) and not each.path)
        return any(self._yields(self._semantics.facts.definition(call.func)) for call in made)

    def _yields(self, function: ast.AST | None) -> bool:
        return isinstance(function, FUNCTIONS) and any(
            isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk_body(function.body)
        )

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
        if called.type is Type.MODULE and called.definition is None and self._makes_tensor(called):
            return True
        if called.type is Type.FUNCTION and isinstance(called.definition, FUNCTIONS):
            values = self._semantics.facts.returned(called.definition)
            return bool(values) and all(value is not None and self.is_tensor(value) for value in values)
        return False

    def _makes_tensor(self, module: Kind) -> bool:
        """Whether calling a module of torch gives a tensor."""
        return module.name in torch_api.MODULES

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
        return self._has_what_only_tensors_have(function) or self.is_tensor(function.value)

    def _has_what_only_tensors_have(self, function: ast.Attribute) -> bool:
        """Whether a method is one of tensors alone, as far as torch goes, of a value that may be one."""
        may_be_tensor = self._semantics.kind(function.value).type in (Type.UNKNOWN, Type.TENSOR)
        return may_be_tensor and function.attr in torch_api.TENSOR_ONLY

    def _has_tensor(self, node: ast.Attribute) -> bool:
        if node.attr in PARTS:
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
