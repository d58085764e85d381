"""The report of GitLab's Code Quality."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from torchlint.diagnostic import Diagnostic, FileError, Location
from torchlint.reporters.report import Report

_SEVERITIES = {"error": "major", "warning": "minor"}


def render(report: Report) -> Iterator[str]:
    """An array with an object for each finding, and for each file that could not be linted.

    The fingerprint of a finding stays the same when lines are added above it.
    """
    seen: Counter[str] = Counter()
    entries = []
    for diagnostic in report.diagnostics:
        text = f"{diagnostic.filename}\0{diagnostic.code}\0{diagnostic.snippet.strip()}"
        fingerprint = _fingerprint(text, seen)
        cell = "" if diagnostic.cell is None else f" (cell {diagnostic.cell}, line {diagnostic.location.row})"
        description = f"{diagnostic.code} {diagnostic.message}{cell}"
        start, end = _place(diagnostic.location, diagnostic), _place(diagnostic.end_location, diagnostic)
        entries.append(
            _entry(diagnostic.filename, diagnostic.code, description, fingerprint, start, end, _SEVERITIES[diagnostic.severity])
        )
    for error in report.errors:
        start = _place(error.location or Location(1, 1), error)
        fingerprint = _fingerprint(f"{error.filename}\0{error.code}\0{error.message}", seen)
        entries.append(_entry(error.filename, error.code, error.message, fingerprint, start, start, "blocker"))
    yield json.dumps(entries, indent=2)
    yield "\n"


def _place(location: Location, found: Diagnostic | FileError) -> Location:
    """``location``, or where its cell's line is in the file of a notebook."""
    return location if found.json_row is None else Location(found.json_row, 1)


def _fingerprint(text: str, seen: Counter[str]) -> str:
    """A hash of ``text`` and of how often it has been there before."""
    seen[text] += 1
    return blake2b(f"{text}\0{seen[text]}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _entry(
    path: str, code: str, description: str, fingerprint: str, start: Location, end: Location, severity: str
) -> dict[str, Any]:
    return {
        "check_name": code,
        "description": description,
        "severity": severity,
        "fingerprint": fingerprint,
        "location": {
            "path": path,
            "positions": {
                "begin": {"line": start.row, "column": start.column},
                "end": {"line": end.row, "column": end.column},
            },
        },
    }
