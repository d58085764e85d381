"""What a rule needs of a file's bytes, told without parsing them, in whatever layout Python takes.

Between a name and its dot or bracket Python takes blanks, backslashes with line breaks, and within brackets line breaks and
comments; around a name, parentheses. Hardly anyone writes so. Screens look for the usual spelling, ``.cuda(``, and for
the names that stand apart from their dot or bracket anywhere in the file (`names_apart`, which is computed once for all rules).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

GAP = rb"[\s\\)]*"
"""What may stand between a name and its bracket, but for comments."""
_ITEM = rb"\][\s\\)]*(?:#[^\r\n]{0,300}[\r\n][\s\\)]*\)[\s\\)]*)?"
STORE = _ITEM + rb"=(?!=)"
"""A store in an item of something: ``y[0] = 1``."""
_STORE_OF_MANY = _ITEM + rb"(?::[^=\r\n]+|,[^=\r\n]*)=(?!=)"  # y[0], z = 1, 2
WRITES = STORE + b"|" + _STORE_OF_MANY + rb"|[-+*/|&^%@]=|<<=|>>=|\w_" + GAP + rb"[(#]|\bout[\s\\]*(?:=(?!=)|#)"
"""A change in place of a tensor or an array: a store, an augmented assignment, a method, ``out=``."""
ARRAY_METHODS = frozenset({b".fill", b".sort", b".partition", b".put"})
WRITES_OF_ARRAYS = rb"\.(?:fill|sort|partition|put)\(|shuffle"
"""A call that changes an array in place."""


_NN = re.compile(rb"nn(?<!\wnn)\b")


def given(name: bytes, value: bytes) -> bytes:
    """A pattern for what gives the parameter ``name`` the value that is written as ``value``."""
    return name + rb"[\s\\)]*(?:#|=[\s\\(]*(?:" + value + rb"|#))"


def is_about_torch(data: bytes) -> bool:
    """Whether a file speaks of torch, or of its ``nn`` as snippets do that import nothing."""
    return b"torch" in data or (b"nn" in data and _NN.search(data) is not None)


_EVERYTHING = b""
"""Stands for all names, where what stands between a name and its bracket is longer than it pays to look."""
_FAR, _COMMENTS = 300, 5
"""So many bytes in front of a bracket, or of a comment, are looked at, and so many comments in a row."""
_BLANKS = b" \t\r\n\f\v\\)"
_DOT = re.compile(
    rb"\.(?=[\s\\#])(?=([\s\\]*(?:#[^\r\n]{0,%d}[\r\n][\s\\]*){0,%d}))\1([^\W\d]\w*|#)" % (_FAR, _COMMENTS)
)  # the look-ahead takes what it can and gives nothing back
_BRACKET = re.compile(rb"\((?:(?<=\w[\s\\)]\()|(?<=[\s\\)]{2}\()|(?<=[\r\n]\())")
_WORD = re.compile(rb"\w*\Z")


@dataclass(frozen=True, slots=True)
class Screen:
    """A cheap necessary condition on a file's bytes: without it, the rule has nothing to find there.

    The bytes must hold one of the words ``any_of``. They must also hold one of ``and_any_of``, and a match of ``pattern``,
    where these are given, and ``check`` must hold: these may take the usual layout for granted for calls of ``names``, and for
    the dots in front of those that begin with one. A file where one of them stands apart from its bracket or dot passes anyway.
    """

    any_of: tuple[bytes, ...]
    pattern: re.Pattern[bytes] | None = None
    check: Callable[[bytes], bool] | None = None
    and_any_of: tuple[bytes, ...] = ()
    names: frozenset[bytes] = field(default=frozenset())

    def passes(self, data: bytes) -> bool:
        """Whether a file with these bytes could hold a finding."""
        if not _holds_any(data, self.any_of):
            return False
        return self._passes_as_usual(data) or (bool(self.names) and _any_apart(data, self.names))

    def _passes_as_usual(self, data: bytes) -> bool:
        if self.and_any_of and not _holds_any(data, self.and_any_of):
            return False
        if self.pattern is not None and self.pattern.search(data) is None:
            return False
        return self.check is None or self.check(data)


def _holds_any(data: bytes, parts: tuple[bytes, ...]) -> bool:
    for part in parts:  # noqa: SIM110 - a loop, as `any` of a generator takes several times as long
        if part in data:
            return True
    return False


def _any_apart(data: bytes, names: frozenset[bytes]) -> bool:
    apart = names_apart(data)
    return _EVERYTHING in apart or not apart.isdisjoint(names)


@lru_cache(maxsize=1)
def names_apart(data: bytes) -> frozenset[bytes]:
    """The names that stand apart from the bracket or the dot next to them: ``cuda (``, ``x. cuda``, ``(x.cuda)()``.

    With a dot in front those that have one, which here are those behind a dot, and without it all those before a bracket. Words
    of comments and strings are among them.
    """
    found: set[bytes] = set()
    for match in _DOT.finditer(data):
        if b"#" not in match[0] or not _ends_comment(data, match.start()):
            found.add(_EVERYTHING if match[2] == b"#" else b"." + match[2])
    for match in _BRACKET.finditer(data):
        for name in _in_front(data, match.start(), _COMMENTS):
            found.add(name)
    return frozenset(found)


def _ends_comment(data: bytes, dot: int) -> bool:
    """Whether a dot, with a comment behind it, stands in one itself: a sign in front of it, which no string can hold."""
    line = data[max(data.rfind(b"\n", 0, dot), data.rfind(b"\r", 0, dot), dot - _FAR) + 1 : dot]
    return b"#" in line and b"'" not in line and b'"' not in line


def _in_front(data: bytes, end: int, comments: int) -> Iterator[bytes]:
    """The name that ends in front of ``end`` but for a gap, or those where one of several signs may start a comment."""
    start = max(end - _FAR, 0)
    head = data[start:end].rstrip(_BLANKS)
    if not head:
        if start:
            yield _EVERYTHING
        return
    place = start + len(head)
    if name := _WORD.search(head, max(len(head) - 60, 0)):
        if name.group():
            yield name.group()
            if head[: name.start()].endswith(b"."):
                yield b"." + name.group()
    gap = data[place:end]
    if b"\n" not in gap and b"\r" not in gap:
        return
    line = max(head.rfind(b"\n"), head.rfind(b"\r")) + 1
    if not line and start:
        yield _EVERYTHING  # the line is longer than what is looked at
    sign = head.find(b"#", line)
    while sign >= 0:
        if not comments:
            yield _EVERYTHING
            return
        yield from _in_front(data, start + sign, comments - 1)
        sign = head.find(b"#", sign + 1)
