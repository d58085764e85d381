"""Each finding with the line it is on, the place underlined, and what the fix does."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.diagnostic import Diagnostic, printable
from torchlint.reporters.columns import columns, shown
from torchlint.reporters.concise import headline
from torchlint.reporters.report import Marked, Part, Report
from torchlint.reporters.summary import summary

_WIDEST = 160
"""Columns of a source line that are shown at most; the part around the finding, where it is longer."""
_BEFORE = 40
"""Of these, how many stand before the finding."""
_NARROWEST = 20
"""Columns that code gets however narrow the terminal is."""
_BAR, _BLANK, _NEWLINE, _HELP = Part("|", "gutter"), Part(" "), Part("\n"), Part("help", "mark")


def render(report: Report) -> Iterator[str]:
    """Each finding as the line of the concise format and a picture of the place, then the summary."""
    return map(str, marked(report))


def marked(report: Report, width: int | None = None) -> Iterator[Marked]:
    """The same with its parts marked; code that is longer than the width goes on below, and its underline with it."""
    for diagnostic in report.diagnostics:
        yield Marked(headline(diagnostic, fixable=report.fixes(diagnostic)), folds=True)
        yield Marked(tuple(_picture(diagnostic, width)))
        if diagnostic.fix:
            yield Marked((_HELP, Part(f": {printable(diagnostic.fix.title)}\n")), folds=True)
        yield Marked((_NEWLINE,))
    yield from summary(report)


def _picture(diagnostic: Diagnostic, width: int | None) -> Iterator[Part]:
    row = str(diagnostic.location.row)
    blank = Part(f"{' ' * len(row)} ")
    code, before, underlined = _underlined(diagnostic)
    yield from (blank, _BAR, _NEWLINE)
    yield from (Part(row, "gutter"), _BLANK)
    position = 0
    for piece, is_last in _pieces(code, None if width is None else max(width - len(row) - 3, _NARROWEST)):
        if position:
            yield blank
        yield from (_BAR, Part(f" {piece}".rstrip(" ")), _NEWLINE)
        end = position + columns(piece)
        first, last = max(before, position), before + underlined if is_last else min(before + underlined, end)
        if first < last:
            yield from (
                blank,
                _BAR,
                Part(" " * (first - position + 1)),
                Part("^" * (last - first), diagnostic.severity),
                _NEWLINE,
            )
        position = end
    yield from (blank, _BAR, _NEWLINE)


def _pieces(code: str, room: int | None) -> Iterator[tuple[str, bool]]:
    """The code in pieces for which there is room, each with whether it is the last one."""
    pieces = [code]
    if room is not None:
        from rich.cells import chop_cells  # where there is a width there is a terminal, and rich

        pieces = chop_cells(code, room) or pieces
    for piece in pieces[:-1]:
        yield piece, False
    yield pieces[-1], True


def _underlined(diagnostic: Diagnostic) -> tuple[str, int, int]:
    """The finding's line as a terminal shows it, how many columns are before what is underlined, and how many are."""
    line = diagnostic.snippet
    start = diagnostic.location.column - 1
    one_line = diagnostic.end_location.row == diagnostic.location.row
    end = diagnostic.end_location.column - 1 if one_line else len(line)
    first, last = _window(line, start)
    start, end = max(start, first), min(max(end, start + 1), last)
    before, marked, after = shown(line[first:start]), shown(line[start:end], columns(line[first:start])), line[end:last]
    head, tail = "…" if first else "", "…" if last < len(line) else ""
    place = columns(before)
    code = f"{head}{before}{marked}{shown(after, place + columns(marked))}{tail}"
    return code, len(head) + place, max(columns(marked), 1)


def _window(line: str, start: int) -> tuple[int, int]:
    """The part of a line that is shown."""
    if len(line) <= _WIDEST:
        return 0, len(line)
    first = max(start - _BEFORE, 0)
    return first, min(first + _WIDEST, len(line))
