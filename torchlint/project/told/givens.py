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
_LONGEST_FRONT = 200
"""Bytes of a line in front of a name that are understood."""
_QUOTES = (b"'", b'"')
_BOUND = (b"=", b":")
_AROUND = 8_000
"""Bytes in front of a line in which the function or class is looked for that it is in."""
_HEADER = re.compile(rb"(?m)^([ \t]*)(?:async[ \t]+)?(def|class)\b")
_NAMES = re.compile(rb"[ \t\w.*]+")
_GOES_ON = re.compile(rb"\n[^\n#'\"]*[(,\[{][ \t]*\r?\n$")
"""A line that the next one goes on, as the arguments of a call do."""
_FIRST = re.compile(rb"(?:|.*[(=])[ \t]*[A-Za-z]?['\"]{1,3}")
"""What stands in a line in front of a name that a call registers something by."""
_ANNOTATED = re.compile(rb"[ \t]*(?!(?:else|try|finally)\b)\w+[ \t]*:")
"""The start of a line with a name and its type."""
_BRACKET = re.compile(rb"[()\[\]{}]")
_BEFORE_TARGETS = (b"for", b"as", b"with", b"in", b"del")
"""What stands before brackets with something in them that is bound; other words are called, or have an item."""
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
    if _DEFINED.search(data[max(start - _NEAR, 0) : start]):
        return True
    behind = _BEHIND.match(data, end)
    if behind is None:
        return False
    line = data.rfind(b"\n", 0, start) + 1
    front = data[line:start].rstrip(b" \t")
    if len(front) > _LONGEST_FRONT:
        return True
    sign = behind[0][-1:]
    if front.endswith(_QUOTES) or sign in _QUOTES:
        return front[-1:] == sign and b"register_" in data and bool(_FIRST.fullmatch(front))
    if front.endswith(b"."):
        return _may_be_target(front, data, end) if sign not in _BOUND else not _ANNOTATED.match(front)
    is_argument = _GOES_ON.search(data[max(line - _LONGEST_FRONT, 0) : line])
    return _may_begin(front) and not is_argument and not _is_local(data, line, start)


def _may_begin(front: bytes) -> bool:
    """Whether what stands in a line in front of a name of a class's body lets that be bound: nothing, or other targets."""
    statement = front.strip(b" \t")
    if statement.startswith(b"class"):
        statement = statement.rpartition(b":")[2]
    *targets, last = statement.rpartition(b";")[2].replace(b"=", b",").split(b",")
    return not last.strip() and all(map(_NAMES.fullmatch, targets))


def _is_local(data: bytes, line: int, start: int) -> bool:
    """Whether a line stands in a function, and not in the body of a class."""
    around = data[max(line - _AROUND, 0) : line]
    indent = len(data[line:start]) - len(data[line:start].lstrip(b" \t"))
    above = [match for match in _HEADER.finditer(around) if len(match[1]) < indent]
    return bool(above) and above[-1][2] != b"class"


def _may_be_target(front: bytes, data: bytes, end: int) -> bool:
    """Whether an attribute behind some part of a line may be bound there, and is not given to a call."""
    opened: list[bool] = []
    for match in _BRACKET.finditer(front):
        if match[0] in b"([{":
            before = front[: match.start()].rstrip(b" \t")
            opened.append(bool(_WORD.match(before[-1:])) and not before.endswith(_BEFORE_TARGETS))
        elif opened:
            opened.pop()
    if any(each in front for each in (*_QUOTES, b"#")):
        return True
    if opened or b"=" not in front:
        return not (opened and opened[-1])
    return b"=" in data[end : end + _LONGEST_FRONT].partition(b"\n")[0]
