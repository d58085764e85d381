"""One line for each finding."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.diagnostic import Diagnostic, printable
from torchlint.reporters.report import Marked, Part, Report
from torchlint.reporters.summary import summary

_COLON, _BLANK = Part(":", "mark"), Part(" ")


def render(report: Report) -> Iterator[str]:
    """``path:row:column: code [*] message`` for each finding, then the summary."""
    return map(str, marked(report))


def marked(report: Report, width: int | None = None) -> Iterator[Marked]:
    """The same with its parts marked; a finding is one line however long it is."""
    for diagnostic in report.diagnostics:
        yield Marked(headline(diagnostic, fixable=report.fixes(diagnostic)))
    yield from summary(report)


def headline(diagnostic: Diagnostic, *, fixable: bool) -> tuple[Part, ...]:
    """The line that a finding is reported with; ``[*]`` says that ``--fix`` mends it."""
    cell = () if diagnostic.cell is None else (Part(f"cell {diagnostic.cell}"), _COLON)
    return (
        *(Part(printable(diagnostic.filename), "name"), _COLON, *cell),
        *(Part(str(diagnostic.location.row)), _COLON, Part(str(diagnostic.location.column)), _COLON, _BLANK),
        *what(diagnostic, fixable=fixable),
    )


def what(diagnostic: Diagnostic, *, fixable: bool) -> tuple[Part, ...]:
    """What a finding's line says behind its place."""
    star = (Part("["), Part("*", "mark"), Part("] ")) if fixable else ()
    message = Part(f"{printable(diagnostic.message)}\n")
    return Part(diagnostic.code, diagnostic.severity, diagnostic.url), _BLANK, *star, message
