"""Adding `# noqa` comments for findings that are to stay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from torchlint.diagnostic import Diagnostic
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source


def with_noqa(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """The text with a comment on each finding's line that silences it, where one can.

    The comment goes to the end of the line, as flake8 counts lines: behind a string of several lines, and behind the last of
    lines that backslashes join. Codes are added to a comment that names some already. Nothing is added to a line with a string
    that reads like a noqa comment: what stands there is what counts, and no comment would.
    """
    codes: dict[tuple[int, int, str], set[str]] = defaultdict(set)
    suppressions = Suppressions(source)
    for diagnostic in diagnostics:
        if (place := _place(source, suppressions, diagnostic.location.row)) is not None:
            codes[place].add(diagnostic.code)
    text = source.text
    for start, end, opening in sorted(codes, reverse=True):
        text = text[:start] + opening + ", ".join(sorted(codes[start, end, opening])) + text[end:]
    return text


def _place(source: Source, suppressions: Suppressions, row: int) -> tuple[int, int, str] | None:
    """The span that codes for findings on line ``row`` take the place of, and what comes before them; None where none helps."""
    first, last = suppressions.line_of(row)
    existing = suppressions.heeded(first, last)
    if existing is None:
        start, end = source.line_span(last)
        return start + len(source.text[start:end].rstrip(" \t")), end, "  # noqa: "
    if not existing.codes or not source.is_in_comment(existing.span[0]):
        return None
    _, (_, end) = existing.codes[-1]
    return end, end, ", "
