"""What in a text is syntax newer than the Python that runs, and what may stand in its place.

Each thing that is newer is replaced by something that every Python knows and that takes as many bytes, so that all nodes stand
where they stood: type parameters are blanked out, an f-string is an empty dict. `newer_code` reads the text by such a plan.

============  ======================================================================
3.12          ``def f[T]``, ``class A[T]``, ``type X = …``; f-strings that hold any code
3.13          defaults of type parameters
3.14          t-strings
============  ======================================================================

Names that older Pythons took, ``async`` and ``await``, are noted as well (see `older_names`).

``except A, B:`` of 3.14 is not among them: the same text has another meaning in Python 2, and stays an error.
"""

from __future__ import annotations

import ast
import keyword
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from torchlint.text.pythons.older_names import MENTIONED, older_names
from torchlint.text.pythons.scanner import EncodedText, ScanError, String, Strings, Token, scan

Version: TypeAlias = tuple[int, int]
Span: TypeAlias = tuple[int, int]

RUNNING: Version = sys.version_info[:2]

_NO_NEWLINE = re.compile(rb"[^\r\n]")
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")

_SPACE = rb"[\s\\]*"
_MAY_BE_NEWER = re.compile(
    rb"""[fFtT][rR]?["']|[rR][fFtT]["']|\b(?:(?:def|class)%b%b%b\[|type%b%b%b[=\[])|%b"""
    % (_SPACE, _NAME.pattern, _SPACE, _SPACE, _NAME.pattern, _SPACE, MENTIONED)
)


class Refused(Exception):
    """The code is not valid in any Python, or cannot be read in this way."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A type parameter: its stars, its name, and where it stands."""

    stars: bytes
    name: str
    start: int
    end: int
    bound: Span | None
    default: Span | None
    default_star: int | None


@dataclass(slots=True)
class Plan:
    """What in a text is replaced: ``edits`` of equal length, and the offsets at which nodes then need a change."""

    comments: list[Span] = field(default_factory=list)
    """The comments in f-strings."""
    edits: list[tuple[int, bytes]] = field(default_factory=list)
    parameters: dict[int, list[Parameter]] = field(default_factory=dict)
    """The type parameters of the definition or ``type`` statement that starts there."""
    aliases: list[int] = field(default_factory=list)
    strings: list[Strings] = field(default_factory=list)
    names: list[tuple[int, bytes]] = field(default_factory=list)
    """Where names are that have become keywords, and which."""
    versions: list[tuple[Version, int, int]] = field(default_factory=list)
    """For each thing that is newer the Python that has it, and where it stands."""


def planned(data: bytes, version: Version = RUNNING) -> Plan:
    """The plan for a text in UTF-8, empty where nothing in it is newer than ``version``; raises `Refused` or `ScanError`."""
    if not _MAY_BE_NEWER.search(data):  # most texts in Python 2 need no more than this glance
        return Plan()
    return _Planner(data, version).plan()


def version_needed(text: str, row: int, version: Version = RUNNING) -> Version | None:
    """The Python whose syntax, newer than ``version``, the text has on a row (from 1); None where it has none there."""
    try:
        data = text.encode()
        found = planned(data, version).versions
    except (Refused, ScanError, ValueError):
        return None
    lines = EncodedText(data)
    here = [since for since, start, end in found if lines.place(start)[0] <= row <= lines.place(end)[0]]
    return max(here, default=None)


class _Planner:
    """Finds what is newer than ``version`` in a text."""

    def __init__(self, data: bytes, version: Version) -> None:
        self._data = data
        self._version = version
        found = scan(data)
        self._tokens, self._strings = found.tokens, found.code.strings
        self._plan = Plan(found.comments)

    def plan(self) -> Plan:
        """The plan; raises `Refused`."""
        self._plan.names += older_names(self._tokens)
        if self._version < (3, 13):
            self._statements()
        for strings in self._strings:
            if (since := self._since(strings)) > self._version:
                self._plan.strings.append(strings)
                self._note(since, strings.start, strings.end)
        return self._plan

    def _since(self, strings: Strings) -> Version:
        """The Python that has come to know these strings, as far as the one that runs does not."""
        if any(b"t" in string.prefix for string in all_members(strings)):
            return (3, 14)
        if self._version >= (3, 12) or (self._version == RUNNING and _is_read(self._data[strings.start : strings.end])):
            return (3, 0)
        return (3, 12)

    def _edit(self, start: int, new: bytes, end: int | None = None) -> None:
        """Replaces what starts at ``start`` by ``new``, and what is between that and ``end`` by spaces."""
        rest = self._data[start + len(new) : end] if end is not None else b""
        self._plan.edits.append((start, new + blank(rest)))

    # --- statements --------------------------------------------------------------------------------------------------

    def _statements(self) -> None:
        """Plans type parameters and ``type`` statements."""
        before = b"\n"
        for index, token in enumerate(self._tokens[:-2]):
            if token.depth:
                continue
            name, following = self._tokens[index + 1 : index + 3]
            match token.text:
                case b"def" | b"class" if following.text == b"[" and _is_name(name.text):
                    self._definition(index, before)
                case b"type" if before in (b"\n", b";", b":") and following.text in (b"=", b"[") and _is_name(name.text):
                    self._alias(index)
            before = token.text

    def _definition(self, index: int, before: bytes) -> None:
        """Plans the type parameters of a function or a class: the parenthesis that follows them moves to their bracket.

        So they stand in parentheses, where newlines mean nothing.
        """
        keyword, opening = self._tokens[index], self._tokens[index + 2]
        close = self._closing(index + 2)
        following = self._tokens[close + 1] if close + 1 < len(self._tokens) else None
        parameters = self._parameters(index + 2, close)
        if not self._is_newer(keyword.start, self._tokens[close].end, parameters):
            return
        start = self._tokens[index - 1].start if before == b"async" else keyword.start
        self._plan.parameters[start] = parameters
        if following is not None and following.text == b"(":
            self._edit(opening.start, b"(", following.end)
        elif following is not None and following.text == b":" and keyword.text == b"class":
            self._edit(opening.start, b"(", self._tokens[close].start)
            self._edit(self._tokens[close].start, b")")
        else:
            raise Refused

    def _alias(self, index: int) -> None:
        """Plans a ``type`` statement: ``0  ; X = …``, or ``0  ; X[0 ] = …`` where it has parameters."""
        keyword, opening = self._tokens[index], self._tokens[index + 2]
        parameters = []
        if opening.text == b"[":
            close = self._closing(index + 2)
            if close + 1 == len(self._tokens) or self._tokens[close + 1].text != b"=":
                return
            parameters = self._parameters(index + 2, close)
        if self._is_newer(keyword.start, opening.end, parameters):
            self._plan.parameters[keyword.start] = parameters
            self._plan.aliases.append(keyword.start)
            self._edit(keyword.start, b"0  ;")
            if parameters:
                self._edit(opening.end, b"", parameters[0].start)
                self._edit(parameters[0].start, b"0", self._tokens[close].start)

    def _is_newer(self, start: int, end: int, parameters: Sequence[Parameter]) -> bool:
        """Whether a statement with these type parameters, which stands there, is newer."""
        since = (3, 13) if any(parameter.default for parameter in parameters) else (3, 12)
        if since <= self._version:
            return False
        self._note(since, start, end)
        return True

    def _note(self, since: Version, start: int, end: int) -> None:
        self._plan.versions.append((since, start, end))

    def _closing(self, index: int) -> int:
        """The index of the bracket that closes the one at ``index``."""
        depth = self._tokens[index].depth
        return next(other for other in range(index + 1, len(self._tokens)) if self._tokens[other].depth == depth)

    def _parameters(self, opening: int, close: int) -> list[Parameter]:
        """The type parameters between two brackets."""
        inner = self._tokens[opening].depth + 1
        tokens = self._tokens[opening + 1 : close]
        if tokens and tokens[-1].text == b",":
            tokens.pop()
        parts: list[list[Token]] = [[]]
        for token in tokens:
            if token.text == b"," and token.depth == inner:
                parts.append([])
            else:
                parts[-1].append(token)
        return [_parameter(part, inner) for part in parts]


def _parameter(tokens: Sequence[Token], depth: int) -> Parameter:
    """The type parameter that ``tokens`` are, in brackets of this depth."""
    stars = tokens[0].text if tokens and tokens[0].text in (b"*", b"**") else b""
    name = next(iter(tokens[1 if stars else 0 :]), None)
    if name is None or not _is_name(name.text) or any(token.text == b'f""' for token in tokens):
        raise Refused
    rest = tokens[2 if stars else 1 :]
    equals = next((index for index, token in enumerate(rest) if token.text == b"=" and token.depth == depth), len(rest))
    bound, default = rest[:equals], rest[equals:]
    if stars and bound:
        raise Refused
    star = default[1].start if stars == b"*" and len(default) > 2 and default[1].text == b"*" else None
    return Parameter(
        stars,
        name.text.decode(),
        tokens[0].start,
        tokens[-1].end,
        _bare(bound, b":", 1),
        _bare(default, b"=", 1 if star is None else 2),
        star,
    )


def _bare(tokens: Sequence[Token], sign: bytes, skipped: int) -> Span | None:
    """Where the expression behind ``sign`` is; None where there are no tokens at all."""
    if not tokens:
        return None
    if tokens[0].text != sign or len(tokens) <= skipped:
        raise Refused
    return tokens[skipped].start, tokens[-1].end


def _is_name(text: bytes) -> bool:
    return _NAME.fullmatch(text) is not None and not keyword.iskeyword(text.decode())


def _is_read(strings: bytes) -> bool:
    """Whether the Python that runs can read strings."""
    try:
        ast.parse(f"({strings.decode()})")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def all_members(strings: Strings) -> Iterator[String]:
    for each in (strings, *strings.nested):
        yield from each.members


def blank(data: bytes | bytearray) -> bytes:
    """As many spaces as there are bytes, and the newlines."""
    return _NO_NEWLINE.sub(b" ", data)
