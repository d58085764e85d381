"""Right positions for what is within f-strings, which Python before 3.12 gets wrong.

Up to Python 3.11 the parser reads an f-string as one token and compiles its expressions afterwards, guessing where they
stand. Fields, format specs and literal parts get the place of the whole string, a tuple without parentheses gets one
character too many on both sides, and what is in an f-string of several lines within another gets a wrong column (seen on
3.10.13 and 3.11.7). The f-string as a whole, though, is where the parser says. So this module reads its text again, finds
each expression, parses it by itself, and gives every node the place that Python 3.13 gives it.

An f-string whose text does not read like its nodes is left *unplaced*: see `is_placed`.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby

from torchlint.source import Source

_OPENING = re.compile(rb"""[fF][rR]?["']""")
_BETWEEN_STRINGS = re.compile(rb"(?:[\s\\]|#[^\r\n]*)*")
_STRING_START = re.compile(rb"""([A-Za-z]*)('''|\"\"\"|'|\")""")
_STRING_REST = {
    b"'": re.compile(rb"[^'\\]*(?:\\.[^'\\]*)*'", re.DOTALL),
    b'"': re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL),
    b"'''": re.compile(rb"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''", re.DOTALL),
    b'"""': re.compile(rb'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""', re.DOTALL),
}
_EXPRESSION_TOKEN = re.compile(
    rb"""'''.*?'''|\"\"\".*?\"\"\"|'[^']*'|"[^"]*"|[!=<>]=|[\[({]|[\])}]|[!:=]""",
    re.DOTALL,
)
_AFTER_EXPRESSION = re.compile(rb"(?P<debug>=\s*)?(?:![A-Za-z])?")


@dataclass(frozen=True, slots=True)
class _Grammar:
    """How the literal parts of an f-string read: in it itself, and in the format specs of its fields."""

    text: re.Pattern[bytes]
    format_spec: re.Pattern[bytes]


# A backslash does not hide a brace, and braces are doubled in the string itself only.
_PLAIN = _Grammar(
    text=re.compile(rb"(?:[^{}\\]+|\\N\{[^}]*\}|\\[^{}]?|\{\{|\}\})*"),
    format_spec=re.compile(rb"(?:[^{}\\]+|\\N\{[^}]*\}|\\[^{}]?)*"),
)
_RAW = _Grammar(text=re.compile(rb"(?:[^{}]+|\{\{|\}\})*"), format_spec=re.compile(rb"[^{}]*"))


@dataclass(frozen=True, slots=True)
class _Literal:
    """A stretch of text between two fields; with the ``name =`` of a field for debugging, which is text as well."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _FormatSpec:
    """What follows the colon of a field, from the colon on."""

    start: int
    end: int
    pieces: Sequence[_Piece]


@dataclass(frozen=True, slots=True)
class _Field:
    """A replacement field, from brace to brace, and where its expression stands in it."""

    start: int
    end: int
    expression: tuple[int, int]
    format_spec: _FormatSpec | None


_Piece = _Literal | _Field


class _Mismatch(Exception):
    """The text of an f-string does not read like its nodes."""


class _Text:
    """A text as the parser counts in it: rows from 1, columns from 0 in UTF-8 bytes; offsets here are in bytes, too."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8")

    @cached_property
    def _line_starts(self) -> list[int]:
        lines = self.data.splitlines(keepends=True)  # of bytes: at the newlines that Python knows, and no others
        return list(accumulate(map(len, lines[:-1]), initial=0))

    def offset(self, row: int, column: int) -> int:
        return self._line_starts[row - 1] + column

    def place(self, offset: int) -> tuple[int, int]:
        row = bisect_right(self._line_starts, offset)
        return row, offset - self._line_starts[row - 1]


def correct_positions(tree: ast.Module, source: Source) -> None:
    """Gives the nodes within the f-strings of ``tree``, the tree of ``source``, their right positions, in place.

    For trees of Python 3.10 and 3.11: later ones are right as they are, and their f-strings may hold what is not read here.
    """
    text = _Text(source.text)
    rows = [text.place(match.start())[0] for match in _OPENING.finditer(text.data)]
    if not rows:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the expressions are parsed again: what there is to say has been said
        for string in _outermost_strings(tree, rows):
            _place_string(string, text)


def is_placed(node: ast.expr | ast.keyword | ast.arg) -> bool:
    """Whether it is known where ``node`` stands.

    It is not for the nodes within an f-string that `correct_positions` could not read. They have no end (``end_lineno`` and
    ``end_col_offset`` are None, so that `Source.end` and `Source.segment` refuse them), and the start of the f-string.
    """
    return node.end_lineno is not None


# --- nodes -----------------------------------------------------------------------------------------------------------


def _outermost_strings(tree: ast.Module, rows: Sequence[int]) -> Iterator[ast.JoinedStr]:
    """The f-strings of ``tree`` that are in no other; ``rows`` are the lines on which one may start, in order."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.JoinedStr):
            yield node
        else:
            pending.extend(child for child in ast.iter_child_nodes(node) if _covers_any(child, rows))


def _covers_any(node: ast.AST, rows: Sequence[int]) -> bool:
    """Whether one of ``rows`` may be a line of ``node``."""
    if not isinstance(node, (ast.stmt, ast.expr)):
        return True
    first, last = node.lineno, node.end_lineno
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.decorator_list:
        first = node.decorator_list[0].lineno
    index = bisect_left(rows, first)
    return index < len(rows) and (last is None or rows[index] <= last)


def _place_string(string: ast.JoinedStr, text: _Text) -> None:
    """Places all that is within ``string``, which is itself in its place, or unplaces it."""
    assert string.end_lineno is not None and string.end_col_offset is not None
    start = text.offset(string.lineno, string.col_offset)
    end = text.offset(string.end_lineno, string.end_col_offset)
    try:
        _place_values(string.values, _scan_strings(text.data, start, end), text)
    except _Mismatch:
        _unplace(string)


def _place_values(values: Sequence[ast.expr], pieces: Iterable[_Piece], text: _Text) -> None:
    remaining = _merge_literals(pieces)
    for value in values:
        piece = next(remaining, None)
        if isinstance(value, ast.FormattedValue) and isinstance(piece, _Literal):
            piece = next(remaining, None)  # that was an empty string or a continued line: text, but no value
        match value, piece:
            case ast.Constant(), _Literal():
                _set_position(value, text.place(piece.start), text.place(piece.end))
            case ast.FormattedValue(), _Field():
                _place_field(value, piece, text)
            case _:
                raise _Mismatch
    if any(isinstance(piece, _Field) for piece in remaining):
        raise _Mismatch


def _merge_literals(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """``pieces`` with literals that follow each other made one, as they are one value in the tree."""
    for is_literal, group in groupby(pieces, lambda piece: isinstance(piece, _Literal)):
        run = list(group)
        if is_literal:
            yield _Literal(run[0].start, run[-1].end)
        else:
            yield from run


def _place_field(value: ast.FormattedValue, field: _Field, text: _Text) -> None:
    _set_position(value, text.place(field.start), text.place(field.end))
    _place_expression(value.value, *field.expression, text)
    match value.format_spec, field.format_spec:
        case None, None:
            pass
        case ast.JoinedStr() as node, _FormatSpec() as spec:
            _set_position(node, text.place(spec.start), text.place(spec.end))
            _place_values(node.values, spec.pieces, text)
        case _:
            raise _Mismatch


def _place_expression(node: ast.expr, start: int, end: int, text: _Text) -> None:
    """Places ``node``, the expression that stands from ``start`` to ``end``, and all that is within it."""
    code = text.data[start:end]
    if isinstance(node, ast.Name) and code == node.id.encode("utf-8"):  # what most are: not worth a parser
        _set_position(node, text.place(start), text.place(end))
        return
    try:
        parsed = ast.parse(f"({code.decode('utf-8')})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _Mismatch from None
    row, column = text.place(start)
    strings = _copy_positions(parsed, node, row - 1, column - 1)
    if parsed.col_offset == 0 and parsed.lineno == 1:  # a tuple, whose parentheses are those added here
        bare_start = end - len(code.lstrip())
        bare_end = start + len(code.rstrip())
        _set_position(node, text.place(bare_start), text.place(bare_end))
    for string in strings:
        _place_string(string, text)


def _copy_positions(right: ast.expr, wrong: ast.expr, rows: int, columns: int) -> list[ast.JoinedStr]:
    """Gives ``wrong`` and all within it the positions in ``right``, its like, moved by ``rows`` and in row 1 by ``columns``.

    What is within an f-string is left as it is; the result is these f-strings.
    """
    strings: list[ast.JoinedStr] = []
    pending: list[tuple[object, object]] = [(right, wrong)]
    while pending:
        a, b = pending.pop()
        if type(a) is not type(b):
            raise _Mismatch
        if isinstance(a, ast.AST):
            if isinstance(a, (ast.expr, ast.keyword, ast.arg)) and isinstance(b, (ast.expr, ast.keyword, ast.arg)):
                assert a.end_lineno is not None and a.end_col_offset is not None
                start = a.lineno + rows, a.col_offset + (columns if a.lineno == 1 else 0)
                end = a.end_lineno + rows, a.end_col_offset + (columns if a.end_lineno == 1 else 0)
                _set_position(b, start, end)
            if isinstance(b, ast.JoinedStr):
                strings.append(b)
            else:
                pending.extend((getattr(a, name, None), getattr(b, name, None)) for name in a._fields)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                raise _Mismatch
            pending.extend(zip(a, b, strict=True))
        elif a != b:
            raise _Mismatch
    return strings


def _set_position(node: ast.expr | ast.keyword | ast.arg, start: tuple[int, int], end: tuple[int, int]) -> None:
    node.lineno, node.col_offset = start
    node.end_lineno, node.end_col_offset = end


def _unplace(string: ast.JoinedStr) -> None:
    """Takes the ends from all nodes within ``string`` and gives them its start."""
    for value in string.values:
        for node in ast.walk(value):
            if isinstance(node, (ast.expr, ast.keyword, ast.arg)):
                node.lineno, node.col_offset = string.lineno, string.col_offset
                node.end_lineno = node.end_col_offset = None


# --- text ------------------------------------------------------------------------------------------------------------


def _scan_strings(data: bytes, start: int, end: int) -> Iterator[_Piece]:
    """What the strings that stand next to each other from ``start`` to ``end`` consist of; of those without f, one literal."""
    position = start
    while position < end:
        opening = _STRING_START.match(data, position, end)
        if opening is None:
            raise _Mismatch
        prefix, quote = opening.group(1).lower(), opening.group(2)
        rest = _STRING_REST[quote].match(data, opening.end(), end)
        if rest is None:
            raise _Mismatch
        if b"f" in prefix:
            yield from _scan_body(data, opening.end(), rest.end() - len(quote), _RAW if b"r" in prefix else _PLAIN)
        else:
            yield _Literal(position, rest.end())
        position = _match(_BETWEEN_STRINGS, data, rest.end(), end).end()


def _scan_body(data: bytes, start: int, end: int, grammar: _Grammar) -> list[_Piece]:
    """What an f-string consists of whose text, the quotes left out, stands from ``start`` to ``end``."""
    pieces, stop = _scan_pieces(data, start, end, grammar, grammar.text)
    if stop != end:
        raise _Mismatch
    return pieces


def _scan_pieces(data: bytes, start: int, end: int, grammar: _Grammar, literal: re.Pattern[bytes]) -> tuple[list[_Piece], int]:
    """The literals and fields from ``start`` on, and the place of what is neither: a closing brace, or ``end``."""
    pieces: list[_Piece] = []
    position = start
    while True:
        stop = _match(literal, data, position, end).end()
        if stop > position:
            pieces.append(_Literal(position, stop))
        if not data.startswith(b"{", stop, end):
            return pieces, stop
        debug, field = _scan_field(data, stop, end, grammar)
        if debug is not None:
            pieces.append(debug)
        pieces.append(field)
        position = field.end


def _scan_field(data: bytes, start: int, end: int, grammar: _Grammar) -> tuple[_Literal | None, _Field]:
    """The field whose opening brace is at ``start``, and the text that it adds where it has a ``=``."""
    expression = start + 1, _expression_end(data, start + 1, end)
    after = _match(_AFTER_EXPRESSION, data, expression[1], end)
    debug = _Literal(expression[0], after.end("debug")) if after["debug"] else None
    format_spec = None
    stop = after.end()
    if data.startswith(b":", stop, end):
        pieces, spec_end = _scan_pieces(data, stop + 1, end, grammar, grammar.format_spec)
        format_spec = _FormatSpec(stop, spec_end, pieces)
        stop = spec_end
    if not data.startswith(b"}", stop, end):
        raise _Mismatch
    return debug, _Field(start, stop + 1, expression, format_spec)


def _expression_end(data: bytes, start: int, end: int) -> int:
    """Where the expression that starts at ``start`` ends: before ``=``, ``!``, ``:`` or ``}`` outside of all brackets."""
    depth = 0
    for token in _EXPRESSION_TOKEN.finditer(data, start, end):
        symbol = token.group()
        if symbol in (b"(", b"[", b"{"):
            depth += 1
        elif depth:
            depth -= symbol in (b")", b"]", b"}")
        elif symbol in (b"=", b"!", b":", b"}"):
            return token.start()
    raise _Mismatch


def _match(pattern: re.Pattern[bytes], data: bytes, start: int, end: int) -> re.Match[bytes]:
    """The match of a ``pattern`` that may be empty, and so always matches."""
    match = pattern.match(data, start, end)
    assert match is not None
    return match
