"""Right positions for what is within f-strings, which Python before 3.12 gets wrong.

Up to Python 3.11 the parser reads an f-string as one token and compiles its expressions afterwards, guessing where they
stand. Fields, format specs and literal parts get the place of the whole string, a tuple without parentheses gets one
character too many on both sides, and what is in an f-string of several lines within another gets a wrong column (seen on
3.11.7). The f-string as a whole, though, is where the parser says. So this module reads its text again, finds
each expression, parses it by itself, and gives every node the place that Python 3.13 gives it.

An f-string whose text does not read like its nodes is left *unplaced*: see `is_placed`.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from torchlint.text.pythons.scanner import EncodedText, Field, FormatSpec, Literal, Piece, ScanError, scan_strings

_OPENING = re.compile(rb"""[fF][rR]?["']""")


class _Mismatch(Exception):
    """The text of an f-string does not read like its nodes."""


def correct_positions(tree: ast.Module, text: str) -> None:
    """Gives the nodes within the f-strings of ``tree``, the tree of ``text``, their right positions, in place.

    For trees of Python 3.11: later ones are right as they are, and their f-strings may hold what is not read here.
    """
    encoded = EncodedText(text.encode("utf-8"))
    rows = [encoded.place(match.start())[0] for match in _OPENING.finditer(encoded.data)]
    if not rows:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the expressions are parsed again: what there is to say has been said
        for string in _outermost_strings(tree, rows):
            _place_string(string, encoded)


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


def _place_string(string: ast.JoinedStr, text: EncodedText) -> None:
    """Places all that is within ``string``, which is itself in its place, or unplaces it."""
    assert string.end_lineno is not None and string.end_col_offset is not None
    start = text.offset(string.lineno, string.col_offset)
    end = text.offset(string.end_lineno, string.end_col_offset)
    try:
        _place_values(string.values, scan_strings(text.data, start, end).pieces(), text)
    except (_Mismatch, ScanError):
        _unplace(string)


def _place_values(values: Sequence[ast.expr], pieces: Iterable[Piece], text: EncodedText) -> None:
    remaining = _merge_literals(pieces)
    for value in values:
        piece = next(remaining, None)
        if isinstance(value, ast.FormattedValue) and isinstance(piece, Literal):
            piece = next(remaining, None)  # that was an empty string or a continued line: text, but no value
        match value, piece:
            case ast.Constant(), Literal():
                _set_position(value, text.place(piece.start), text.place(piece.end))
            case ast.FormattedValue(), Field():
                _place_field(value, piece, text)
            case _:
                raise _Mismatch
    if any(isinstance(piece, Field) for piece in remaining):
        raise _Mismatch


def _merge_literals(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """``pieces`` with literals that follow each other made one, as they are one value in the tree."""
    for is_literal, group in groupby(pieces, lambda piece: isinstance(piece, Literal)):
        run = list(group)
        if is_literal:
            yield Literal(run[0].start, run[-1].end)
        else:
            yield from run


def _place_field(value: ast.FormattedValue, field: Field, text: EncodedText) -> None:
    _set_position(value, text.place(field.start), text.place(field.end))
    _place_expression(value.value, field.code.start, field.code.end, text)
    match value.format_spec, field.format_spec:
        case None, None:
            pass
        case ast.JoinedStr() as node, FormatSpec() as spec:
            _set_position(node, text.place(spec.start), text.place(spec.end))
            _place_values(node.values, spec.pieces, text)
        case _:
            raise _Mismatch


def _place_expression(node: ast.expr, start: int, end: int, text: EncodedText) -> None:
    """Places ``node``, the expression that stands from ``start`` to ``end``, and all that is within it."""
    code = text.data[start:end]
    if _is_dotted(node, code):  # as most are: not worth a parser
        _place_dotted(node, start, end, text)
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


def _is_dotted(node: ast.expr, code: bytes) -> bool:
    """Whether an expression is a chain of attributes of a name that is written with nothing in between: ``a.b.c``."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return isinstance(node, ast.Name) and code == ".".join((node.id, *reversed(names))).encode("utf-8")


def _place_dotted(node: ast.expr, start: int, end: int, text: EncodedText) -> None:
    while isinstance(node, ast.Attribute):
        _set_position(node, text.place(start), text.place(end))
        end -= len(f".{node.attr}".encode())
        node = node.value
    assert isinstance(node, ast.Name)
    _set_position(node, text.place(start), text.place(end))


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
