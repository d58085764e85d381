"""The closing lines of the reports for people: how many findings, and what ``--fix`` can do about them."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.reporters import Report


def summary(report: Report) -> Iterator[str]:
    """The lines that close a report, each with its newline."""
    remaining, fixed = len(report.diagnostics), report.fixed
    if fixed:
        yield f"Found {_count(remaining + fixed, 'error')} ({fixed} fixed, {remaining} remaining).\n"
    elif remaining:
        yield f"Found {_count(remaining, 'error')}.\n"
    elif not report.errors:
        yield "All checks passed!\n"
    yield from _fixable(report)


def _fixable(report: Report) -> Iterator[str]:
    fixable = sum(report.fixes(diagnostic) for diagnostic in report.diagnostics)
    hidden = sum(diagnostic.fix is not None for diagnostic in report.diagnostics) - fixable
    offer = f"{_count(hidden, 'hidden fix', 'es')} can be enabled with the `--unsafe-fixes` option"
    if fixable:
        yield f"[*] {fixable} fixable with the `--fix` option{f' ({offer})' if hidden else ''}.\n"
    elif hidden:
        yield f"No fixes available ({offer}).\n"


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}{'' if number == 1 else plural}"
