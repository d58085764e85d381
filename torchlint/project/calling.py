"""Where a text may call something of a name: told by its bytes, before it is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

_INNER = frozenset(each.encode() for each in "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_CALLED = re.compile(rb"\s*(?:\(|as\b)")
"""What stands behind a name that is called, or gets another name."""
_DEFINED = (b"def ", b"class ")
_SAID = (b"#", b">>>")
"""How lines start that no code is in, be they comments, or lines of a string."""


class Sought:
    """A name that is looked for in texts, followed by what makes a call of it, or another name for what is imported."""

    def __init__(self, name: str) -> None:
        self.word = name.encode("utf-8", "surrogatepass")

    def is_in(self, text: bytes) -> bool:
        """Whether a text has the name so, in code or not."""
        return self.word in text and next(self._places(text), None) is not None

    def may_be_called_in(self, text: bytes) -> bool:
        """Whether a text has the name so somewhere else than in its definition, in comments and in examples of use."""
        return any(not _is_no_call(text[text.rfind(b"\n", 0, place) + 1 : place]) for place in self._places(text))

    def _places(self, text: bytes) -> Iterator[int]:
        for place in _all_of(self.word, text):
            if text[place - 1 : place] not in _INNER and _CALLED.match(text, place + len(self.word)):
                yield place


def _is_no_call(before: bytes) -> bool:
    """Whether what stands in a line before a name tells that it is not called there."""
    if before.endswith((*_DEFINED, b"`")):
        return True
    is_open = b'"' in before or b"'" in before or b"\r" in before  # a string may end here, or a line
    return not is_open and before.lstrip(b" \t").startswith(_SAID)


def lines_with(names: set[str], text: bytes) -> list[int] | None:
    """The lines of a text that have one of some names, and maybe others; `None` where it is not told."""
    if not all(name.isascii() for name in names) or text.count(b"\r") != text.count(b"\r\n"):
        return None
    words = [name.encode() for name in names]
    places = sorted({place for word in words for place in _all_of(word, text)})
    starts = [0, *places]
    return list(accumulate((text.count(b"\n", one, other) for one, other in zip(starts, places)), initial=1))[1:]


def _all_of(word: bytes, text: bytes) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)
