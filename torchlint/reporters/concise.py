"""One line for each finding."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.diagnostic import Diagnostic, printable
from torchlint.reporters.report import Report, Style
from torchlint.reporters.summary import summary


def render(report: Report, style: Style) -> Iterator[str]:
    """``path:row:column: code [*] message`` for each finding, then the summary."""
    for diagnostic in report.diagnostics:
        yield headline(diagnostic, style, fixable=report.fixes(diagnostic))
    yield from summary(report)


def headline(diagnostic: Diagnostic, style: Style, *, fixable: bool) -> str:
    """The line that a finding is reported with; ``[*]`` says that ``--fix`` mends it."""
    colon = style.mark(":")
    cell = "" if diagnostic.cell is None else f"cell {diagnostic.cell}{colon}"
    name = style.bold(printable(diagnostic.filename))
    place = f"{name}{colon}{cell}{diagnostic.location.row}{colon}{diagnostic.location.column}{colon}"
    star = f"[{style.mark('*')}] " if fixable else ""
    return f"{place} {style.code(diagnostic.code)} {star}{printable(diagnostic.message)}\n"
