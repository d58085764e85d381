"""``# noqa`` comments: which findings they silence, and writing them.

They work as in flake8 7, so that a comment means the same to the command and to the plugin: ``# noqa`` silences every
finding on its line, ``# noqa: TPL001,TPL1`` those whose code starts with one of the codes. The name of a rule stands for its
code, as in ``# noqa: data-mutation``; flake8 knows no names, and takes such a comment for one without codes. A line is what
flake8 takes for one: a physical line, or all the lines that a multi-line string or a backslash holds together.
On a line of its own, ``# torchlint: noqa`` or ``# flake8: noqa``, with or without codes, speaks for the whole file.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from torchlint.diagnostic import Diagnostic, Edit
from torchlint.text.source import Source, SourceError

_BLANK = r"[^\S\r\n]"
_CODE = "[A-Z]+[0-9]+"
_SEPARATORS = re.compile(r"[,\s]+")

_BLANKET = ("",)
"""The prefixes of a comment without codes: the empty one, which every code starts with."""


class _Patterns:
    """What comments look like where rules have certain names; ``names`` has the code for each."""

    def __init__(self, names: Mapping[str, str]) -> None:
        known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        item = rf"(?:(?:{known})(?![\w-])|{_CODE})" if known else _CODE
        listed = rf"(?::{_BLANK}?(?P<codes>(?:{item}(?:,|{_BLANK})*)+))?"
        self.names = names
        self.item = re.compile(item, re.IGNORECASE)
        self.on_line = re.compile(rf"# noqa{listed}", re.IGNORECASE)
        self.on_file = re.compile(
            rf"^[ \t\f]*#{_BLANK}*(?:torchlint|flake8)[:=]{_BLANK}*noqa\b{listed}", re.IGNORECASE | re.MULTILINE
        )

    def code(self, item: str) -> str:
        """The code, or prefix of one, that an item of a comment's list stands for."""
        return self.names.get(item.lower(), item)

    def comment(self, match: re.Match[str], rows: range) -> Comment:
        codes = []
        for item in self.item.finditer(match["codes"] or ""):
            start = match.start("codes") + item.start()
            codes.append((self.code(item.group()), (start, start + len(item.group()))))
        start = match.end() - len(match.group().lstrip())
        return Comment((start, match.end()), tuple(codes), rows)

    def prefixes(self, match: re.Match[str]) -> tuple[str, ...]:
        """What the codes that a comment silences start with."""
        codes = match["codes"]
        return tuple(self.code(item) for item in _SEPARATORS.split(codes) if item) if codes else _BLANKET


@lru_cache(maxsize=8)
def _patterns(names: tuple[tuple[str, str], ...]) -> _Patterns:
    return _Patterns(dict(names))


@dataclass(frozen=True, slots=True)
class Comment:
    """A noqa comment with codes: the span of ``# noqa: …``, each code with its span, and the rows that it speaks for.

    ``rows`` is empty for one that speaks for the whole file.
    """

    span: tuple[int, int]
    codes: tuple[tuple[str, tuple[int, int]], ...]
    rows: range


class Suppressions:
    """The noqa comments of one file; ``names`` has the codes that names of rules stand for in them."""

    def __init__(self, source: Source, names: Mapping[str, str] | None = None) -> None:
        self._source = source
        self._names = tuple((names or {}).items())
        self.are_present = "noqa" in source.text.lower()
        """Whether there may be any."""

    @cached_property
    def _patterns(self) -> _Patterns:
        return _patterns(self._names)

    def covers(self, code: str, row: int) -> bool:
        """Whether a comment silences findings of ``code`` that start on line ``row`` (from 1)."""
        if not self.are_present:
            return False
        return code.startswith(self._on_file) or code.startswith(self._on_row.get(row, ()))

    def comments(self) -> list[Comment]:
        """The comments that name codes; what reads like one in a string is none, even where it silences."""
        if not self.are_present:
            return []
        found = [
            self._patterns.comment(match, range(0))
            for match in self._patterns.on_file.finditer(self._source.text.replace("\r", "\n"))
        ]
        of_file = {comment.span[1] for comment in found}
        for match in self._patterns.on_line.finditer(self._source.text):
            heeded = self.heeded(*self.line_of(self._source.location(match.start()).row))
            if heeded is not None and heeded.span[0] == match.start() and match.end() not in of_file:
                found.append(heeded)
        return [comment for comment in found if comment.codes and self._source.is_in_comment(comment.codes[0][1][0])]

    def line_of(self, row: int) -> tuple[int, int]:
        """The first and last row of the line, as flake8 counts lines, that ``row`` belongs to."""
        return self._joined.get(row, (row, row))

    def heeded(self, first: int, last: int) -> Comment | None:
        """What counts as the noqa comment of the line from row ``first`` to row ``last``; it may stand in a string."""
        match = self._patterns.on_line.search(
            self._source.text, self._source.line_start(first), self._source.line_span(last)[1]
        )
        return match and self._patterns.comment(match, range(first, last + 1))

    @cached_property
    def _joined(self) -> dict[int, tuple[int, int]]:
        return {row: (first, last) for first, last in _lines(self._source) for row in range(first, last + 1)}

    @cached_property
    def _on_file(self) -> tuple[str, ...]:
        text = self._source.text.replace("\r", "\n")
        return tuple(prefix for match in self._patterns.on_file.finditer(text) for prefix in self._patterns.prefixes(match))

    @cached_property
    def _on_row(self) -> dict[int, tuple[str, ...]]:
        """For each line that a comment speaks for, the prefixes of the codes that are silent there."""
        comments: dict[int, re.Match[str]] = {}
        for match in self._patterns.on_line.finditer(self._source.text):
            comments.setdefault(self._source.location(match.start()).row, match)
        if not self._may_be_joined(comments):
            return {row: self._patterns.prefixes(match) for row, match in comments.items()}
        covered: dict[int, tuple[str, ...]] = {}
        for first, last in _lines(self._source):
            start = self._source.line_start(first)
            found = self._patterns.on_line.search(self._source.text, start, self._source.line_span(last)[1])
            if found:
                covered.update(dict.fromkeys(range(first, last + 1), self._patterns.prefixes(found)))
        return covered

    def _may_be_joined(self, rows: Collection[int]) -> bool:
        """Whether a string or a backslash may join one of ``rows`` to another; telling that for sure takes the tokens."""
        joined: set[int] = set()
        if not rows:
            return False
        try:
            tree = self._source.tree
        except SourceError:
            return True
        for node in ast.walk(tree):
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno != node.lineno:
                joined.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        lines = (line for row in rows for line in (row - 1, row) if line >= 1)
        return not joined.isdisjoint(rows) or any(self._source.line(line).rstrip().endswith("\\") for line in lines)


def with_noqa(source: Source, diagnostics: Iterable[Diagnostic], names: Mapping[str, str] | None = None) -> str:
    """The text with a comment on each finding's line that silences it, where one can.

    The comment goes to the end of the line, as flake8 counts lines: behind a string of several lines, and behind the last of
    lines that backslashes join. Codes are added to a comment that names some already. Nothing is added to a line with a string
    that reads like a noqa comment: what stands there is what counts, and no comment would.
    """
    codes: dict[tuple[int, int, str], set[str]] = defaultdict(set)
    suppressions = Suppressions(source, names)
    for diagnostic in diagnostics:
        if (place := _place(source, suppressions, diagnostic.location.row)) is not None:
            codes[place].add(diagnostic.code)
    text = source.text
    for start, end, opening in sorted(codes, reverse=True):
        text = text[:start] + opening + ", ".join(sorted(codes[start, end, opening])) + text[end:]
    return text


def noqa_edit(source: Source, diagnostic: Diagnostic, names: Mapping[str, str] | None = None) -> Edit | None:
    """The edit that adds a comment for one finding, as `with_noqa` does; None where no comment would silence it."""
    place = _place(source, Suppressions(source, names), diagnostic.location.row)
    if place is None:
        return None
    start, end, opening = place
    return Edit(source.location(start), source.location(end), opening + diagnostic.code)


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


def _lines(source: Source) -> list[tuple[int, int]]:
    """The first and last row of every line, as flake8 counts lines: up to a newline that is no part of a token."""
    lines: list[tuple[int, int]] = []
    first = 1
    for token in _with_plain_newlines(source).tokens:
        if token.type in (tokenize.NEWLINE, tokenize.NL):
            lines.append((first, token.end[0]))
            first = token.end[0] + 1
    lines.extend((row, row) for row in range(first, source.line_count + 1))  # what the tokenizer did not get to
    return lines


def _with_plain_newlines(source: Source) -> Source:
    """The source with ``\\n`` for every newline: the tokenizer does not take a lone ``\\r`` for one."""
    if "\r" not in source.text:
        return source
    return Source(source.text.replace("\r\n", "\n").replace("\r", "\n"))
