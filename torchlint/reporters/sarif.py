"""SARIF 2.1.0, the interchange format of static analysis, with the fixes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from torchlint import __version__
from torchlint.diagnostic import Diagnostic, FileError, Fix, Location
from torchlint.reporters.report import Report

if TYPE_CHECKING:
    from torchlint.rules.catalogue import Entry

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://github.com/torchlint/torchlint"


def render(report: Report) -> Iterator[str]:
    """One run with a result for each finding, and a notification for each file that could not be linted."""
    codes = sorted({diagnostic.code for diagnostic in report.diagnostics})
    driver = {
        "name": "torchlint",
        "version": __version__,
        "informationUri": _HOME,
        "rules": [_rule(report.rule(code)) for code in codes],
    }
    results = [_result(diagnostic, codes.index(diagnostic.code)) for diagnostic in report.diagnostics]
    invocation = {
        "executionSuccessful": not report.errors,
        "toolExecutionNotifications": [_notification(error) for error in report.errors],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "invocations": [invocation], "results": results}
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)
    yield "\n"


def _rule(rule: Entry) -> dict[str, Any]:
    from torchlint.rules.documentation import page, sections, summary

    full = " ".join(sections(rule).get("What it does", "").split())
    description: dict[str, Any] = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": summary(rule) or rule.name},
        "fullDescription": {"text": full or rule.name},
        "help": {"text": page(rule), "markdown": page(rule)},
        "properties": {"precision": "high" if rule.default else "medium", "tags": ["pytorch", rule.severity]},
        "defaultConfiguration": {"level": rule.severity},
    }
    return description if rule.page_url is None else {**description, "helpUri": rule.page_url}


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    region = _region(diagnostic.location, diagnostic.end_location)
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": _uri(diagnostic.filename)}, "region": region}}
    if diagnostic.cell is not None:
        # the region within the cell is one that SARIF has no address for
        region = {"startLine": diagnostic.json_row or 1}
        place = {
            "physicalLocation": {"artifactLocation": {"uri": _uri(diagnostic.filename)}, "region": region},
            "logicalLocations": [{"name": f"cell {diagnostic.cell}, line {diagnostic.location.row}"}],
        }
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity,
        "message": {"text": diagnostic.message},
        "locations": [place],
    }
    if diagnostic.fix is not None and diagnostic.cell is None:
        result["fixes"] = [_fix(diagnostic.fix, diagnostic.filename)]
    return result


def _fix(fix: Fix, filename: str) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(edit.location, edit.end_location), "insertedContent": {"text": edit.content}}
        for edit in fix.edits
    ]
    change = {"artifactLocation": {"uri": _uri(filename)}, "replacements": replacements}
    properties = {"applicability": fix.applicability.value, "reason": fix.reason or None}
    return {"description": {"text": fix.title}, "artifactChanges": [change], "properties": properties}


def _notification(error: FileError) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(error.filename)}}
    if error.location is not None:
        location["region"] = {"startLine": error.location.row, "startColumn": error.location.column}
    if error.json_row is not None:
        location["region"] = {"startLine": error.json_row}
    return {"level": "error", "message": {"text": error.message}, "locations": [{"physicalLocation": location}]}


def _region(start: Location, end: Location) -> dict[str, int]:
    return {"startLine": start.row, "startColumn": start.column, "endLine": end.row, "endColumn": end.column}


def _uri(filename: str) -> str:
    path = PurePath(filename)
    if path.is_absolute():
        return path.as_uri()
    return quote(path.as_posix().encode("utf-8", "surrogateescape"), safe="/")
