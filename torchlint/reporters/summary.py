"""The closing lines of the reports for people: how many findings, and what ``--fix`` can do about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from torchlint.diagnostic import SEVERITIES, Diagnostic, printable
from torchlint.reporters.report import Marked, Report, plain

_NAMED = 3
"""How many of the files that could not be read are named."""


def summary(report: Report) -> Iterator[Marked]:
    """The lines that close a report, each with its newline."""
    return map(plain, _summary(report))


def _summary(report: Report) -> Iterator[str]:
    if report.quiet:
        return
    remaining, fixed = len(report.diagnostics), len(report.fixed)
    found = [*report.fixed, *report.diagnostics]
    if report.fix_only:
        yield f"Fixed {_counted(found)}.\n" if fixed else ""
    elif fixed:
        yield f"Found {_counted(found)} ({fixed} fixed, {remaining} remaining).\n"
    elif remaining:
        yield f"Found {_counted(found)}.\n"
    elif not report.errors:
        yield "No findings.\n"
    yield from _fixable(report)
    yield from unread(report)


def unread(report: Report) -> Iterator[str]:
    """The lines that say how many files, and which, could not be read, or in part; they stand last, where they are seen."""
    read = dict.fromkeys(error.filename for error in report.errors if not error.is_of_whole_file)
    lost = dict.fromkeys(error.filename for error in report.errors if error.is_of_whole_file)
    for files, what in ((list(lost), "read"), ([each for each in read if each not in lost], "linted in full")):
        if files:
            more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
            yield f"{_count(len(files), 'file')} could not be {what}: {', '.join(map(printable, files[:_NAMED]))}{more}.\n"


def fixes(report: Report) -> Iterator[Marked]:
    """The lines that say what was fixed where."""
    return map(plain, _fixes(report))


def _fixes(report: Report) -> Iterator[str]:
    if not report.fixed_in:
        return
    yield f"Fixed {_counted(report.fixed)}:\n"
    for filename, found in report.fixed_in.items():
        yield f"- {printable(filename)}:\n"
        for (code, name), number in sorted(Counter((each.code, each.name) for each in found).items()):
            yield f"    {number} × {code} ({name})\n"
    yield "\n"


def would_fix(report: Report) -> str:
    """The line that closes a run which shows diffs; ``report.fixed`` is what the diffs would fix."""
    hidden = sum(diagnostic.fix is not None and not report.fixes(diagnostic) for diagnostic in report.diagnostics)
    offer = f" ({_count(hidden, 'hidden fix', 'es')} can be enabled with the `--unsafe-fixes` option)" if hidden else ""
    if report.fixed:
        return f"Would fix {_counted(report.fixed)}{offer}.\n"
    return f"No errors would be fixed{offer}.\n" if hidden else ""


def unsafe_fixes(report: Report) -> Iterator[str]:
    """The lines that say why fixes are unsafe: those that were made, and those that the run leaves out."""
    left = (each for each in report.diagnostics if not report.fixes(each))
    for found, state in [*((each, "unsafe") for each in report.fixed), *((each, "unsafe, left out") for each in left)]:
        if found.fix is not None and found.fix.reason:
            yield f"{found.place}: {found.code} {printable(found.fix.message)} ({state}: {printable(found.fix.reason)})\n"


def _fixable(report: Report) -> Iterator[str]:
    fixable = sum(report.fixes(diagnostic) for diagnostic in report.diagnostics)
    hidden = sum(diagnostic.fix is not None for diagnostic in report.diagnostics) - fixable
    offer = f"{_count(hidden, 'hidden fix', 'es')} can be enabled with the `--unsafe-fixes` option"
    if fixable:
        yield f"[*] {fixable} fixable with the `--fix` option{f' ({offer})' if hidden else ''}.\n"
    elif hidden:
        yield f"No fixes available ({offer}).\n"


def _counted(diagnostics: Iterable[Diagnostic]) -> str:
    """How many findings there are of each severity: `2 errors and 1 warning`."""
    counts = Counter(each.severity for each in diagnostics)
    return " and ".join(_count(counts[severity], severity) for severity in SEVERITIES if counts[severity])


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}{'' if number == 1 else plural}"
