"""The findings of each file under its name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from torchlint.diagnostic import Diagnostic, printable
from torchlint.reporters.concise import what
from torchlint.reporters.report import Marked, Part, Report
from torchlint.reporters.summary import summary


def render(report: Report) -> Iterator[str]:
    """Each file's name, below it a line for each of its findings, then the summary."""
    return map(str, marked(report))


def marked(report: Report, width: int | None = None) -> Iterator[Marked]:
    """The same with its parts marked; a finding is one line however long it is."""
    for filename, found in groupby(report.diagnostics, key=lambda diagnostic: diagnostic.filename):
        diagnostics = list(found)
        places = [_place(diagnostic) for diagnostic in diagnostics]
        room = max(map(len, places))
        yield Marked((Part(printable(filename), "name"), Part(":\n")))
        for place, diagnostic in zip(places, diagnostics):
            yield Marked((Part(f"  {place:<{room}}  "), *what(diagnostic, fixable=report.fixes(diagnostic))))
        yield Marked((Part("\n"),))
    yield from summary(report)


def _place(diagnostic: Diagnostic) -> str:
    cell = "" if diagnostic.cell is None else f"cell {diagnostic.cell}:"
    return f"{cell}{diagnostic.location.row}:{diagnostic.location.column}"
