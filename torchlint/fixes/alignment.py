"""The further lines of an expression that comes to stand elsewhere on its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

TextEdit: TypeAlias = tuple[int, int, str]
Span: TypeAlias = tuple[int, int]

_NEWLINE = re.compile(r"\r\n|\r|\n")


def moved_along(span: Span, column: int, start: int, strings: Iterable[Span], text: str) -> list[TextEdit]:
    """The edits that move the further lines of what stands at ``span`` along with its first one, which comes to ``column``.

    Lines that are aligned with something in the first one move as far as it moves. Lines that hang from a bracket at its end
    move only where the first line itself was one below ``start``, where it comes to stand. Those that start in one of the
    ``strings`` stay.
    """
    before = span[0] - _line_start(span[0], text)
    if _line(span[0], text).rstrip().endswith(("(", "[", "{")):
        before, column = (len(_indentation(_line(place, text))) for place in (span[0], start))
    places = [match.end() for match in _NEWLINE.finditer(text, *span)]
    inside = [string for string in strings if span[0] <= string[0] and string[1] <= span[1]]
    places = [place for place in places if _line(place, text).strip() and not any(s < place < e for s, e in inside)]
    indentations = [_indentation(_line(place, text)) for place in places]
    if any(len(indentation) < before or len(set(indentation[:before])) > 1 for indentation in indentations):
        return []
    if before > column:
        return [(place, place + before - column, "") for place in places]
    return [(place, place, " " * (column - before)) for place in places if column > before]


def column_behind(start: int, code: str, text: str) -> int:
    """The column behind ``code`` where that comes to stand at ``start``."""
    last = [*_NEWLINE.finditer(code)][-1:]
    return len(code) - last[0].end() if last else start - _line_start(start, text) + len(code)


def _line_start(place: int, text: str) -> int:
    return max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1


def _line(place: int, text: str) -> str:
    end = _NEWLINE.search(text, place)
    return text[_line_start(place, text) : end.start() if end else len(text)]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


# --- what edits in front of it push aside --------------------------------------------------------------------------------

_PARTS = re.compile(r"""(?P<long>\"\"\"|''')|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#.*|(?P<open>[(\[{])|(?P<close>[)\]}])""")
_FAR = 200
"""How many lines a bracket may take for what is in it to be kept aligned."""
_LONG = 1000
"""How many columns a line may have for what is below it to be kept aligned: each of its fixes looks at all of it."""


class Aligned:
    """Keeps lines aligned with what stands behind a bracket above them, where edits move that."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def shifts(self, row: int, changes: Sequence[tuple[int, int, str]]) -> dict[int, int]:
        """How far the lines below the one at index ``row`` move, by their indices.

        ``changes`` are those of that line, in columns. Only where each line that is in a bracket of it is at least as far in.
        """
        old, new, end = self._lines[row], "", 0
        if len(old) > _LONG:
            return {}
        for start, stop, code in sorted(changes):
            new += old[end:start] + code
            end = stop
        new += old[end:]
        before, after = _opened(old), _opened(new)
        if before is None or after is None:
            return {}
        found: dict[int, int] = {}
        ends = self._ends(row, len(before))
        first = row + 1  # outer brackets may have come or gone
        for old_place, new_place, last in zip(reversed(before), reversed(after), ends):
            rows = [each for each in range(first, last + 1) if self._lines[each].strip()]
            first = last + 1
            column, moved = _content(old, old_place), _content(new, new_place)
            if column is None or moved is None or column == moved or not rows:
                continue
            indentations = [len(_indentation(self._lines[each])) for each in rows]
            if indentations[0] == column and min(indentations) > old_place and "\t" not in old[:column]:
                found.update(dict.fromkeys(rows, moved - column))
        return found

    def _ends(self, row: int, count: int) -> list[int]:
        """The lines on which the innermost ``count`` brackets that are open behind a line are closed, innermost first."""
        ends: list[int] = []
        depth = 0
        for index in range(row + 1, min(row + _FAR, len(self._lines))):
            for part in _PARTS.finditer(self._lines[index]):
                if part["long"]:
                    return ends
                depth += bool(part["open"]) - bool(part["close"])
                if depth < -len(ends):
                    ends.append(index)
            if len(ends) >= count:
                break
        return ends


def _opened(line: str) -> list[int] | None:
    """The columns of the brackets that a line opens and does not close; ``None`` where a string of several lines is in it."""
    opened: list[int] = []
    for part in _PARTS.finditer(line):
        if part["long"]:
            return None
        if part["open"]:
            opened.append(part.start())
        elif part["close"] and opened:
            opened.pop()
    return opened


def _content(line: str, bracket: int) -> int | None:
    """The column of what follows a bracket on its line; ``None`` if nothing does, or a comment."""
    rest = line[bracket + 1 :]
    return bracket + 1 + len(rest) - len(rest.lstrip()) if rest.strip() and not rest.lstrip().startswith("#") else None
