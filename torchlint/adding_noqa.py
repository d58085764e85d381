"""Adding `# noqa` comments for findings that are to stay."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from torchlint.diagnostic import Diagnostic
from torchlint.source import Source
from torchlint.suppression import Suppressions

_EXISTING = re.compile(r"# noqa(?::\s?(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))", re.IGNORECASE)


def with_noqa(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """The text with a comment on each finding's line that silences it.

    The comment goes to the end of the line, as flake8 counts lines: behind a string of several lines, and behind the last of
    lines that backslashes join. Codes are added to a comment that names some already.
    """
    codes: dict[int, set[str]] = defaultdict(set)
    suppressions = Suppressions(source)
    for diagnostic in diagnostics:
        codes[suppressions.last_row(diagnostic.location.row)].add(diagnostic.code)
    text = source.text
    for row in sorted(codes, reverse=True):
        start, end = source.line_span(row)
        line = text[start:end]
        text = text[:start] + _commented(line, codes[row]) + text[end:]
    return text


def _commented(line: str, codes: set[str]) -> str:
    listed = ", ".join(sorted(codes))
    if match := _EXISTING.search(line):
        return f"{line[: match.end()]}, {listed}{line[match.end() :]}"
    return f"{line.rstrip()}  # noqa: {listed}"
