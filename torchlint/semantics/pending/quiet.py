"""Which statements compute nothing but numbers: they run no autograd, and call nothing that the file does not show."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.layers import Layers
from torchlint.semantics.code.beliefs import Beliefs
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.observers.libraries import KEEPING_NOTHING
from torchlint.semantics.pending.autocast import Autocast
from torchlint.semantics.pending.still_values import StillValues

_RUNS_AUTOGRAD = frozenset(
    {"backward", "register_hook", "retain_grad", "requires_grad_", "apply_", "map_", "register_post_accumulate_grad_hook"}
)
_METHODS = torch_api.INPLACE_METHODS | torch_api.TENSOR_METHODS.keys() | torch_api.TENSOR_ATTRIBUTES | torch_api.TENSOR_ONLY
_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in (
        *("float", "int", "len", "max", "min", "abs", "isinstance", "type", "range", "enumerate", "zip"),
        *("list", "tuple", "reversed", "round", "str", "bool", "slice"),
    )
)
_TEXT = frozenset({"find", "startswith", "endswith", "lower", "upper"})
_WALKS = frozenset(
    {
        *("parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules", "children"),
        "named_children",
    }
)
_TAKES_NUMBERS = frozenset({"normal_", "uniform_", "fill_", "clamp_", "clip_", "zero_", "exponential_", "bernoulli_"})
_LIBRARIES = ("math.", "numpy.", "torch.nn.init.", "random.", "operator.")


class Quiet:
    """Tells of statements whether it makes no difference to anything but their own result that autograd is off in them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._layers = semantics.of(Layers)
        self._autocast = semantics.of(Autocast)
        self._values = semantics.of(StillValues)
        self._operands = Beliefs(semantics.bindings, lambda value: isinstance(value, ast.expr) and self._is_operand(value))

    def fact(self, node: ast.AST) -> Fact:
        """Whether a statement or an expression is made of arithmetic of tensors and numbers, and functions of torch.

        An object that is not known may compute gradients in an operator, in a property, in an item or when it is iterated
        over; a function or a method that is not, may do anything.
        """
        for part in ast.walk(node):
            doubt = self._doubt(part) or self._doubt_of_casts(part)
            if doubt:
                return unknown(doubt)
        return CERTAIN

    def of_header(self, header: ast.expr) -> Fact:
        """Whether the same is true of a condition, or of what a loop is over."""
        parent = self._tree.parent(header)
        if isinstance(parent, ast.For) and not self._is_quiet_iterable(header):
            return unknown(f"`{shortened(header)}` may compute with autograd")
        return self.fact(header)

    def _doubt_of_casts(self, part: ast.AST) -> str:
        for operand in self._autocast.casts(part):
            if not self._values.is_plain(operand):
                return f"`{shortened(operand)}` may be cast by autocast, which keeps what it was"
        return ""

    def _doubt(self, part: ast.AST) -> str:
        match part:
            case ast.Lambda() | ast.GeneratorExp() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return f"`{shortened(part)}` may be run later"
            case ast.Call():
                return "" if self._is_quiet_call(part) else f"`{shortened(part)}` may need autograd, which is off then"
            case ast.BinOp(left=left, right=right):
                return self._doubt_of_operands(left, right)
            case ast.Compare(left=left, comparators=comparators, ops=operators):
                if all(isinstance(each, (ast.Is, ast.IsNot)) for each in operators):
                    return ""
                return self._doubt_of_operands(left, *comparators)
            case ast.UnaryOp(operand=operand):
                return (
                    "" if isinstance(part.op, ast.Not) or self._is_number_argument(part) else self._doubt_of_operands(operand)
                )
            case ast.Attribute(ctx=ast.Load()):
                return "" if self._is_quiet_attribute(part) else f"`{shortened(part)}` may be computed with autograd"
            case ast.Subscript(ctx=ast.Load(), value=value):
                return "" if self._is_container(value) else f"`{shortened(part)}` may be computed with autograd"
            case ast.For(iter=header):
                return "" if self._is_quiet_iterable(header) else f"`{shortened(header)}` may compute with autograd"
        return ""

    # --- calls -------------------------------------------------------------------------------------------------------

    def _is_quiet_call(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if name in torch_api.FUNCTIONS or name in torch_api.FACTORIES or name in _BUILTINS or name.startswith(_LIBRARIES):
            return not name.startswith("torch.autograd")
        if name in ("torch.tensor", "torch.from_numpy", "torch.as_tensor"):
            return True
        if not isinstance(call.func, ast.Attribute):
            return False
        receiver, method = call.func.value, call.func.attr
        if method in _RUNS_AUTOGRAD:
            return False
        if method in _METHODS and self._is_tensor(receiver):
            return True
        if method in _TEXT:
            return self._is_text(receiver)
        return method in _WALKS and self._is_module(receiver)

    def _is_tensor(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in torch_api.INPLACE_METHODS:
                return self._is_tensor(inner)
            case ast.Attribute(value=inner, attr="data") | ast.Subscript(value=inner):
                return self._is_tensor(inner)
            case ast.BinOp(left=left, right=right):
                return self._is_tensor(left) or self._is_tensor(right)
        return self._layers.fact(node).is_certain

    def _is_text(self, node: ast.expr) -> bool:
        if self._semantics.kind(node).type is Type.STRING:
            return True
        match node:
            case ast.Attribute(attr="__name__"):
                return True
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(
                    binding.value is not None
                    and (
                        (isinstance(binding.value, ast.Attribute) and binding.value.attr == "__name__")
                        or (
                            binding.form is Form.LOOP
                            and binding.path == (0,)
                            and isinstance(binding.value, ast.Call)
                            and isinstance(binding.value.func, ast.Attribute)
                            and binding.value.func.attr in ("named_parameters", "named_modules")
                        )
                    )
                    for binding in bindings
                )
        return False

    def _is_module(self, node: ast.expr) -> bool:
        owner = self._semantics.facts.self_class(node)
        if owner is not None:
            return self._semantics.facts.is_module(owner)
        return self._semantics.kind(node).type is Type.MODULE and self._values.is_still(node)

    def _is_quiet_iterable(self, header: ast.expr) -> bool:
        match header:
            case ast.Call(func=ast.Name(id="enumerate" | "zip" | "list" | "reversed" | "range"), args=parts):
                return all(self._is_quiet_iterable(part) for part in parts)
            case ast.Call(func=ast.Attribute(attr=method)):
                return method in _WALKS
            case ast.List() | ast.Tuple() | ast.Constant():
                return True
        return self._is_number(header) or self._values.is_still(header)

    # --- operands ----------------------------------------------------------------------------------------------------

    def _doubt_of_operands(self, *operands: ast.expr) -> str:
        for operand in operands:
            if not self._is_operand(operand):
                return f"`{shortened(operand)}` may be an object that computes with autograd"
        return ""

    def _is_operand(self, node: ast.expr) -> bool:
        """Whether the operators of a value are those of numbers, tensors or arrays."""
        match node:
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return True
            case ast.BinOp(left=left, right=right):
                return self._is_operand(left) and self._is_operand(right)
            case ast.UnaryOp(operand=inner):
                return self._is_operand(inner)
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                is_number = name in _BUILTINS or name.startswith(_LIBRARIES) or name in torch_api.FUNCTIONS
                return is_number or self._is_quiet_call(node)
            case ast.Subscript(value=inner):
                return self._is_tensor(inner) or self._is_number(node) or self._is_layer_attribute(inner)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(self._is_operand(part) for part in parts)
            case ast.Attribute() if self._is_number_argument(node):
                return True
            case ast.Name() if self._is_made_of_operands(node):
                return True
        return self._is_tensor(node) or self._is_number(node) or self._is_layer_attribute(node)

    def _is_made_of_operands(self, name: ast.Name) -> bool:
        """Whether each value of a name is computed of such operands."""
        bindings = self._semantics.bindings.reaching(name)
        return bool(bindings) and all(
            binding.form is Form.ASSIGNMENT
            and not binding.path
            and isinstance(binding.value, (ast.BinOp, ast.Call))
            and self._operands.hold(binding.value)
            for binding in bindings
        )

    def _is_number(self, node: ast.expr) -> bool:
        return (
            self._semantics.kind(node).type in (Type.NUMBER, Type.STRING) or self._values.is_plain(node) or self._is_text(node)
        )

    def _is_layer_attribute(self, node: ast.expr) -> bool:
        """Whether ``node`` is an attribute of what the code has asked to be a layer of torch: ``m.kernel_size``."""
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and self._layers.is_layer(node, node.value)

    # --- attributes --------------------------------------------------------------------------------------------------

    def _is_quiet_attribute(self, node: ast.Attribute) -> bool:
        parent = self._tree.parent(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            return True  # the call is looked at
        root = (self._semantics.qualified_name(node) or "").partition(".")[0]
        if root in KEEPING_NOTHING - {"builtins"} or node.attr in ("__class__", "__name__"):
            return True
        if self._is_number_argument(node) or self._is_layer_attribute(node):
            return True
        owner = self._semantics.facts.self_class(node.value)
        if owner is not None:
            method = self._semantics.facts.method(owner, node.attr)
            return method is None
        if node.attr in torch_api.TENSOR_ATTRIBUTES and self._is_tensor(node.value):
            return True
        return self._is_tensor(node) or self._is_number(node) or self._is_checked(node)

    def _is_checked(self, node: ast.Attribute) -> bool:
        """Whether ``node`` is ``m.bias`` where a statement asks whether there is one: what it gets is looked at behind that."""
        match self._tree.parent(node):
            case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
                return True
            case ast.Attribute(value=inner) if inner is node:
                return self._semantics.kind(node).type is Type.MODULE
        return False

    def _is_number_argument(self, node: ast.expr) -> bool:
        """Whether ``node`` is an argument of a method that takes numbers: ``normal_``, ``uniform_``."""
        child: ast.AST = node
        for parent in self._tree.ancestors(node):
            match parent:
                case ast.keyword() | ast.UnaryOp() | ast.BinOp() | ast.Attribute():
                    child = parent
                case ast.Call(func=ast.Attribute(attr=method)) if child is not parent.func:
                    if method in _TAKES_NUMBERS:
                        return True
                    return (self._semantics.qualified_name(parent.func) or "").startswith(("torch.nn.init.", "math."))
                case ast.Call(func=ast.Name()) if child is not parent.func:
                    return (self._semantics.qualified_name(parent.func) or "").startswith(("torch.nn.init.", "math."))
                case _:
                    return False
        return False

    def _is_container(self, node: ast.expr) -> bool:
        """Whether taking an item of ``node`` computes nothing."""
        kind = self._semantics.kind(node).type
        if (
            kind in (Type.SEQUENCE, Type.MAPPING, Type.NUMBER, Type.ARRAY)
            or self._is_tensor(node)
            or self._is_layer_attribute(node)
        ):
            return True
        return (isinstance(node, ast.Attribute) and node.attr == "shape") or self._values.is_still(node)
