"""Reshapes that ask for a tensor's own axes in another order, and deal its elements out anew instead of swapping them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.shapes.layout import Layout, Size
from torchlint.semantics.shapes.layouts import Layouts
from torchlint.semantics.shapes.sizes import unpacked
from torchlint.semantics.shapes.states import RecurrentStates

_RESHAPING = ("view", "reshape")
_BACK = frozenset({"view", "reshape", "view_as", "reshape_as"})


@dataclass(frozen=True, slots=True)
class Shuffle:
    """A reshape that has two ``axes`` of the tensor, the first two such, in the other order.

    ``order`` is the permutation that gives the axes the order of the new shape: empty where it swaps the first two of an
    unknown number of axes, ``None`` where there is no telling. If it does not ``suffice``, the new shape merges axes, too.
    """

    axes: tuple[int, int]
    order: tuple[int, ...] | None
    suffices: bool


class Shuffles:
    """Finds the reshapes of a file that shuffle a tensor, and seem to be meant to swap its axes."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._layouts = semantics.of(Layouts)
        self._states = semantics.of(RecurrentStates)

    @cached_property
    def found(self) -> dict[ast.Call, Shuffle]:
        """The calls of ``view`` and ``reshape`` that shuffle."""
        calls = [call for name in _RESHAPING for call in self._semantics.facts.calls.get(name, ())]
        shuffles = ((call, self._shuffle(call, call.func)) for call in calls if isinstance(call.func, ast.Attribute))
        return {call: shuffle for call, shuffle in shuffles if shuffle is not None}

    def _shuffle(self, call: ast.Call, function: ast.Attribute) -> Shuffle | None:
        sizes = unpacked(call.args)
        if call.keywords or len(sizes) < 2 or any(isinstance(size, (ast.Starred, ast.Slice)) for size in sizes):
            return None
        if self._states.is_dealt_out(function.value, sizes):
            return Shuffle((0, 1), (), suffices=False)
        layout, shape = self._layouts.view(call, self._layouts.of(function.value))
        if shape is None or (axes := _swapped_axes(layout, shape)) is None:
            return None
        if (
            not self._is_tensor(function)
            or self._is_reinterpreted(call, layout, axes)
            or self._restores(function.value, shape, sizes)
        ):
            return None
        order = _order(layout, shape)
        return Shuffle(axes, order, suffices=order is not None and len(order) == len(shape))

    def _is_tensor(self, function: ast.Attribute) -> bool:
        """Whether the value is a tensor; arrays have a ``reshape``, too, but no ``view`` that takes sizes."""
        kind = self._semantics.kind(function.value)
        return kind.is_tensor or (not kind.known and function.attr == "view")

    # --- what is meant as it is --------------------------------------------------------------------------------------

    def _is_reinterpreted(self, call: ast.Call, layout: Layout, swapped: tuple[int, int]) -> bool:
        """Whether the result is cut, or given the old order of axes back."""
        parent = self._semantics.tree.parent(call)
        uses: list[ast.expr] = [call]
        if isinstance(parent, ast.Assign) and parent.value is call:
            bindings = [self._semantics.bindings.of(target) for target in parent.targets]
            uses += [use for binding in bindings if binding is not None for use in binding.uses]
        return any(self._is_cut(use) or self._is_undone(use, layout, swapped) for use in uses)

    def _is_cut(self, use: ast.expr) -> bool:
        """``use[1:]``"""
        parent = self._semantics.tree.parent(use)
        if not isinstance(parent, ast.Subscript) or parent.value is not use:
            return False
        indices = parent.slice.elts if isinstance(parent.slice, ast.Tuple) else [parent.slice]
        return any(isinstance(index, ast.Slice) and (index.lower or index.upper) for index in indices)

    def _is_undone(self, use: ast.expr, layout: Layout, swapped: tuple[int, int]) -> bool:
        """``use.view(…)`` with the two axes in the old order, or in no order that is known."""
        function = self._semantics.tree.parent(use)
        if not isinstance(function, ast.Attribute) or function.attr not in _BACK:
            return False
        call = self._semantics.tree.parent(function)
        if not isinstance(call, ast.Call) or call.func is not function:
            return False
        shape = self._layouts.shape(call.args) or []
        wanted = [axis.size for index in swapped if (axis := layout.axis(index)) is not None]
        return [size for size in shape if size in wanted] in (wanted, [])

    def _restores(self, tensor: ast.expr, shape: list[Size], sizes: list[ast.expr]) -> bool:
        """Whether the tensor was dealt out anew before, and the new shape has the axes as they were then.

        So it is where a layer was given it like that: `x = norm(x.view(-1, x.size(2), x.size(1)))`, and the same once more.
        """
        if isinstance(tensor, ast.Name) and len(bindings := self._semantics.bindings.reaching(tensor)) == 1:
            tensor = bindings[0].value if bindings[0].value is not None and not bindings[0].path else tensor
        match tensor:
            case ast.Call(func=ast.Attribute(value=before, attr=method)) if method in _RESHAPING:
                layout, earlier = self._layouts.view(tensor, self._layouts.of(before))
                return (
                    earlier is not None and _swapped_axes(layout, earlier) is not None and _swapped_axes(layout, shape) is None
                )
            case ast.Call(args=[ast.Call(func=ast.Attribute(attr=method), args=arguments)]) if method in _RESHAPING:
                return [ast.dump(size) for size in unpacked(arguments)] == [ast.dump(size) for size in sizes]
        return False


def _places(layout: Layout, shape: list[Size]) -> list[tuple[int, ...] | None]:
    """For each size of the new shape the axes of the tensor that it is made of: the one that has it, or those of a product."""
    return [_factors(size, layout) if shape.count(size) == 1 else None for size in shape]


def _factors(size: Size, layout: Layout) -> tuple[int, ...] | None:
    """The axis of a size that exactly one has; the axes, in their order, whose sizes a product is made of."""
    sizes = [axis.size for axis in layout.front]
    match size:
        case tuple() if sizes.count(size) == 1:
            return (sizes.index(size),)
        case ("Mult", tuple() as one, tuple() as other):
            some, more = _factors(one, layout), _factors(other, layout)
            return tuple(sorted({*some, *more})) if some and more else None
    return None


def _swapped_axes(layout: Layout, shape: list[Size]) -> tuple[int, int] | None:
    """The first two axes of the tensor, smaller index first, that the new shape has in the other order."""
    axes = [axis for place in _places(layout, shape) for axis in place or ()]
    for index, axis in enumerate(axes):
        earlier = [other for other in axes[:index] if other > axis]
        if earlier:
            return axis, earlier[0]
    return None


def _order(layout: Layout, shape: list[Size]) -> tuple[int, ...] | None:
    """The permutation that gives the axes the order of the new shape; see `Shuffle`."""
    places = _places(layout, shape)
    known = [index for place in places if place is not None for index in place]
    if not layout.closed:
        if None not in places and sorted(known) == list(range(len(known))):
            return tuple(known)
        return () if places == [(1,), (0,), None] and shape[2] is None else None
    rest = tuple(index for index in range(len(layout.front)) if index not in known)
    order: list[int] = []
    for place, size in zip(places, shape):
        if place is None and size is not None:
            return None
        order += rest if place is None else place
    return tuple(order) if sorted(order) == list(range(len(layout.front))) else None
