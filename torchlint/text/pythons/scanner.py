"""The strings, comments and brackets of a program, found without the tokenizer of the Python that runs.

Until Python 3.12 an f-string was one token: what stands in its fields is code only to later Pythons, and from 3.12 on that code
may hold the quotes of the string around it, comments, newlines and backslashes. `scan` reads by the rules of the newer ones,
whatever runs it. Offsets are in bytes of the UTF-8 text, as the parser counts columns. Time is linear in the text, and nesting
takes no stack.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import accumulate
from typing import NamedTuple, TypeAlias

DEEPEST = 150
"""How many f-strings may stand in each other, as in Python 3.12."""

_NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*"
_TOKEN = re.compile(
    rb"""(?P<space>(?:[ \t\f]|\\(?:\r\n|\r|\n))+)|(?P<comment>\#[^\r\n]*)|(?P<newline>\r\n|\r|\n)"""
    rb"""|(?P<string>(?P<prefix>(?:[bB][rR]?|[rR][bBfFtT]?|[fFtT][rR]?|[uU])?)(?P<quote>'''|\"\"\"|'|\"))"""
    rb"""|(?P<name>""" + _NAME + rb""")|(?P<number>\.?[0-9][\w.]*)|(?P<operator>[!=<>]=|->|:=|\*\*|[^\s])"""
)
_SPACE = rb"(?:[ \t\f\r\n]|#[^\r\n]*)*"
_AFTER_EXPRESSION = re.compile(rb"(?P<debug>=%b)?(?:!(?P<conversion>[rsa])%b)?" % (_SPACE, _SPACE))
_COMMENT = re.compile(rb"#[^\r\n]*")
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_STRING_REST = {
    b"'": re.compile(rb"[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'", re.DOTALL),
    b'"': re.compile(rb'[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"', re.DOTALL),
    b"'''": re.compile(rb"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''", re.DOTALL),
    b'"""': re.compile(rb'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""', re.DOTALL),
}


class ScanError(Exception):
    """The text cannot be Python: a string or a bracket is not closed, or a field is malformed."""


class EncodedText:
    """A text in UTF-8, in which offsets and the parser's places, rows from 1 and columns from 0, are converted."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def _line_starts(self) -> list[int]:
        lines = self.data.splitlines(keepends=True)  # of bytes: at the newlines that Python knows, and no others
        return list(accumulate(map(len, lines[:-1]), initial=0))

    def offset(self, row: int, column: int) -> int:
        """The offset of a place."""
        return self._line_starts[row - 1] + column

    def place(self, offset: int) -> tuple[int, int]:
        """The place of an offset."""
        row = bisect_right(self._line_starts, offset)
        return row, offset - self._line_starts[row - 1]


class Token(NamedTuple):
    """A name, operator, bracket or number of the program; a newline where it ends a statement.

    For a string, ``text`` is but ``""``, with an f in front for f-strings and t-strings. ``depth`` says how many brackets and
    fields stand around it; an opening bracket has that of its closing one.
    """

    text: bytes
    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True)
class Literal:
    """A stretch of text between two fields; ``verbatim`` is the ``name =`` of a field for debugging, which is text as well."""

    start: int
    end: int
    verbatim: bool = False


@dataclass(slots=True)
class Field:
    """A replacement field, from brace to brace.

    ``code`` is its expression with the space around it, ``debug`` whether a ``=`` follows, ``format_spec`` what follows the
    colon, from the colon on.
    """

    start: int
    code: Code
    end: int = 0
    debug: bool = False
    conversion: bytes = b""
    format_spec: FormatSpec | None = None


@dataclass(slots=True)
class FormatSpec:
    """The format spec of a field."""

    start: int
    end: int = 0
    pieces: list[Piece] = field(default_factory=list)


Piece: TypeAlias = Literal | Field


@dataclass(slots=True)
class String:
    """A string literal, from its prefix to its closing quote; ``pieces`` are what an f-string or a t-string consists of."""

    start: int
    prefix: bytes
    quote: bytes
    end: int = 0
    pieces: list[Piece] = field(default_factory=list)

    @property
    def is_formatted(self) -> bool:
        """Whether it is an f-string or a t-string."""
        return b"f" in self.prefix or b"t" in self.prefix

    def parts(self) -> Sequence[Piece]:
        """What it consists of: one literal, with its quotes, for a string that can have no fields."""
        return self.pieces if self.is_formatted else (Literal(self.start, self.end),)


@dataclass(slots=True)
class Strings:
    """Strings that stand next to each other and so make one, at least one of them an f-string or a t-string.

    ``nested`` are those in their fields, at any depth, for strings that are in no field themselves.
    """

    members: list[String] = field(default_factory=list)
    nested: list[Strings] = field(default_factory=list)

    def pieces(self) -> Iterator[Piece]:
        """The parts of all members."""
        for string in self.members:
            yield from string.parts()

    @property
    def start(self) -> int:
        """The offset at which the first one starts."""
        return self.members[0].start

    @property
    def end(self) -> int:
        """The offset just behind the last one."""
        return self.members[-1].end


@dataclass(slots=True)
class Code:
    """A stretch of code: the file, or what stands in a field, where ``first`` and ``last`` are the ends of the expression."""

    start: int
    end: int = 0
    first: int = -1
    last: int = -1
    strings: list[Strings] = field(default_factory=list)


@dataclass(slots=True)
class Scan:
    """What `scan` found: the file's code, its tokens (also those in fields), and the comments in fields."""

    code: Code
    tokens: list[Token]
    comments: list[tuple[int, int]]


def scan(data: bytes) -> Scan:
    """The tokens and f-strings of a program in UTF-8; raises `ScanError`."""
    return _Scanner(data, 0, len(data)).scan()


def scan_strings(data: bytes, start: int, end: int) -> Strings:
    """The strings that stand next to each other from ``start`` to ``end``; raises `ScanError` where other things do."""
    found = _Scanner(data, start, end, depth=1).scan().code.strings
    if len(found) != 1 or (found[0].start, found[0].end) != (start, end):
        raise ScanError
    return found[0]


@dataclass(slots=True)
class _InCode:
    """The scanner is in code: that of the file, or that of a field."""

    code: Code
    of: Field | None = None
    brackets: list[bytes] = field(default_factory=list)
    strings: Strings = field(default_factory=Strings)


@dataclass(slots=True)
class _InText:
    """The scanner is in the text of ``string``, or in the format spec of a field of it."""

    string: String
    pieces: list[Piece]
    spec_of: Field | None = None


class _Scanner:
    def __init__(self, data: bytes, start: int, end: int, depth: int = 0) -> None:
        self._data = data
        self._position = start
        self._end = end
        self._stack: list[_InCode | _InText] = []
        self._depth = depth
        self._nested: list[Strings] = []
        self._result = Scan(Code(start, end), [], [])

    def scan(self) -> Scan:
        root = _InCode(self._result.code)
        self._stack.append(root)
        while self._position < self._end or len(self._stack) > 1:
            state = self._stack[-1]
            if isinstance(state, _InText):
                self._text(state)
            else:
                self._code(state)
        if root.brackets:
            raise ScanError
        self._end_strings(root)
        return self._result

    # --- code --------------------------------------------------------------------------------------------------------

    def _code(self, state: _InCode) -> None:
        """Reads the next token of code."""
        match = _TOKEN.match(self._data, self._position, self._end)
        if match is None:
            raise ScanError
        self._position = match.end()
        kind = match.lastgroup
        if kind == "comment" and len(self._stack) > 1:
            self._result.comments.append(match.span())
        elif kind == "newline" and not self._depth:
            self._end_strings(state)
            self._token(b"\n", match.start())
        elif kind == "string":
            self._string(state, match)
        elif kind in ("name", "number", "operator"):
            self._end_strings(state)
            self._operator(state, match.group(), match.start())

    def _operator(self, state: _InCode, text: bytes, start: int) -> None:
        """Takes a token that is no string."""
        if state.of is not None and not state.brackets and text in (b"}", b":", b":=", b"!", b"="):
            self._end_expression(state, state.of, start)
            return
        if text in (b")", b"]", b"}"):
            if not state.brackets or _CLOSING[state.brackets.pop()] != text:
                raise ScanError
            self._depth -= 1
        self._token(text, start)
        if text in _CLOSING:
            state.brackets.append(text)
            self._depth += 1
        self._note(state, start, self._position)

    def _token(self, text: bytes, start: int) -> None:
        self._result.tokens.append(Token(text, start, self._position, self._depth))

    @staticmethod
    def _note(state: _InCode, start: int, end: int) -> None:
        """Keeps where the code's tokens start and end."""
        if state.code.first < 0:
            state.code.first = start
        state.code.last = end

    def _string(self, state: _InCode, match: re.Match[bytes]) -> None:
        """Takes the opening of a string, and all of it unless it has fields."""
        string = String(match.start(), match["prefix"].lower(), match["quote"])
        state.strings.members.append(string)
        if string.is_formatted:
            if len(self._stack) > 2 * DEEPEST:
                raise ScanError
            self._stack.append(_InText(string, string.pieces))
            return
        rest = _STRING_REST[string.quote].match(self._data, match.end(), self._end)
        if rest is None:
            raise ScanError
        self._position = string.end = rest.end()
        self._end_string(state, string)

    def _end_string(self, state: _InCode, string: String) -> None:
        self._token(b'f""' if string.is_formatted else b'""', string.start)
        self._note(state, string.start, string.end)

    def _end_strings(self, state: _InCode) -> None:
        """Ends the row of strings that stand next to each other."""
        strings = state.strings
        if not strings.members:
            return
        if any(string.is_formatted for string in strings.members):
            state.code.strings.append(strings)
            if len(self._stack) > 1:
                self._nested.append(strings)
            else:
                strings.nested, self._nested = self._nested, []
        state.strings = Strings()

    # --- f-strings ---------------------------------------------------------------------------------------------------

    def _text(self, state: _InText) -> None:
        """Reads text up to the next field, or to the end of the string or of the format spec."""
        string, start = state.string, self._position
        text, format_spec = _text_patterns(string.quote, b"r" in string.prefix)
        match = (format_spec if state.spec_of else text).match(self._data, start, self._end)
        assert match is not None
        self._position = stop = match.end()
        if stop > start:
            state.pieces.append(Literal(start, stop))
        if self._data.startswith(b"{", stop, self._end):
            self._position += 1
            self._token(b"{", stop)
            self._depth += 1
            code = Code(stop + 1)
            self._stack.append(_InCode(code, Field(stop, code)))
        elif state.spec_of is not None:
            self._end_field(state.spec_of)
        elif self._data.startswith(string.quote, stop, self._end):
            self._position = string.end = stop + len(string.quote)
            self._stack.pop()
            around = self._stack[-1]
            assert isinstance(around, _InCode)
            self._end_string(around, string)
        else:
            raise ScanError

    def _end_expression(self, state: _InCode, found: Field, end: int) -> None:
        """Takes what follows the expression of a field: ``=``, a conversion, and the start of a format spec or the end."""
        if state.code.first < 0:
            raise ScanError
        state.code.end = end
        after = _AFTER_EXPRESSION.match(self._data, end, self._end)
        assert after is not None
        self._result.comments += [comment.span() for comment in _COMMENT.finditer(self._data, end, after.end())]
        self._stack.pop()
        around = self._stack[-1]
        assert isinstance(around, _InText)
        found.conversion = after["conversion"] or b""
        if after["debug"]:
            found.debug = True
            around.pieces.append(Literal(state.code.start, after.end("debug"), verbatim=True))
        around.pieces.append(found)
        self._position = after.end()
        if self._data.startswith(b":", self._position, self._end):
            spec = found.format_spec = FormatSpec(self._position)
            self._position += 1
            self._stack.append(_InText(around.string, spec.pieces, found))
            if len(self._stack) > 2 * DEEPEST:
                raise ScanError
        else:
            self._end_field(found, pop=False)

    def _end_field(self, found: Field, *, pop: bool = True) -> None:
        """Takes the closing brace of a field."""
        if not self._data.startswith(b"}", self._position, self._end):
            raise ScanError
        if found.format_spec is not None:
            found.format_spec.end = self._position
        if pop:
            self._stack.pop()
        self._depth -= 1
        self._token(b"}", self._position)
        self._position += 1
        found.end = self._position


@cache
def _text_patterns(quote: bytes, raw: bool) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """The literal text of an f-string with this ``quote``: in the string itself, and in the format specs of its fields.

    A backslash does not hide a brace, and braces are doubled in the string itself only.
    """
    if len(quote) == 3:
        plain = rb"[^{}\\%b]+|%b(?!%b)" % (quote[:1], quote[:1], quote[1:])
    else:
        plain = rb"[^{}\\\r\n%b]+" % quote
    named = rb"" if raw else rb"\\N\{[^{}\r\n]{1,120}\}|"
    both = plain + rb"|" + named + rb"\\(?:\r\n|[^{}]|(?=[{}]))"
    return re.compile(rb"(?:%b|\{\{|\}\})*" % both), re.compile(rb"(?:%b)*" % both)
