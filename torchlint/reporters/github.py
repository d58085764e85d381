"""Workflow commands of GitHub Actions, which shows them beside the code."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.diagnostic import Diagnostic, FileError, Severity, printable
from torchlint.reporters.report import Report


def render(report: Report) -> Iterator[str]:
    """A command for each finding, ``::error`` or ``::warning``, and an ``::error`` for each file that could not be linted."""
    yield from map(_finding, report.diagnostics)
    yield from map(_error, report.errors)


def _finding(diagnostic: Diagnostic) -> str:
    start, end = diagnostic.location, diagnostic.end_location
    properties = {"title": f"torchlint ({diagnostic.code})", "file": diagnostic.filename}
    if diagnostic.json_row is not None:  # the lines of a cell are not those of its file
        properties["line"] = str(diagnostic.json_row)
    else:
        properties |= {"line": str(start.row), "endLine": str(end.row)}
        if start.row == end.row:  # columns are for one line only
            properties |= {"col": str(start.column), "endColumn": str(end.column)}
    place = f"{diagnostic.place}: "
    return _command(diagnostic.severity, properties, f"{place}{diagnostic.code} {diagnostic.message}")


def _error(error: FileError) -> str:
    properties = {"title": f"torchlint ({error.code})", "file": error.filename}
    if error.location is not None:
        if error.json_row is not None:
            properties["line"] = str(error.json_row)
        else:
            properties |= {"line": str(error.location.row), "col": str(error.location.column)}
    return _command("error", properties, str(error))


def _command(severity: Severity, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{name}={_escaped(value, in_property=True)}" for name, value in properties.items())
    return f"::{severity} {listed}::{_escaped(message)}\n"


def _escaped(text: str, *, in_property: bool = False) -> str:
    """``text`` on one line, with what has a meaning in a command spelt otherwise."""
    text = printable(text).replace("%", "%25")
    return text.replace(":", "%3A").replace(",", "%2C") if in_property else text
