"""One line for each finding."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.diagnostic import Diagnostic, printable
from torchlint.reporters.report import Marked, Part, Report
from torchlint.reporters.summary import summary


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
    colon = Part(":", "mark")
    cell = () if diagnostic.cell is None else (Part(f"cell {diagnostic.cell}"), colon)
    return (
        *(Part(printable(diagnostic.filename), "name"), colon, *cell),
        *(Part(str(diagnostic.location.row)), colon, Part(str(diagnostic.location.column)), colon, Part(" ")),
        *what(diagnostic, fixable=fixable),
    )


def what(diagnostic: Diagnostic, *, fixable: bool) -> tuple[Part, ...]:
    """What a finding's line says behind its place."""
    star = (Part("["), Part("*", "mark"), Part("] ")) if fixable else ()
    message = Part(f"{printable(diagnostic.message)}\n")
    return Part(diagnostic.code, diagnostic.severity, diagnostic.url), Part(" "), *star, message
