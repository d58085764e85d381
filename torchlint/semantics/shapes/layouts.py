"""The axes of tensors: how large each is, as far as that can be named, and in which order they lie in memory.

A `Layout` describes a tensor by its axes. Each has a size, which is a number or a symbol that stands for the same number
wherever it turns up (axis 1 of what the name `x` is bound to), and a place in the order of memory. A transposition changes
the order of the axes and leaves the memory alone; that is why a later `view` may not be able to merge them.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.kinds.kind import Type

if TYPE_CHECKING:
    from torchlint.semantics import Semantics

Size: TypeAlias = int | tuple[Hashable, ...] | None
"""A number, a symbol, or unknown."""

_DEPTH = 40
"""Nothing is known of what is more steps than this away from anything simple."""
_INSERTED = -1
"""The place in memory of an axis of size 1, which lies nowhere."""
_FROM_BACK = 1_000_000

SWAPS = frozenset({"transpose", "swapaxes", "swapdims"})
MOVES = frozenset({"movedim", "moveaxis"})
TRANSPOSITIONS = SWAPS | MOVES | {"permute", "t", "adjoint"}
TRANSPOSED_ATTRIBUTES = frozenset({"T", "mT", "H", "mH"})

_KEEPING_METHODS = frozenset(
    {
        *("abs", "add", "bfloat16", "bool", "clamp", "clone", "cpu", "cuda", "detach", "div", "double", "exp", "float", "half"),
        *("int", "log", "long", "mul", "neg", "pow", "relu", "relu_", "requires_grad_", "sigmoid", "sqrt", "square", "sub"),
        *("tanh", "to", "type", "add_", "mul_", "sub_", "div_", "clamp_", "type_as"),
    }
)
"""Elementwise methods: the result lies in memory as the tensor does (ran), or broadcast with the argument."""
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


class Contiguity(Enum):
    """What is known of where a layout's axes lie in memory."""

    KNOWN = "known"
    ASSUMED = "assumed: the tensor is taken to be contiguous where it comes from"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a tensor; ``place`` says where in memory's order it comes: neighbours there have neighbouring numbers."""

    size: Size
    place: int

    @property
    def is_unit(self) -> bool:
        """Whether the axis has size 1, so that it does not matter where it lies."""
        return self.size == 1


@dataclass(frozen=True, slots=True)
class Layout:
    """A tensor's axes: all of them in ``front`` where it is ``closed``; else an unknown number between ``front`` and ``back``.

    ``first`` and ``last`` are the places in memory of the first and the last of the axes in between, as far as there are any.
    """

    origin: Hashable
    front: tuple[Axis, ...] = ()
    back: tuple[Axis, ...] = ()
    closed: bool = False
    contiguity: Contiguity = Contiguity.UNKNOWN
    first: int = 0
    last: int = _FROM_BACK

    @property
    def rank(self) -> int | None:
        """How many axes there are."""
        return len(self.front) if self.closed else None

    def axis(self, index: int) -> Axis | None:
        """The axis with an index that may count from the end; ``None`` where there is none."""
        extended = self.with_axis(index)
        if extended is None:
            return None
        if index >= 0 or extended.closed:
            return extended.front[index]
        return extended.back[index]

    def with_axis(self, index: int) -> Layout | None:
        """The same layout, with the axis at ``index`` among the known ones."""
        if self.closed:
            return self if -len(self.front) <= index < len(self.front) else None
        layout = self
        while index >= len(layout.front):
            axis = Axis((layout.origin, layout.first), layout.first)
            layout = replace(layout, front=(*layout.front, axis), first=layout.first + 1)
        while index < 0 and -index > len(layout.back):
            axis = Axis((layout.origin, layout.last - _FROM_BACK - 1), layout.last)
            layout = replace(layout, back=(axis, *layout.back), last=layout.last - 1)
        return layout

    def swapped(self, one: int, other: int) -> Layout | None:
        """The layout with two axes swapped; ``None`` where they may be the same one, counted from either end."""
        if not self.closed and not self._are_distinct(one, other):
            return None
        start = self._without_back() if min(one, other) >= 0 else self._up_to(max(one, other) + 1, -min(one, other))
        layout = start.with_axis(one)
        layout = layout.with_axis(other) if layout is not None else None
        if layout is None:
            return None
        first, second = layout.axis(one), layout.axis(other)
        assert first is not None and second is not None
        return layout._put(one, second)._put(other, first)

    def _up_to(self, wanted: int, from_back: int) -> Layout:
        """The layout with only as many axes counted from the front as surely are none of the last ``from_back``."""
        kept = max(wanted, len(self.front) - from_back)
        if self.closed or from_back <= 0 or kept >= len(self.front):
            return self
        return replace(self, front=self.front[:kept], first=kept)

    def _without_back(self) -> Layout:
        """The layout with only the axes counted from the front: those from the back, in order, may be the same ones."""
        return self if self.closed or not self.back else replace(self, back=(), last=_FROM_BACK, origin=(self.origin, "front"))

    def _are_distinct(self, one: int, other: int) -> bool:
        """Whether no axis is met from the front and from the back, if nobody swaps an axis with itself."""
        back_in_order = [axis.place for axis in self.back] == list(range(self.last + 1, _FROM_BACK + 1))
        if min(one, other) >= 0:
            return back_in_order
        front_in_order = [axis.place for axis in self.front] == list(range(len(self.front)))
        if max(one, other) < 0:
            return front_in_order
        return front_in_order and back_in_order and min(one, other) == -1 and max(one, other) <= 1

    def _put(self, index: int, axis: Axis) -> Layout:
        if index >= 0 or self.closed:
            front = list(self.front)
            front[index] = axis
            return replace(self, front=tuple(front))
        back = list(self.back)
        back[index] = axis
        return replace(self, back=tuple(back))

    def permuted(self, order: Sequence[int]) -> Layout | None:
        """The layout of ``permute(*order)``."""
        if sorted(index % len(order) for index in order) != list(range(len(order))):
            return None
        layout = self.of_rank(len(order))
        if layout is None:
            return None
        return replace(layout, front=tuple(layout.front[index] for index in order))

    def of_rank(self, rank: int) -> Layout | None:
        """The layout, known to have so many axes."""
        if self.closed:
            return self if rank == len(self.front) else None
        if self.back and len(self.front) + len(self.back) > rank:
            return None
        layout = self.with_axis(rank - len(self.back) - 1) if rank > len(self.back) else self
        if layout is None or len(layout.front) + len(layout.back) != rank:
            return None
        shift = layout.last + 1 - layout.first
        axes = (*layout.front, *layout.back)
        front = tuple(replace(axis, place=axis.place - shift) if axis.place > layout.last else axis for axis in axes)
        return replace(layout, front=front, back=(), closed=True)

    def compacted(self) -> Layout:
        """The layout of a contiguous tensor with the same axes."""
        first = len(self.front)
        front = tuple(replace(axis, place=place) for place, axis in enumerate(self.front))
        last = _FROM_BACK - len(self.back)
        back = tuple(replace(axis, place=last + 1 + index) for index, axis in enumerate(self.back))
        return replace(self, front=front, back=back, first=first, last=last, contiguity=Contiguity.KNOWN)

    @property
    def is_compact(self) -> bool:
        """Whether the axes lie in memory in the order in which they stand."""
        places = [axis.place for axis in (*self.front, *self.back) if not axis.is_unit]
        return places == sorted(places)


def _pieces(places: Sequence[int]) -> int:
    """Of how many pieces of memory's order the axes with these places are made up; only within one can a view merge them."""
    return sum(index == 0 or place != places[index - 1] + 1 for index, place in enumerate(places))


def view_must_copy(layout: Layout, shape: Sequence[Size]) -> bool:
    """Whether a tensor of this layout can have no view of the given shape, unless some of its axes happen to be of size 1.

    Axes that stand at either end of both shapes are left aside; the others have to be made of more pieces of memory than there
    are axes for them in the new shape. Those that may lie between ``front`` and ``back`` are taken to be missing.
    """
    wanted = [size for size in shape if size != 1]
    axes = [axis for axis in (*layout.front, *layout.back) if not axis.is_unit]
    order = {place: rank for rank, place in enumerate(sorted(axis.place for axis in axes))}
    from_front = len([axis for axis in layout.front if not axis.is_unit])
    from_back = len(axes) if layout.closed else len(axes) - from_front
    while wanted and from_front and axes and wanted[0] is not None and wanted[0] == axes[0].size:
        del wanted[0], axes[0]
        from_front, from_back = from_front - 1, min(from_back, len(axes))
    while wanted and from_back and axes and wanted[-1] is not None and wanted[-1] == axes[-1].size:
        del wanted[-1], axes[-1]
        from_back -= 1
    return len(wanted) < _pieces([order[axis.place] for axis in axes])


class Layouts:
    """Works out the layouts of one file's tensors, and the sizes that its expressions name."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._layouts: dict[ast.AST, Layout] = {}
        self._of_bindings: dict[Binding, Layout] = {}
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
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
                return self._elementwise(node, left, right)
        return Layout(node)

    def alternatives(self, node: ast.expr) -> list[Layout]:
        """The layouts that ``node`` may have: for a name, one for each value that it may have been given."""
        if isinstance(node, ast.Name) and len(bindings := self._semantics.bindings.reaching(node)) > 1:
            return [self._binding(binding) for binding in bindings]
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
        else:
            taken = binding.form in (Form.PARAMETER, Form.LOOP)
            own = Layout(binding, contiguity=Contiguity.ASSUMED if taken else Contiguity.UNKNOWN)
        return self._with_used_axes(own, binding)

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
        if last in _KEEPING_FUNCTIONS:
            return self.of(first)
        if last in _COMPACTING:
            return self.of(first).compacted()
        if last in _PRODUCTS and rest:
            return self._product(call, *call.args[-2:])
        if last in _FILLS and (shape := self.shape(call.args)) is not None:
            return _contiguous(call, shape)
        return Layout(call)

    def _called(self, call: ast.Call) -> Layout:
        """The layout of what a module gives; of other calls' results nothing is known."""
        module = self._semantics.kind(call.func)
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
            changed = base._put(-1, Axis((call, -1), 0)) if base.front or base.back else base
            return changed.compacted()
        if last in _CONVOLUTIONS:
            batch = self.of(call.args[0]).axis(0)
            return _contiguous(call, [batch.size if batch else None, *([None] * (_CONVOLUTIONS[last] - 1))])
        return Layout(call, contiguity=Contiguity.UNKNOWN if last in _TRANSPOSING_MODULES else Contiguity.ASSUMED)

    def _product(self, node: ast.expr, left: ast.expr, right: ast.expr) -> Layout:
        """The layout of a matrix product, which is contiguous."""
        one, other = self.of(left), self.of(right)
        if one.rank is None or one.rank != other.rank or one.rank < 2:
            return Layout(node, contiguity=Contiguity.KNOWN)
        return _contiguous(node, [axis.size for axis in (*one.front[:-1], other.front[-1])])

    def _elementwise(self, node: ast.expr, left: ast.expr, right: ast.expr) -> Layout:
        """The layout of a sum or product of a tensor and a number; of two tensors, it depends on how they are broadcast."""
        for operand, other in ((left, right), (right, left)):
            if self._semantics.kind(other).type is Type.NUMBER:
                return self.of(operand)
        return Layout(node)

    def _rearranged(self, call: ast.Call, method: str, base: Layout, arguments: list[ast.expr]) -> Layout:
        """The layout after one of the methods that change the order or the number of axes."""
        if method in ("view", "reshape"):
            shape = self.shape(arguments)
            if shape is None or not base.is_compact:
                return Layout(call, tuple(Axis(size, 0) for size in shape or ()), closed=shape is not None)
            return replace(_contiguous(call, shape), contiguity=base.contiguity)
        indices = [number(argument) for argument in unpacked(arguments)]
        if any(index is None for index in indices) or call.keywords:
            return Layout(call)
        if method == "flatten":
            return self._flattened(call, base, *indices)
        return _transposed(method, base, [index for index in indices if index is not None]) or Layout(call)

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
        return replace(_contiguous(call, [*sizes, None]), contiguity=base.contiguity)

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
                owner = _shape_owner(bindings[0].value) if len(bindings) == 1 and not bindings[0].path else None
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
            if (tensor := _shape_owner(binding.value)) is not None and len(binding.path) == 1 and binding.path[0] is not None:
                axis = self.of(tensor).axis(binding.path[0]) if not self._is_behind_star(binding) else None
                return axis.size if axis is not None else (binding,)
        finally:
            self._depth -= 1
        return (binding,)

    def _is_behind_star(self, binding: Binding) -> bool:
        """Whether the target is one of several of which another takes any number of values."""
        target = self._semantics.tree.parent(binding.node)
        return isinstance(target, (ast.Tuple, ast.List)) and any(isinstance(part, ast.Starred) for part in target.elts)


def _contiguous(origin: Hashable, shape: Iterable[Size]) -> Layout:
    """A contiguous layout of the given sizes; those that are unknown get symbols of their own."""
    axes = tuple(Axis(size if size is not None else (origin, index), index) for index, size in enumerate(shape))
    return Layout(origin, axes, closed=True, contiguity=Contiguity.KNOWN)


def _transposed(method: str, base: Layout, indices: list[int]) -> Layout | None:
    """The layout after a transposition with these indices, or after ``unsqueeze``."""
    match method, indices:
        case (("t" | "adjoint"), []):
            return base.permuted((1, 0)) if method == "t" else base.swapped(-2, -1)
        case _, [one, other] if method in SWAPS:
            return base.swapped(one, other)
        case "permute", [_, *_]:
            return base.permuted(indices)
        case _, [one, other] if method in MOVES and base.rank is not None:
            order = list(range(base.rank))
            if -base.rank <= one < base.rank and -base.rank <= other < base.rank:
                moved = order.pop(one)
                order.insert(other % base.rank, moved)
                return base.permuted(order)
        case "unsqueeze", [index]:
            if base.closed and -len(base.front) - 1 <= index <= len(base.front):
                place = index % (len(base.front) + 1)
                unit = Axis(1, _INSERTED)
                return replace(base, front=(*base.front[:place], unit, *base.front[place:]))
    return None


def bound_value(binding: Binding) -> ast.expr | None:
    """The expression that a binding's name is given: the value, or the part of it that stands in the target's place."""
    value = binding.value
    for step in binding.path:
        if not isinstance(value, (ast.Tuple, ast.List)) or step is None or step >= len(value.elts):
            return None
        if any(isinstance(part, ast.Starred) for part in value.elts):
            return None
        value = value.elts[step]
    return value


def unpacked(arguments: list[ast.expr]) -> list[ast.expr]:
    """The arguments, also where they are given as one tuple or list."""
    if len(arguments) == 1 and isinstance(arguments[0], (ast.Tuple, ast.List)):
        return arguments[0].elts
    return arguments


def number(node: ast.AST | None) -> int | None:
    """The integer that is written out."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def asked_axis(node: ast.AST | None) -> tuple[ast.expr, int] | None:
    """The tensor and the index in ``x.size(1)``, ``x.shape[1]``, ``x.size()[1]``, ``len(x)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[index], keywords=[]):
            place = number(index)
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[], keywords=[ast.keyword(arg="dim", value=index)]):
            place = number(index)
        case ast.Subscript(value=shape, slice=index) if (owner := _shape_owner(shape)) is not None:
            tensor, place = owner, number(index)
        case ast.Call(func=ast.Name(id="len"), args=[tensor], keywords=[]):
            place = 0
        case _:
            return None
    return (tensor, place) if place is not None else None


def _shape_owner(node: ast.expr | None) -> ast.expr | None:
    """The tensor whose whole shape an expression is, or the start of it: ``x.shape``, ``x.size()``, ``x.shape[:2]``."""
    match node:
        case ast.Attribute(value=tensor, attr="shape"):
            return tensor
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[], keywords=[]):
            return tensor
        case ast.Subscript(value=shape, slice=ast.Slice(lower=None, step=None)):
            return _shape_owner(shape)
    return None
