"""Which comments a fix would take away."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from torchlint.diagnostic import Edit, Fix
from torchlint.text.source import Source


def keeps_comments(fix: Fix, source: Source) -> bool:
    """Whether each comment survives a fix, but for those on lines that it deletes whole."""
    removed = [(source.offset_of(edit.location), source.offset_of(edit.end_location), edit) for edit in fix.edits]
    if not any("#" in source.text[start:end] for start, end, _ in removed):
        return True
    new = "".join(edit.content for edit in fix.edits)
    taken: Counter[str] = Counter()
    for first, last, edit in removed:
        for start, text in source.comments[
            bisect_left(source.comments, (first, "")) : bisect_left(source.comments, (last, ""))
        ]:
            if not _is_about_comment(edit, source) and not _goes_with_its_line(start, edit, source):
                taken[text] += 1
    return all(new.count(text) >= count for text, count in taken.items())


def _is_about_comment(edit: Edit, source: Source) -> bool:
    """Whether an edit changes a comment and no code."""
    text = source.text[source.offset_of(edit.location) : source.offset_of(edit.end_location)]
    return edit.location.row == edit.end_location.row and text.lstrip().startswith("#")


def _goes_with_its_line(comment: int, edit: Edit, source: Source) -> bool:
    """Whether an edit deletes all that the line of a comment holds."""
    row = source.location(comment).row
    start, end = source.line_span(row)
    before = source.text[start : max(start, source.offset_of(edit.location))]
    after = source.text[min(end, source.offset_of(edit.end_location)) : end]
    return not (before + edit.content + after).strip()
