"""The axes of a tensor: how large each is, as far as that can be named, and in which order they lie in memory.

A `Layout` describes a tensor by its axes. Each has a size, which is a number or a symbol that stands for the same number
wherever it turns up (axis 1 of what the name `x` is bound to), and a place in the order of memory. A transposition changes
the order of the axes and leaves the memory alone; that is why a later `view` may not be able to merge them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

Size: TypeAlias = int | tuple[Hashable, ...] | None
"""A number, a symbol, or unknown."""

_INSERTED = -1
"""The place in memory of an axis of size 1, which lies nowhere."""
_FROM_BACK = 1_000_000

SWAPS = frozenset({"transpose", "swapaxes", "swapdims"})
MOVES = frozenset({"movedim", "moveaxis"})
TRANSPOSITIONS = SWAPS | MOVES | {"permute", "t", "adjoint"}
TRANSPOSED_ATTRIBUTES = frozenset({"T", "mT", "H", "mH"})


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
        return layout.put(one, second).put(other, first)

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

    def put(self, index: int, axis: Axis) -> Layout:
        """The layout with another axis at an index that it knows."""
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


def contiguous(origin: Hashable, shape: Iterable[Size]) -> Layout:
    """A contiguous layout of the given sizes; those that are unknown get symbols of their own."""
    axes = tuple(Axis(size if size is not None else (origin, index), index) for index, size in enumerate(shape))
    return Layout(origin, axes, closed=True, contiguity=Contiguity.KNOWN)


def transposed(method: str, base: Layout, indices: list[int]) -> Layout | None:
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
