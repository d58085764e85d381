"""The further lines of an expression that comes to stand elsewhere on its line."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
