"""JSON with ruff's keys, for tools that read ruff's output."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from torchlint.diagnostic import Diagnostic, Edit, FileError, Fix, Location
from torchlint.reporters.report import Report

_STANDARD_INPUT = "<stdin>"


def render(report: Report) -> Iterator[str]:
    """An array with an object for each finding, and for each file that could not be linted."""
    yield json.dumps(entries(report), indent=2, sort_keys=True)
    yield "\n"


def entries(report: Report) -> list[dict[str, Any]]:
    """The object for each finding, and for each file that could not be linted."""
    return [*map(_finding, report.diagnostics), *map(_error, report.errors)]


def _finding(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "cell": diagnostic.cell,
        "code": diagnostic.code,
        "name": diagnostic.name,
        "message": diagnostic.message,
        "severity": diagnostic.severity,
        "filename": _absolute(diagnostic.filename),
        "location": _location(diagnostic.location),
        "end_location": _location(diagnostic.end_location),
        "fix": _fix(diagnostic.fix) if diagnostic.fix else None,
        "noqa_row": diagnostic.location.row,
        "url": diagnostic.url,
    }


def _error(error: FileError) -> dict[str, Any]:
    location = _location(error.location or Location(1, 1))
    return {
        "cell": error.cell,
        "code": error.code,
        "name": error.code,
        "message": error.message,
        "severity": "error",
        "filename": _absolute(error.filename),
        "location": location,
        "end_location": location,
        "fix": None,
        "noqa_row": None,
        "url": None,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "reason": fix.reason or None,
        "edits": [_edit(edit) for edit in fix.edits],
    }


def _edit(edit: Edit) -> dict[str, Any]:
    entry = {"content": edit.content, "location": _location(edit.location), "end_location": _location(edit.end_location)}
    return entry if edit.cell is None else {"cell": edit.cell, **entry}


def _location(location: Location) -> dict[str, int]:
    return {"row": location.row, "column": location.column}


def _absolute(filename: str) -> str:
    return filename if filename == _STANDARD_INPUT else os.path.abspath(filename)
