"""Fixes within the fields of f-strings: what they print, and which quotes they may have."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from weakref import WeakKeyDictionary

from torchlint.semantics import Semantics
from torchlint.text.source import Source

_MAY_PRINT_CODE = re.compile(r"=\s*[!:}]")
_LABEL = re.compile(r"[\s)]*=\s*[!:}]")
"""What stands behind the expression of a field that prints its own code."""
_OPENING = re.compile(r"[A-Za-z]*([\"'])")
_OTHER = {'"': "'", "'": '"'}


class Fields:
    """The f-strings of one file."""

    def __init__(self, source: Source, semantics: Semantics) -> None:
        strings = (_span(source, node) for node in semantics.tree.of_type(ast.JoinedStr) if node.end_lineno is not None)
        self._strings = _Spans(strings)
        self._text = source.text
        values = (
            [field.value for field in semantics.tree.of_type(ast.FormattedValue)] if _MAY_PRINT_CODE.search(self._text) else []
        )
        spans = (_span(source, value) for value in values if value.end_lineno is not None)
        self._printed = _Spans(span for span in spans if _LABEL.match(self._text, span[1]))

    def prints_code(self, start: int, end: int) -> bool:
        """Whether a span is within a field such as ``{x.data=}``, which prints its own code: to edit it changes that."""
        return any(self._printed.around(start, end))

    def with_fitting_quotes(self, start: int, content: str) -> str | None:
        """``content``, to be put in at ``start``, with its quotes other than those of an f-string that it comes to stand in.

        Up to Python 3.11 they have to be: ``None`` where f-strings in one another leave none.
        """
        quotes = {quote for quote in _OTHER if quote in content}
        around = set(self._quotes_around(start)) if len(quotes) == 1 else set()
        if not quotes or not quotes <= around:
            return content
        [quote] = quotes
        return None if _OTHER[quote] in around else content.replace(quote, _OTHER[quote])

    def _quotes_around(self, place: int) -> Iterator[str]:
        """The quotes of the f-strings that ``place`` is in."""
        for start, end in self._strings.around(place, place):
            if start < place < end and (opening := _OPENING.match(self._text, start)):
                yield opening[1]


_FIELDS: WeakKeyDictionary[Semantics, Fields] = WeakKeyDictionary()


def fields_of(source: Source, semantics: Semantics) -> Fields:
    """The f-strings of the file that ``semantics`` are about."""
    if (found := _FIELDS.get(semantics)) is None:
        found = _FIELDS[semantics] = Fields(source, semantics)
    return found


class _Spans:
    """Spans of a text, which are found by what they hold."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._spans: Sequence[tuple[int, int]] = sorted(spans)
        self._last = list(accumulate((end for _, end in self._spans), max))
        """For each span how far it, and those before it, go."""

    def around(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The spans that hold the text from ``start`` to ``end``."""
        index = bisect_left(self._spans, (start + 1,)) - 1
        while index >= 0 and self._last[index] >= end:
            if self._spans[index][1] >= end:
                yield self._spans[index]
            index -= 1


def _span(source: Source, node: ast.expr) -> tuple[int, int]:
    return source.start(node), source.end(node)
