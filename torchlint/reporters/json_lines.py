"""JSON with an object on each line, for tools that read as it comes."""

from __future__ import annotations

import json
from collections.abc import Iterator

from torchlint.reporters.json import entries
from torchlint.reporters.report import Report


def render(report: Report) -> Iterator[str]:
    """A line for each finding, and for each file that could not be linted."""
    for entry in entries(report):
        yield json.dumps(entry, sort_keys=True) + "\n"
