"""Two versions of a text: which findings of the old one hold in the new one, and which edits lead there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from torchlint.diagnostic import Diagnostic, Edit, Location

_MANY = 2000
"""Lines, between the first and the last that changed, from which on no equal ones are looked for among them."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def kept(found: Iterable[Diagnostic], before: str, after: str) -> list[Diagnostic]:
    """The findings on lines that stand in both texts, moved to where these are, and without fixes."""
    moved: dict[int, int] = {}
    for start, new_start, count in _equal(_LINE.findall(before), _LINE.findall(after)):
        moved.update((start + index + 1, new_start + index + 1) for index in range(count))
    held: list[Diagnostic] = []
    for each in found:
        last = each.end_location.row - (each.end_location.column == 1 and each.end_location.row > each.location.row)
        rows = [moved.get(row) for row in range(each.location.row, last + 1)]
        first = rows[0]
        if first is None or rows != list(range(first, first + len(rows))):
            continue
        by = first - each.location.row
        held.append(replace(each, location=_down(each.location, by), end_location=_down(each.end_location, by), fix=None))
    return held


def _down(location: Location, rows: int) -> Location:
    return Location(location.row + rows, location.column)


def edits(before: str, after: str, cell: int | None = None) -> list[Edit]:
    """Edits of whole lines that make the one text of the other, in the order of the text."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    found: list[Edit] = []
    start = new_start = 0
    for equal, new_equal, count in sorted(_equal(old, new)):
        if equal > start or new_equal > new_start:
            found.append(Edit(_start(old, start), _start(old, equal), "".join(new[new_start:new_equal]), cell))
        start, new_start = equal + count, new_equal + count
    return found


def _start(lines: Sequence[str], index: int) -> Location:
    """Where a line starts; of the one behind the last, where the text ends."""
    if index < len(lines) or not lines or lines[-1].endswith(("\n", "\r")):
        return Location(index + 1, 1)
    return Location(index, len(lines[-1]) + 1)


def _equal(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Runs of equal lines: where they start in both, and how many they are; one of none at the end of both."""
    shorter = min(len(before), len(after))
    head = next((index for index in range(shorter) if before[index] != after[index]), shorter)
    rest = shorter - head
    tail = next((index for index in range(rest) if before[-1 - index] != after[-1 - index]), rest)
    yield 0, 0, head
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if old and new and len(old) + len(new) <= _MANY:
        for start, new_start, count in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            yield head + start, head + new_start, count
    yield len(before) - tail, len(after) - tail, tail
