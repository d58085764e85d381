"""The findings of each file under its name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from torchlint.diagnostic import Diagnostic, printable
from torchlint.reporters.report import Report, Style
from torchlint.reporters.summary import summary


def render(report: Report, style: Style) -> Iterator[str]:
    """Each file's name, below it a line for each of its findings, then the summary."""
    for filename, found in groupby(report.diagnostics, key=lambda diagnostic: diagnostic.filename):
        diagnostics = list(found)
        places = [_place(diagnostic) for diagnostic in diagnostics]
        width = max(map(len, places))
        yield f"{style.bold(printable(filename))}:\n"
        for place, diagnostic in zip(places, diagnostics):
            star = f"[{style.mark('*')}] " if report.fixes(diagnostic) else ""
            yield f"  {place:<{width}}  {style.code(diagnostic.code)} {star}{printable(diagnostic.message)}\n"
        yield "\n"
    yield from summary(report)


def _place(diagnostic: Diagnostic) -> str:
    cell = "" if diagnostic.cell is None else f"cell {diagnostic.cell}:"
    return f"{cell}{diagnostic.location.row}:{diagnostic.location.column}"
