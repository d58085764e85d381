"""Each finding with the line it is on, the place underlined, and what the fix does."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.diagnostic import Diagnostic
from torchlint.reporters.concise import headline
from torchlint.reporters.report import Report, Style
from torchlint.reporters.summary import summary

_TAB = 4
_WIDEST = 160
"""Columns of a source line that are shown at most; the part around the finding, where it is longer."""
_BEFORE = 40
"""Of these, how many stand before the finding."""
_CONTROL_PICTURES = 0x2400


def render(report: Report, style: Style) -> Iterator[str]:
    """Each finding as the line of the concise format and a picture of the place, then the summary."""
    for diagnostic in report.diagnostics:
        yield headline(diagnostic, style, fixable=report.fixes(diagnostic))
        yield _picture(diagnostic, style)
    yield from summary(report)


def _picture(diagnostic: Diagnostic, style: Style) -> str:
    row = str(diagnostic.location.row)
    bar = style.gutter("|")
    margin = f"{' ' * len(row)} {bar}"
    code, underline = _underlined(diagnostic)
    lines = [margin, f"{style.gutter(row)} {bar} {code}", f"{margin} {underline[0]}{style.code(underline[1])}", margin]
    if diagnostic.fix:
        lines.append(f"{style.mark('help')}: {diagnostic.fix.message}")
    return "\n".join(line.rstrip(" ") for line in lines) + "\n\n"


def _underlined(diagnostic: Diagnostic) -> tuple[str, tuple[str, str]]:
    """The finding's line as a terminal shows it, and below it the blanks and the carets."""
    line = diagnostic.snippet
    start = diagnostic.location.column - 1
    one_line = diagnostic.end_location.row == diagnostic.location.row
    end = diagnostic.end_location.column - 1 if one_line else len(line)
    first, last = _window(line, start)
    start, end = max(start, first), min(max(end, start + 1), last)
    before, marked, after = _shown(line[first:start]), _shown(line[start:end], _columns(line[first:start])), line[end:last]
    head, tail = "…" if first else "", "…" if last < len(line) else ""
    columns = _columns(before)
    carets = "^" * max(_columns(marked), 1)
    return f"{head}{before}{marked}{_shown(after, columns + _columns(marked))}{tail}", (" " * (len(head) + columns), carets)


def _window(line: str, start: int) -> tuple[int, int]:
    """The part of a line that is shown."""
    if len(line) <= _WIDEST:
        return 0, len(line)
    first = max(start - _BEFORE, 0)
    return first, min(first + _WIDEST, len(line))


def _shown(text: str, column: int = 0) -> str:
    """``text`` with tabs as blanks, as it stands from ``column`` on, and with visible stand-ins for control characters."""
    if text.isprintable():
        return text
    shown: list[str] = []
    for character in text:
        if character == "\t":
            character = " " * (_TAB - column % _TAB)
        elif ord(character) < 0x20:
            character = chr(_CONTROL_PICTURES + ord(character))
        elif not character.isprintable() and _columns(character):
            character = "\N{REPLACEMENT CHARACTER}"
        shown.append(character)
        column += _columns(character)
    return "".join(shown)


def _columns(text: str) -> int:
    """How many columns a terminal gives to ``text``."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(character) in ("Mn", "Me", "Cf") else 2 if east_asian_width(character) in ("W", "F") else 1
        for character in text
    )
