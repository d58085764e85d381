"""How many findings each rule has."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from torchlint.reporters.report import Marked, Part, Report
from torchlint.reporters.summary import summary


def marked(report: Report) -> Iterator[Marked]:
    """A line for each rule with findings, the most frequent first: number, code, whether ``--fix`` mends all or some, name."""
    rows = _rows(report)
    urls = {diagnostic.code: diagnostic.url for diagnostic in report.diagnostics}
    wrong = {diagnostic.code for diagnostic in report.diagnostics if diagnostic.severity == "error"}
    width = max((len(str(row["count"])) for row in rows), default=0)
    for row in rows:
        star = Part("*", "mark") if row["fixable"] else Part("-", "mark") if row["fixable_count"] else Part(" ")
        code = Part(row["code"], "error" if row["code"] in wrong else "warning", urls[row["code"]])
        yield Marked((Part(f"{row['count']:>{width}}  "), code, Part("  ["), star, Part(f"] {row['name']}\n")))
    yield from summary(report)


def render_json(report: Report) -> Iterator[str]:
    """The same as an array with an object for each rule, and for each kind of error that files could not be linted for."""
    errors = Counter(error.code for error in report.errors)
    others = [{"code": code, "name": code, **_counted(count, 0)} for code, count in sorted(errors.items())]
    yield json.dumps([*_rows(report), *others], indent=2)
    yield "\n"


def _rows(report: Report) -> list[dict[str, Any]]:
    counts = Counter((diagnostic.code, diagnostic.name) for diagnostic in report.diagnostics)
    fixable = Counter(diagnostic.code for diagnostic in report.diagnostics if report.fixes(diagnostic))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"code": code, "name": name, **_counted(count, fixable[code])} for (code, name), count in ordered]


def _counted(count: int, fixable: int) -> dict[str, Any]:
    return {"count": count, "fixable": fixable == count, "fixable_count": fixable}
