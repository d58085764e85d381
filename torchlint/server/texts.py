"""A text as the protocol sees it: lines and columns in the units that client and server have agreed on, and edits of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import StrEnum
from functools import cached_property

from torchlint.diagnostic import Location

_NEWLINE = re.compile(r"\r\n|\r|\n")


class Units(StrEnum):
    """What columns count."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    CHARACTERS = "utf-32"


def width(text: str, units: Units) -> int:
    """How many units a text takes."""
    if units is Units.CHARACTERS or text.isascii():
        return len(text)
    if units is Units.UTF_8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class Text:
    """A text that never changes; ``line`` and ``column`` count from 0, the column in units, offsets in characters."""

    def __init__(self, text: str, units: Units) -> None:
        self.text = text
        self.units = units

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their newlines."""
        starts = self._starts
        return [self.text[start:end] for start, end in zip(starts, [*starts[1:], len(self.text)], strict=True)]

    def offset(self, line: int, column: int) -> int:
        """The offset of a place; of one behind the end of a line or of the text, that end."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        content = self.lines[line].rstrip("\r\n")
        if self.units is Units.CHARACTERS or content.isascii():
            return start + min(column, len(content))
        passed = 0
        for index, character in enumerate(content):
            if passed >= column:
                return start + index
            passed += width(character, self.units)
        return start + len(content)

    def place(self, location: Location) -> tuple[int, int]:
        """The line and column of a place as diagnostics give it."""
        if location.row > len(self._starts):
            return len(self._starts) - 1, width(self.lines[-1], self.units)
        return location.row - 1, width(self.lines[location.row - 1][: location.column - 1], self.units)

    def location(self, line: int, column: int) -> Location:
        """A place as diagnostics give it."""
        offset = self.offset(line, column)
        row = bisect_right(self._starts, offset)
        return Location(row, offset - self._starts[row - 1] + 1)

    def edited(self, start: tuple[int, int], end: tuple[int, int], new: str) -> Text:
        """The text with what stands between two places replaced."""
        first, last = sorted((self.offset(*start), self.offset(*end)))
        return Text(self.text[:first] + new + self.text[last:], self.units)
