"""What the functions of a file give, and the methods and attributes of its classes, by that file alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from torchlint.project.told.by_file import ToldByFile
from torchlint.text.headroom import recursion_headroom

if TYPE_CHECKING:
    from torchlint.project.store import Store
    from torchlint.project.trees import Trees
    from torchlint.semantics import Semantics
    from torchlint.semantics.summaries.summary import Given

_LARGEST = 500_000
"""Bytes of a file that is looked at; larger ones say nothing."""
_MOST_AT_HAND = 300_000
"""Of so many bytes of text the semantics are kept, which take some thirty times as much."""
_BEHIND = re.compile(rb"[ \t\\\r\n]*(?:(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?!=)|[:,)\]\"']|in\b|$)")
"""What comes behind an attribute, or a name of a class's body, that is bound, and behind the name of a parameter."""
_DEFINED = re.compile(rb"def[ \t\\\r\n]+$")
_NEAR = 20
"""Bytes in front of a name that are looked at."""
_WORD = re.compile(rb"\w")
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Givens(ToldByFile["Given"]):
    """Tells what a function of a file gives, or a method or attribute, ``Class.name``."""

    def __init__(
        self, texts: Mapping[str, bytes], state: Callable[[str], str | None], trees: Trees, store: Store | None
    ) -> None:
        super().__init__(texts, state, trees, store)
        self._at_hand: dict[bytes, Semantics | None] = {}

    def look_for(self, file: str, names: tuple[str, ...]) -> Given:
        """What the one thing that is named gives."""
        from torchlint.semantics.summaries.summary import Given

        (name,) = names
        try:
            data = self.read(file, _LARGEST)
        except (OSError, ValueError):
            return Given()
        if b"torch" not in data or len(data) > _LARGEST or not _may_tell(data, name.rpartition(".")[2].removesuffix("()")):
            return Given()
        return self.kept("given", Given, name, data, lambda: self._looked_for(data, name))

    def _looked_for(self, data: bytes, name: str) -> Given:
        from torchlint.semantics.provenance.given_alone import given
        from torchlint.semantics.summaries.summary import Given

        try:
            with recursion_headroom():
                semantics = self._semantics(data)
                return given(semantics, name) if semantics is not None else Given()
        except _UNREADABLE:
            return Given()

    def _semantics(self, data: bytes) -> Semantics | None:
        """All that a text means, which is kept among the last ones."""
        from torchlint.semantics import Semantics

        if data in self._at_hand:
            self._at_hand[data] = self._at_hand.pop(data)
        else:
            self._at_hand[data] = None
            self._at_hand[data] = Semantics(self._trees.of(data))
        while sum(map(len, self._at_hand)) > _MOST_AT_HAND and len(self._at_hand) > 1:
            gone = self._at_hand.pop(next(iter(self._at_hand)))
            if gone is not None:
                gone.let_go()
        return self._at_hand[data]


def _may_tell(data: bytes, name: str) -> bool:
    """Whether a text may define something, or let an attribute hold something: what is only read there tells nothing."""
    word = name.encode("utf-8", "surrogatepass")
    start = data.find(word)
    while start >= 0:
        end = start + len(word)
        if not name.isascii() or _may_bind(data, start, end):
            return True
        start = data.find(word, end)
    return False


def _may_bind(data: bytes, start: int, end: int) -> bool:
    if _WORD.match(data[start - 1 : start]) or _WORD.match(data[end : end + 1]):
        return False
    return bool(_BEHIND.match(data, end) or _DEFINED.search(data[max(start - _NEAR, 0) : start]))
