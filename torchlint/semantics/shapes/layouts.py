"""The layouts of the tensors of a file, and the sizes that its expressions name."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.shapes.handed_layouts import HandedLayouts, in_step
from torchlint.semantics.shapes.layout import (
    TRANSPOSED_ATTRIBUTES,
    TRANSPOSITIONS,
    Axis,
    Contiguity,
    Layout,
    Size,
    contiguous,
    transposed,
)
from torchlint.semantics.shapes.sizes import asked_axis, bound_value, number, shape_owner, unpacked

_DEPTH = 40
"""Nothing is known of what is more steps than this away from anything simple."""
_KEEPING_METHODS = frozenset(
    {
        *("abs", "add", "bfloat16", "bool", "clamp", "clone", "cpu", "cuda", "detach", "div", "double", "exp", "float", "half"),
        *("int", "log", "long", "mul", "neg", "pow", "relu", "relu_", "requires_grad_", "sigmoid", "sqrt", "square", "sub"),
        *("tanh", "to", "type", "add_", "mul_", "sub_", "div_", "clamp_", "type_as"),
    }
)
"""Elementwise methods: the result lies in memory as the tensor does (ran), or broadcast with the argument."""
_COMPARING_METHODS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_KEEPING_FUNCTIONS = frozenset(
    {
        *("abs", "clamp", "dropout", "elu", "exp", "gelu", "leaky_relu", "log", "relu", "sigmoid", "silu", "softplus", "sqrt"),
        *("tanh", "clone", "detach"),
    }
)
_KEEPING_MODULES = frozenset(
    {
        *("Dropout", "ELU", "GELU", "Hardswish", "Identity", "LeakyReLU", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU"),
        *("Sigmoid", "Softplus", "Tanh"),
    }
)
_LIKES = frozenset({"empty_like", "full_like", "ones_like", "rand_like", "randn_like", "zeros_like"})
"""What lies in memory as the tensor does that it is made like, if nothing else is asked for (ran)."""
_COMPACTING = frozenset({"softmax", "log_softmax", "layer_norm", "contiguous", "cumsum"})
"""Functions and methods whose result has the same axes and is contiguous, whatever the tensor was (ran)."""
_COMPACTING_MODULES = frozenset({"Softmax", "LogSoftmax", "LayerNorm"})
_TRANSPOSING_MODULES = frozenset({"RNN", "LSTM", "GRU", "MultiheadAttention", "Transformer", "TransformerEncoder"})
_CONVOLUTIONS = {"Conv1d": 3, "Conv2d": 4, "Conv3d": 5, "ConvTranspose1d": 3, "ConvTranspose2d": 4, "ConvTranspose3d": 5}
_PRODUCTS = frozenset({"matmul", "bmm", "baddbmm"})
_FILLS = frozenset({"rand", "randn", "zeros", "ones", "empty"})
_RESHAPING = frozenset({"view", "reshape", "unsqueeze", "flatten"})
_RESHAPING_IN_PLACE = frozenset(
    {"transpose_", "t_", "squeeze_", "unsqueeze_", "resize_", "swapaxes_", "swapdims_", "resize_as_", "set_", "as_strided_"}
)


class Layouts:
    """Works out the layouts of one file's tensors, and the sizes that its expressions name."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._layouts: dict[ast.AST, Layout] = {}
        self._of_bindings: dict[Binding, Layout] = {}
        self._handed = HandedLayouts(semantics, self.of)
        self._depth = 0

    # --- layouts -----------------------------------------------------------------------------------------------------

    def of(self, node: ast.expr) -> Layout:
        """The layout of what ``node`` evaluates to."""
        found = self._layouts.get(node)
        if found is None:
            self._layouts[node] = Layout(node)
            if self._depth < _DEPTH:
                self._depth += 1
                found = self._layouts[node] = self._work_out(node)
                self._depth -= 1
        return self._layouts[node]

    def _work_out(self, node: ast.expr) -> Layout:
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Attribute(value=value, attr=attribute):
                return self._attribute(node, value, attribute)
            case ast.Call(func=ast.Attribute() as function):
                name = self._semantics.qualified_name(function)
                if name is not None and name.startswith("torch."):
                    return self._function(node, name)
                return self._method(node, function) or self._called(node)
            case ast.Call():
                name = self._semantics.qualified_name(node.func)
                return self._function(node, name) if name is not None and name.startswith("torch.") else self._called(node)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self._product(node, left, right)
            case ast.Compare(
                left=left, ops=[ast.Eq() | ast.NotEq() | ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[other]
            ):
                return self._compared(node, left, other)
            case ast.Subscript(value=base, slice=ast.Slice(step=None) as part):
                return self._sliced(node, self.of(base), part)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
                return self._elementwise(node, left, right)
        return Layout(node)

    def alternatives(self, node: ast.expr) -> list[Layout]:
        """The layouts that ``node`` may have: for a name, one for each value that it may have been given, by callers, too."""
        if isinstance(node, ast.Name):
            bindings = self._semantics.bindings.reaching(node)
            given = self._handed.given(bindings[0]) if len(bindings) == 1 else []
            if given or len(bindings) > 1:
                return [*given, *map(self._binding, bindings)]
        return [self.of(node)]

    def _name(self, node: ast.Name) -> Layout:
        bindings = self._semantics.bindings.reaching(node)
        if len(bindings) == 1:
            return self._binding(bindings[0])
        return Layout(bindings or node.id)

    def _binding(self, binding: Binding) -> Layout:
        found = self._of_bindings.get(binding)
        if found is None:
            self._of_bindings[binding] = Layout(binding)
            found = self._of_bindings[binding] = self._bound(binding)
        return found

    def _bound(self, binding: Binding) -> Layout:
        """The layout of what a binding binds: that of its value, or one of its own."""
        if any(self._is_reshaped_in_place(use) for use in binding.uses):
            return Layout(binding)
        value = bound_value(binding)
        if binding.form is Form.ASSIGNMENT and value is not None:
            layout = self.of(value)
            if layout.origin is not value or layout.front:
                return layout
            own = replace(layout, origin=binding)
        elif binding.form is Form.ASSIGNMENT and (best := self._topk(binding)) is not None:
            own = best
        else:
            if (handed := self._handed.given_by_all(binding)) is not None:
                return handed
            taken = binding.form in (Form.PARAMETER, Form.LOOP)
            own = Layout(binding, contiguity=Contiguity.ASSUMED if taken else Contiguity.UNKNOWN)
        return self._with_used_axes(own, binding)

    def _topk(self, binding: Binding) -> Layout | None:
        """The layout of one of the two tensors of ``x.topk(k, 1)``, which are contiguous whatever ``x`` is (ran)."""
        match binding.value:
            case ast.Call(func=ast.Attribute(attr="topk", value=tensor), args=[*given]) if binding.path:
                is_function = self._semantics.qualified_name(binding.value.func) == "torch.topk"
                if not is_function and self._semantics.kind(tensor).type not in (Type.TENSOR, Type.UNKNOWN):
                    return None
                arguments = {word.arg: word.value for word in binding.value.keywords}
                names = ("input", "k", "dim") if is_function else ("k", "dim")
                arguments.update(zip(names, given))
                index = number(arguments["dim"]) if "dim" in arguments else -1
                layout = Layout(binding, contiguity=Contiguity.KNOWN).with_axis(index) if index is not None else None
                if layout is not None and index is not None and (axis := layout.axis(index)) is not None and "k" in arguments:
                    return layout.put(index, replace(axis, size=self.size(arguments["k"]) or axis.size))
        return None

    def _is_reshaped_in_place(self, use: ast.Name) -> bool:
        parent = self._semantics.tree.parent(use)
        return isinstance(parent, ast.Attribute) and parent.attr in _RESHAPING_IN_PLACE

    def _with_used_axes(self, layout: Layout, binding: Binding) -> Layout:
        """A layout with as many axes as the uses of the binding ask the size of."""
        ranks = {rank for use in binding.uses if (rank := self._unpacked_rank(use)) is not None}
        if len(ranks) == 1:
            return layout.of_rank(ranks.pop()) or layout
        indices = [index for use in binding.uses if (index := self._asked_index(use)) is not None]
        highest = max((index for index in indices if index >= 0), default=-1)
        return layout.with_axis(highest) or layout if highest >= 0 else layout

    def _unpacked_rank(self, use: ast.Name) -> int | None:
        """4 for the ``x`` of ``b, c, h, w = x.shape``."""
        shape = self._shape_of(use)
        match self._semantics.tree.parent(shape) if shape is not None else None:
            case ast.Assign(targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)], value=value) if value is shape:
                if not any(isinstance(target, ast.Starred) for target in targets):
                    return len(targets)
        return None

    def _shape_of(self, use: ast.Name) -> ast.expr | None:
        """``x.shape`` or ``x.size()`` for its ``x``."""
        parent = self._semantics.tree.parent(use)
        if isinstance(parent, ast.Attribute) and parent.attr == "shape":
            return parent
        if isinstance(parent, ast.Attribute) and parent.attr == "size":
            call = self._semantics.tree.parent(parent)
            if isinstance(call, ast.Call) and call.func is parent and not call.args and not call.keywords:
                return call
        return None

    def _asked_index(self, use: ast.Name) -> int | None:
        """1 for the ``x`` of ``x.size(1)`` and ``x.shape[1]``."""
        parent = self._semantics.tree.parent(use)
        if isinstance(parent, ast.Attribute):
            asked = asked_axis(self._semantics.tree.parent(parent))
            return asked[1] if asked is not None else None
        return None

    def _attribute(self, node: ast.Attribute, value: ast.expr, attribute: str) -> Layout:
        if attribute in TRANSPOSED_ATTRIBUTES:
            base = self.of(value)
            if attribute in ("T", "H"):
                reversed_ = base.permuted(range(len(base.front))[::-1]) if base.closed else base.permuted((1, 0))
                return reversed_ or Layout(node)
            return base.swapped(-2, -1) or Layout(node)
        if attribute == "data":
            return self.of(value)
        return Layout(dotted(node) or node)

    def _method(self, call: ast.Call, function: ast.Attribute) -> Layout | None:
        """The layout of a tensor's method's result; ``None`` where it is no such method."""
        if function.attr in TRANSPOSITIONS or function.attr in _RESHAPING:
            return self._rearranged(call, function.attr, self.of(function.value), call.args)
        if any(word.arg == "memory_format" for word in call.keywords):
            return Layout(call)
        if function.attr in _COMPACTING:
            return self.of(function.value).compacted()
        if function.attr == "masked_fill":  # contiguous today, as the tensor is with older versions of torch
            return replace(self.of(function.value), contiguity=Contiguity.UNKNOWN)
        if function.attr in _KEEPING_METHODS:
            base = self.of(function.value)
            operands = [self.of(argument) for argument in call.args if self._semantics.kind(argument).is_tensor]
            return base if all(operand.is_compact for operand in operands) else replace(base, contiguity=Contiguity.UNKNOWN)
        if function.attr == "repeat" and (shape := self.shape(call.args)) is not None:
            return contiguous(call, [None] * len(shape))
        if function.attr in _COMPARING_METHODS and len(call.args) == 1:
            return self._compared(call, function.value, call.args[0])
        if function.attr in _PRODUCTS and call.args:
            return self._product(call, function.value, call.args[0])
        return None

    def _function(self, call: ast.Call, name: str) -> Layout:
        """The layout of the result of one of torch's functions."""
        last = name.rpartition(".")[2]
        if not call.args or isinstance(call.args[0], ast.Starred):
            return Layout(call)
        first, rest = call.args[0], call.args[1:]
        if name.startswith("torch.nn.functional."):
            if last in _KEEPING_FUNCTIONS:
                return self.of(first)
            return self.of(first).compacted() if last in _COMPACTING else Layout(call)
        if name.count(".") > 1:
            return Layout(call)
        if last in TRANSPOSITIONS or last in _RESHAPING:
            return self._rearranged(call, last, self.of(first), rest)
        if last in _KEEPING_FUNCTIONS or (last in _LIKES and all(word.arg != "memory_format" for word in call.keywords)):
            return self.of(first)
        if last in _COMPACTING:
            return self.of(first).compacted()
        if last in _PRODUCTS and rest:
            return self._product(call, *call.args[-2:])
        if last in _FILLS and (shape := self.shape(call.args)) is not None:
            return contiguous(call, shape)
        return Layout(call)

    def _called(self, call: ast.Call) -> Layout:
        """The layout of what a module gives; of other calls' results nothing is known."""
        module = self._semantics.kind(call.func)
        if module.type is not Type.MODULE and (handed := self._handed.returned(call)) is not None:
            return handed
        if module.type is not Type.MODULE or not call.args or isinstance(call.args[0], ast.Starred):
            return Layout(call)
        last = module.name.rpartition(".")[2] if module.name.startswith("torch.nn.") else ""
        if last in _KEEPING_MODULES:
            return self.of(call.args[0])
        if last in _COMPACTING_MODULES:
            return self.of(call.args[0]).compacted()
        if last == "Linear":
            base = self.of(call.args[0])
            base = base if base.closed else base.with_axis(-1) or base
            changed = base.put(-1, Axis((call, -1), 0)) if base.front or base.back else base
            return changed.compacted()
        if last in _CONVOLUTIONS:
            batch = self.of(call.args[0]).axis(0)
            return contiguous(call, [batch.size if batch else None, *([None] * (_CONVOLUTIONS[last] - 1))])
        return Layout(call, contiguity=Contiguity.UNKNOWN if last in _TRANSPOSING_MODULES else Contiguity.ASSUMED)

    def _product(self, node: ast.expr, left: ast.expr, right: ast.expr) -> Layout:
        """The layout of a matrix product, which is contiguous."""
        one, other = self.of(left), self.of(right)
        if one.rank is None or one.rank != other.rank or one.rank < 2:
            return Layout(node, contiguity=Contiguity.KNOWN)
        return contiguous(node, [axis.size for axis in (*one.front[:-1], other.front[-1])])

    def _elementwise(self, node: ast.expr, left: ast.expr, right: ast.expr) -> Layout:
        """The layout of a sum or product of a tensor and a number; of two tensors, it depends on how they lie."""
        for operand, other in ((left, right), (right, left)):
            if self._semantics.kind(other).type is Type.NUMBER:
                return self.of(operand)
        return in_step(node, self.of(left), self.of(right)) or Layout(node)

    def _compared(self, node: ast.expr, left: ast.expr, right: ast.expr) -> Layout:
        """The layout of a comparison: that of its first operand, where that is transposed, and the second one is not."""
        base, other = self.of(left), self.of(right)
        return base if other.is_compact and not base.is_compact else Layout(node)

    def _sliced(self, node: ast.expr, base: Layout, part: ast.Slice) -> Layout:
        """The layout of ``x[:k]``: the same axes, of which the first is shorter; nothing is known of other parts."""
        layout = base.with_axis(0)
        first = layout.axis(0) if layout is not None else None
        if layout is None or first is None:
            return Layout(node)
        low, high = (number(bound) if bound is not None else None for bound in (part.lower, part.upper))
        is_one = high is not None and high - (low or 0) == 1 and (part.lower is None or low is not None)
        return layout.put(0, replace(first, size=1 if is_one else (node, 0)))

    def _rearranged(self, call: ast.Call, method: str, base: Layout, arguments: list[ast.expr]) -> Layout:
        """The layout after one of the methods that change the order or the number of axes."""
        if method in ("view", "reshape"):
            shape = self.shape(arguments)
            if shape is None or not base.is_compact:
                return Layout(call, tuple(Axis(size, 0) for size in shape or ()), closed=shape is not None)
            return replace(contiguous(call, shape), contiguity=base.contiguity)
        indices = [number(argument) for argument in unpacked(arguments)]
        if any(index is None for index in indices) or call.keywords:
            return Layout(call)
        if method == "flatten":
            return self._flattened(call, base, *indices)
        return transposed(method, base, [index for index in indices if index is not None]) or Layout(call)

    def view(self, call: ast.Call, layout: Layout) -> tuple[Layout, list[Size] | None]:
        """The shape that ``x.view(…)`` asks for where ``x`` has ``layout``, which is given back with the axes that it names."""
        assert isinstance(call.func, ast.Attribute)
        shape = self.shape(call.args)
        for index, part in enumerate(unpacked(call.args) if shape is not None else ()):
            asked = asked_axis(part)
            if asked is not None and shape is not None and ast.dump(asked[0]) == ast.dump(call.func.value):
                axis = layout.axis(asked[1])
                if asked[1] < 0 or not layout.back:  # else it may be one of those counted from the back
                    layout = layout.with_axis(asked[1]) or layout
                shape[index] = axis.size if axis is not None else None
        for size in shape or ():
            match size:
                case (origin, int(index)) if origin == layout.origin and index >= 0 and not layout.back:
                    layout = layout.with_axis(index) or layout
        return layout, shape

    @staticmethod
    def _flattened(call: ast.Call, base: Layout, first: int | None = 0, last: int | None = -1) -> Layout:
        """The layout after ``flatten(first)``: the axes from there on have become one."""
        if first is None or first < 0 or last != -1 or not base.is_compact:
            return Layout(call)
        sizes: list[Size] = [axis.size if (axis := base.axis(index)) is not None else None for index in range(first)]
        return replace(contiguous(call, [*sizes, None]), contiguity=base.contiguity)

    # --- sizes -------------------------------------------------------------------------------------------------------

    def shape(self, arguments: list[ast.expr]) -> list[Size] | None:
        """The sizes that ``view(*arguments)`` names, with `None` for unknown ones; ``None`` if it is unknown how many."""
        parts = unpacked(arguments)
        if not parts or any(isinstance(part, ast.Starred) for part in parts):
            return None
        if len(arguments) == 1 and len(parts) == 1 and not self._is_one_size(parts[0]):
            return None
        return [self.size(part) for part in parts]

    def _is_one_size(self, node: ast.expr) -> bool:
        """Whether the only argument of a view is a size, and not a whole shape or a dtype."""
        match node:
            case ast.BinOp(left=left, op=ast.Mult() | ast.FloorDiv(), right=right):
                return not any(isinstance(part, (ast.Tuple, ast.List)) for part in (left, right))
        return number(node) is not None or asked_axis(node) is not None

    def size(self, node: ast.expr) -> Size:
        """The number or symbol that an expression for a size stands for."""
        if (known := number(node)) is not None:
            return known if known >= 0 else None
        if (asked := asked_axis(node)) is not None:
            axis = self.of(asked[0]).axis(asked[1])
            return axis.size if axis is not None else None
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return self._bound_size(bindings[0]) if len(bindings) == 1 else None
            case ast.Subscript(value=ast.Name() as shape, slice=index):
                bindings = self._semantics.bindings.reaching(shape)
                owner = shape_owner(bindings[0].value) if len(bindings) == 1 and not bindings[0].path else None
                place = number(index)
                axis = self.of(owner).axis(place) if owner is not None and place is not None else None
                return axis.size if axis is not None else None
            case ast.Attribute():
                return ("named", name) if (name := dotted(node)) is not None else None
            case ast.BinOp(left=left, op=op, right=right):
                one, other = self.size(left), self.size(right)
                return None if one is None or other is None else (type(op).__name__, one, other)
        return None

    def _bound_size(self, binding: Binding) -> Size:
        """The size that a name stands for."""
        value = bound_value(binding)
        if binding.form is not Form.ASSIGNMENT or self._depth >= _DEPTH:
            return (binding,)
        self._depth += 1
        try:
            if value is not None:
                found = self.size(value)
                return found if found is not None else (binding,)
            if (tensor := shape_owner(binding.value)) is not None and len(binding.path) == 1 and binding.path[0] is not None:
                axis = self.of(tensor).axis(binding.path[0]) if not self._is_behind_star(binding) else None
                return axis.size if axis is not None else (binding,)
        finally:
            self._depth -= 1
        return (binding,)

    def _is_behind_star(self, binding: Binding) -> bool:
        """Whether the target is one of several of which another takes any number of values."""
        target = self._semantics.tree.parent(binding.node)
        return isinstance(target, (ast.Tuple, ast.List)) and any(isinstance(part, ast.Starred) for part in target.elts)
