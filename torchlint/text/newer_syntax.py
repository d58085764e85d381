"""Code in syntax that is newer than the Python that runs: read all the same.

`read` is asked where `ast.parse` has refused a text. What is newer in it is replaced by something that every Python knows and
that takes as many bytes, so that all nodes stand where they stood: type parameters are blanked out, an f-string is an empty
dict. The tree of that is then given what a newer Python would have put there: the f-strings with their expressions, the type
parameters, the ``type`` statements. What is in a tree made so equals that of the newer Python, positions included.

============  ======================================================================
3.11          ``except*``; ``a[*b]``, ``*args: *Ts``
3.12          ``def f[T]``, ``class A[T]``, ``type X = …``; f-strings that hold any code
3.13          defaults of type parameters
3.14          t-strings
============  ======================================================================

``except A, B:`` of 3.14 is not among them: the same text has another meaning in Python 2, and stays an error.
"""

from __future__ import annotations

import ast
import keyword
import re
import sys
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, TypeAlias, TypeVar

from torchlint.text.scanner import EncodedText, Field, Literal, Piece, Scan, ScanError, String, Strings, Token, scan

Version: TypeAlias = tuple[int, int]
Place: TypeAlias = tuple[int, int]
Span: TypeAlias = tuple[int, int]
Part = TypeVar("Part")

RUNNING: Version = sys.version_info[:2]

_NEWLINE = re.compile(rb"\r\n|\r|\n")
_NO_NEWLINE = re.compile(rb"[^\r\n]")
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")

_SPACE = rb"[\s\\]*"
_MAY_BE_NEWER = re.compile(
    rb"""[fFtT][rR]?["']|[rR][fFtT]["']|\b(?:(?:def|class)%b%b%b\[|type%b%b%b[=\[]|except%b\*)"""
    % (_SPACE, _NAME.pattern, _SPACE, _SPACE, _NAME.pattern, _SPACE, _SPACE)
)


class _Refused(Exception):
    """The code is not valid in any Python, or cannot be read in this way."""


# --- nodes that older Pythons lack -----------------------------------------------------------------------------------


def _node_type(name: str, since: Version, base: type[ast.AST], *fields: str) -> Any:
    """The node type ``name`` of `ast`, or one like it before `ast` has it with all these ``fields``."""
    if since <= RUNNING:
        return getattr(ast, name)
    places = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return type(name, (base,), {"_fields": fields, "_attributes": places})


_PARAMETER_TYPES = {
    b"": _node_type("TypeVar", (3, 13), ast.AST, "name", "bound", "default_value"),
    b"*": _node_type("TypeVarTuple", (3, 13), ast.AST, "name", "default_value"),
    b"**": _node_type("ParamSpec", (3, 13), ast.AST, "name", "default_value"),
}
_TYPE_ALIAS = _node_type("TypeAlias", (3, 12), ast.stmt, "name", "type_params", "value")
_TEMPLATE = _node_type("TemplateStr", (3, 14), ast.expr, "values")
_INTERPOLATION = _node_type("Interpolation", (3, 14), ast.expr, "value", "str", "conversion", "format_spec")


# --- the plan --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A type parameter: its stars, its name, and where it stands."""

    stars: bytes
    name: str
    start: int
    end: int
    bound: Span | None
    default: Span | None
    default_star: int | None


@dataclass(slots=True)
class _Plan:
    """What in a text is replaced: ``edits`` of equal length, and the offsets at which nodes then need a change."""

    scan: Scan
    edits: list[tuple[int, bytes]] = field(default_factory=list)
    parameters: dict[int, list[_Parameter]] = field(default_factory=dict)
    """The type parameters of the definition or ``type`` statement that starts there."""
    handlers: list[int] = field(default_factory=list)
    aliases: list[int] = field(default_factory=list)
    stars: list[int] = field(default_factory=list)
    strings: list[Strings] = field(default_factory=list)
    versions: list[tuple[Version, int, int]] = field(default_factory=list)
    """For each thing that is newer the Python that has it, and where it stands."""


class _Planner:
    """Finds what is newer than ``version`` in a text."""

    def __init__(self, data: bytes, version: Version) -> None:
        self._data = data
        self._version = version
        self._plan = _Plan(scan(data))
        self._tokens = self._plan.scan.tokens
        self._replaced: list[int] = []
        """The indices of the tokens at which type parameters that are replaced start, and of those behind them, by turns."""

    def plan(self) -> _Plan:
        """The plan; raises `_Refused`."""
        if self._version < (3, 13):
            self._statements()
        if self._version < (3, 11):
            self._stars()
        for strings in self._plan.scan.code.strings:
            if (since := self._since(strings)) > self._version:
                self._plan.strings.append(strings)
                self._note(since, strings.start, strings.end)
        return self._plan

    def _since(self, strings: Strings) -> Version:
        """The Python that has come to know these strings, as far as the one that runs does not."""
        if any(b"t" in string.prefix for string in _all_members(strings)):
            return (3, 14)
        if self._version >= (3, 12) or (self._version == RUNNING and _is_read(self._data[strings.start : strings.end])):
            return (3, 0)
        return (3, 12)

    def _edit(self, start: int, new: bytes, end: int | None = None) -> None:
        """Replaces what starts at ``start`` by ``new``, and what is between that and ``end`` by spaces."""
        rest = self._data[start + len(new) : end] if end is not None else b""
        self._plan.edits.append((start, new + _blank(rest)))

    # --- statements --------------------------------------------------------------------------------------------------

    def _statements(self) -> None:
        """Plans type parameters, ``type`` statements and ``except*``."""
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
                case b"except" if self._version < (3, 11) and name.text == b"*" and following.text != b":":
                    self._edit(name.start, b" ")
                    self._plan.handlers.append(token.start)
                    self._note((3, 11), token.start, name.end)
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
        self._replaced += [index + 2, close + 1]
        start = self._tokens[index - 1].start if before == b"async" else keyword.start
        self._plan.parameters[start] = parameters
        if following is not None and following.text == b"(":
            self._edit(opening.start, b"(", following.end)
        elif following is not None and following.text == b":" and keyword.text == b"class":
            self._edit(opening.start, b"(", self._tokens[close].start)
            self._edit(self._tokens[close].start, b")")
        else:
            raise _Refused

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
                self._replaced += [index + 2, close + 1]
                self._edit(opening.end, b"", parameters[0].start)
                self._edit(parameters[0].start, b"0", self._tokens[close].start)

    def _is_newer(self, start: int, end: int, parameters: Sequence[_Parameter]) -> bool:
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

    def _parameters(self, opening: int, close: int) -> list[_Parameter]:
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

    # --- stars -------------------------------------------------------------------------------------------------------

    def _stars(self) -> None:
        """Plans stars in subscripts and in the annotation of ``*args``: ``~`` for the star."""
        brackets: list[bool] = []
        before = b"\n"
        for index, token in enumerate(self._tokens):
            if bisect_right(self._replaced, index) % 2:
                continue
            if token.text == b"*" and brackets and (before in (b"[", b",") if brackets[-1] else before == b":"):
                self._edit(token.start, b"~")
                self._plan.stars.append(token.start)
                self._note((3, 11), token.start, token.end)
            elif token.text in (b"(", b"[", b"{"):
                brackets.append(token.text == b"[" and _ends_value(before))
            elif token.text in (b")", b"]", b"}"):
                brackets.pop()
            before = token.text


def _parameter(tokens: Sequence[Token], depth: int) -> _Parameter:
    """The type parameter that ``tokens`` are, in brackets of this depth."""
    stars = tokens[0].text if tokens and tokens[0].text in (b"*", b"**") else b""
    name = next(iter(tokens[1 if stars else 0 :]), None)
    if name is None or not _is_name(name.text) or any(token.text == b'f""' for token in tokens):
        raise _Refused
    rest = tokens[2 if stars else 1 :]
    equals = next((index for index, token in enumerate(rest) if token.text == b"=" and token.depth == depth), len(rest))
    bound, default = rest[:equals], rest[equals:]
    if stars and bound:
        raise _Refused
    star = default[1].start if stars == b"*" and len(default) > 2 and default[1].text == b"*" else None
    return _Parameter(
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
        raise _Refused
    return tokens[skipped].start, tokens[-1].end


def _is_name(text: bytes) -> bool:
    return _NAME.fullmatch(text) is not None and not keyword.iskeyword(text.decode())


def _ends_value(text: bytes) -> bool:
    """Whether a bracket behind this token is that of a subscript."""
    return (_is_name(text) and text != b"case") or text in (b")", b"]", b"}", b'""', b'f""')


def _is_read(strings: bytes) -> bool:
    """Whether the Python that runs can read strings."""
    try:
        ast.parse(f"({strings.decode()})")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _all_members(strings: Strings) -> Iterator[String]:
    for each in (strings, *strings.nested):
        yield from each.members


def _text_spans(string: String) -> Iterator[Span]:
    """Where a string is text, not code."""
    pieces = list(string.parts())
    while pieces:
        piece = pieces.pop()
        if isinstance(piece, Field):
            pieces += piece.format_spec.pieces if piece.format_spec else []
        elif not piece.verbatim:
            yield piece.start, piece.end


# --- text ------------------------------------------------------------------------------------------------------------


def _blank(data: bytes | bytearray) -> bytes:
    """As many spaces as there are bytes, and the newlines."""
    return _NO_NEWLINE.sub(b" ", data)


def _blank_text(data: bytes) -> str:
    """As many spaces as there are characters, and the newlines."""
    return re.sub(r"[^\r\n]", " ", data.decode())


def _rendered(data: bytes | bytearray, start: int, end: int, strings: Iterable[Strings]) -> bytes:
    """The text from ``start`` to ``end`` with ``{ }`` for each of the ``strings`` in it."""
    parts: list[bytes] = []
    for each in strings:
        parts += [bytes(data[start : each.start]), b"{", _blank(data[each.start + 1 : each.end - 1]), b"}"]
        start = each.end
    return b"".join([*parts, bytes(data[start:end])])


def _between(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """What is left of the text from ``start`` to ``end`` without the sorted ``spans``."""
    for first, last in spans[bisect_left(spans, (start, 0)) : bisect_left(spans, (end, 0))]:
        yield start, first
        start = last
    yield start, end


# --- reading ---------------------------------------------------------------------------------------------------------


class NewerCode:
    """A text that was read though the Python that runs cannot parse it.

    ``tree`` is its syntax tree; ``tokenizable`` the text with blanks for what the tokenizer would not take for what it is.
    """

    def __init__(self, data: bytes, plan: _Plan) -> None:
        self._data = data
        self._plan = plan
        self._lines = EncodedText(data)
        self.tree = self._read()

    # --- tokens ------------------------------------------------------------------------------------------------------

    @cached_property
    def tokenizable(self) -> str:
        """The text with blanks and braces for f-strings that the tokenizer does not know; comments in them stay."""
        parts: list[str] = []
        position = 0
        comments = self._plan.scan.comments
        for strings in self._plan.strings:
            parts += [self._data[position : strings.start].decode(), "{"]
            position = strings.start + 1
            for start, end in comments[bisect_left(comments, (strings.start, 0)) : bisect_left(comments, (strings.end, 0))]:
                parts += [_blank_text(self._data[position:start]), self._data[start:end].decode()]
                position = end
            parts += [_blank_text(self._data[position : strings.end - 1]), "}"]
            position = strings.end
        return "".join([*parts, self._data[position:].decode()])

    def mended(self, tokens: Iterable[tokenize.TokenInfo]) -> list[tokenize.TokenInfo]:
        """The tokens of ``tokenizable`` with the long strings that it lacks, and without the newlines of their text."""
        members = [string for strings in self._plan.strings for string in _all_members(strings)]
        joined = {row for string in members for span in _text_spans(string) for row in self._rows(*span)}
        kept = [token for token in tokens if token.type != tokenize.NL or token.start[0] not in joined]
        long = [self._string_token(string) for string in members if self._rows(string.start, string.end)]
        return sorted([*kept, *long], key=lambda token: token.start)

    def _rows(self, start: int, end: int) -> range:
        """The rows that end between two offsets."""
        return range(self._lines.place(start)[0], self._lines.place(end)[0])

    def _string_token(self, string: String) -> tokenize.TokenInfo:
        text = self._data[string.start : string.end].decode()
        return tokenize.TokenInfo(tokenize.STRING, text, self._place(string.start), self._place(string.end), "")

    def _place(self, offset: int) -> Place:
        """The row and column, in characters, of an offset."""
        row, column = self._lines.place(offset)
        return row, len(self._data[offset - column : offset].decode())

    # --- the tree ----------------------------------------------------------------------------------------------------

    def _read(self) -> ast.Module:
        plan = self._plan
        code = bytearray(self._data)
        for start, new in plan.edits:
            code[start : start + len(new)] = new
        tree = ast.parse(_rendered(code, 0, len(code), plan.strings).decode())
        if RUNNING < (3, 12):
            from torchlint.text.fstrings import correct_positions

            correct_positions(tree, self._data.decode())
        made = _Nodes(self._data, code, plan, self._lines)
        made.put_into(tree)
        return tree


@dataclass(slots=True)
class _Expression:
    """An expression that is parsed by itself: where it stands, what is parsed, and the node that this gives."""

    first: int
    last: int
    text: str
    node: ast.expr = field(default_factory=ast.expr)


class _Nodes:
    """The nodes that a newer Python would have made of what the plan replaces."""

    def __init__(self, data: bytes, code: bytes | bytearray, plan: _Plan, lines: EncodedText) -> None:
        self._data = data
        self._comments = plan.scan.comments
        self._lines = lines
        self._missing = 0
        strings = [each for outer in plan.strings for each in (outer, *outer.nested)]
        self._expressions = self._parsed({**_fields(strings, code), **_annotations(plan, data)})
        self._strings = {lines.place(each.start): self._string(each) for each in strings}
        self._parameters = {
            lines.place(start): [self._parameter(each) for each in found] for start, found in plan.parameters.items()
        }
        self._aliases = set(map(lines.place, plan.aliases))
        self._stars = set(map(lines.place, plan.stars))
        self._handlers = set(map(lines.place, plan.handlers))

    # --- expressions -------------------------------------------------------------------------------------------------

    def _parsed(self, expressions: dict[int, _Expression]) -> dict[int, _Expression]:
        """The expressions with their nodes, which stand where the text has them.

        All are parsed at once, each in parentheses on lines of its own.
        """
        statements = ast.parse("".join(f"({each.text})\n" for each in expressions.values())).body
        if len(statements) != len(expressions):
            raise _Refused
        row = 1
        for expression, statement in zip(expressions.values(), statements, strict=True):
            if not isinstance(statement, ast.Expr) or statement.lineno != row:
                raise _Refused
            expression.node = statement.value
            self._move(expression, row)
            row += 1 + len(_NEWLINE.findall(expression.text.encode()))
        return expressions

    def _move(self, expression: _Expression, row: int) -> None:
        """Moves the nodes of an expression, parsed behind a parenthesis at the start of ``row``, to its place."""
        value = expression.node
        rows, columns = self._lines.place(expression.first)
        bare = (value.lineno, value.col_offset) == (row, 0)  # the parentheses are taken for those of the expression
        for node in ast.walk(value):
            if isinstance(node, (ast.expr, ast.keyword, ast.arg)):
                assert node.end_lineno is not None and node.end_col_offset is not None
                node.col_offset += columns - 1 if node.lineno == row else 0
                node.end_col_offset += columns - 1 if node.end_lineno == row else 0
                node.lineno += rows - row
                node.end_lineno += rows - row
        if bare:
            if not isinstance(value, ast.Tuple):
                raise _Refused
            self._set_place(value, expression.first, expression.last)

    def _set_place(self, node: ast.AST, start: int, end: int) -> None:
        _set_places(node, self._lines.place(start), self._lines.place(end))

    # --- f-strings ---------------------------------------------------------------------------------------------------

    def _string(self, strings: Strings) -> ast.expr:
        """The node of strings that stand next to each other."""
        prefixes = [member.prefix for member in strings.members]
        template = all(b"t" in prefix for prefix in prefixes)
        if any(b"b" in prefix or (b"t" in prefix and not template) for prefix in prefixes):
            raise _Refused
        pieces = [(piece, member) for member in strings.members for piece in member.parts()]
        node = (_TEMPLATE if template else ast.JoinedStr)(values=self._values(pieces, template))
        self._set_place(node, strings.start, strings.end)
        assert isinstance(node, ast.expr)
        return node

    def _values(self, pieces: Iterable[tuple[Piece, String]], template: bool) -> list[ast.expr]:
        """The nodes of fields and of the text between them, which is one where several strings meet."""
        values: list[ast.expr] = []
        for is_text, group in groupby(pieces, lambda pair: isinstance(pair[0], Literal)):
            run = list(group)
            if is_text:
                text = "".join(self._text(piece, member) for piece, member in run if isinstance(piece, Literal))
                if text:
                    values.append(ast.Constant(text))
                    self._set_place(values[-1], run[0][0].start, run[-1][0].end)
            else:
                values += [self._field(piece, member, template) for piece, member in run if isinstance(piece, Field)]
        return values

    def _field(self, found: Field, string: String, template: bool) -> ast.expr:
        """The node of a replacement field."""
        value, spec = self._expressions[found.start].node, None
        if found.format_spec is not None:
            spec = ast.JoinedStr(values=self._values([(piece, string) for piece in found.format_spec.pieces], False))
            self._set_place(spec, found.format_spec.start, found.format_spec.end)
        conversion = found.conversion or (b"r" if found.debug and spec is None else b"")
        number = conversion[0] if conversion else -1
        if template:
            code = self._data[found.code.start : found.code.end].strip().decode()
            node: ast.expr = _INTERPOLATION(value=value, str=code, conversion=number, format_spec=spec)
        else:
            node = ast.FormattedValue(value=value, conversion=number, format_spec=spec)
        self._set_place(node, found.start, found.end)
        return node

    def _text(self, piece: Literal, string: String) -> str:
        """The value of a stretch of text."""
        code = list(_between(self._comments, piece.start, piece.end)) if piece.verbatim else [(piece.start, piece.end)]
        text = _NEWLINE.sub(b"\n", b"".join(self._data[start:end] for start, end in code)).decode()
        if not string.is_formatted:
            return str(_evaluated(text))
        if piece.verbatim:
            return text
        text = text.replace("{{", "{").replace("}}", "}")
        if "\\" not in text or b"r" in string.prefix:
            return text
        quote = string.quote.decode()
        return str(_evaluated(f"{quote}{text} {quote}"))[:-1]  # the space: the text may end in a quote or a backslash

    # --- type parameters ---------------------------------------------------------------------------------------------

    def _parameter(self, found: _Parameter) -> ast.AST:
        """The node of a type parameter."""
        default = self._expressions[found.default[0]].node if found.default else None
        if default is not None and found.default is not None and found.default_star is not None:
            default = ast.Starred(value=default, ctx=ast.Load())
            self._set_place(default, found.default_star, found.default[1])
        facts: dict[str, object] = {"name": found.name, "default_value": default}
        if not found.stars:
            facts["bound"] = self._expressions[found.bound[0]].node if found.bound else None
        node: ast.AST = _PARAMETER_TYPES[found.stars](**facts)
        self._set_place(node, found.start, found.end)
        return node

    # --- into the tree -----------------------------------------------------------------------------------------------

    def put_into(self, tree: ast.Module) -> None:
        """Puts the nodes into ``tree`` where their stand-ins are; raises `_Refused` where some are not."""
        made = set(self._strings.values())
        self._missing = len(made) + len(self._parameters) + len(self._stars)
        pending: list[ast.AST] = [tree, *made]
        while pending:
            node = pending.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._give_parameters(node)
            elif isinstance(node, ast.Try) and len({_place(handler) in self._handlers for handler in node.handlers}) > 1:
                raise _Refused
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list) and name != "type_params":
                    value[:] = [self._replaced(item, node) for item in self._with_aliases(value)]
                    pending += [item for item in value if isinstance(item, ast.AST) and item not in made]
                elif isinstance(value, ast.AST):
                    new = self._replaced(value, node)
                    setattr(node, name, new)
                    if new not in made:
                        pending.append(new)
        if self._missing:
            raise _Refused

    def _give_parameters(self, node: ast.stmt) -> None:
        """Gives a definition or a ``type`` statement its type parameters, if it has any that were taken away."""
        parameters = self._parameters.get(_place(node))
        if parameters is not None:
            if "type_params" not in node._fields:
                node._fields = (*node._fields, "type_params")  # type: ignore[misc]  # so that walks come to them
            node.type_params = parameters  # type: ignore[attr-defined]
            self._missing -= 1

    def _with_aliases(self, items: Iterable[object]) -> Iterator[object]:
        """``items`` with a ``type`` statement for the two that stand for it."""
        remaining = iter(items)
        for item in remaining:
            if isinstance(item, ast.Expr) and _place(item) in self._aliases:
                yield self._alias(item, next(remaining, None))
            else:
                yield item

    def _alias(self, start: ast.Expr, assignment: object) -> ast.AST:
        """The ``type`` statement that an expression and an assignment stand for."""
        match assignment:
            case ast.Assign(targets=[ast.Name() as name]) | ast.Assign(targets=[ast.Subscript(value=ast.Name() as name)]):
                name.ctx = ast.Store()
                alias = _TYPE_ALIAS(name=name, type_params=[], value=assignment.value)
            case _:
                raise _Refused
        _set_places(alias, _place(start), (assignment.end_lineno or 0, assignment.end_col_offset or 0))
        assert isinstance(alias, ast.stmt)
        self._give_parameters(alias)
        return alias

    def _replaced(self, node: Part, parent: ast.AST) -> Part | ast.expr:
        """What stands where ``node`` is in the tree: itself, unless it is a stand-in."""
        match node:
            case ast.Dict(keys=[]) if (string := self._strings.get(_place(node))) is not None:
                self._missing -= 1
                return string
            case ast.UnaryOp(op=ast.Invert()) if _place(node) in self._stars:
                self._missing -= 1
                return self._starred(node, parent)
        return node

    def _starred(self, node: ast.UnaryOp, parent: ast.AST) -> ast.expr:
        """The starred expression that ``node``, a part of ``parent``, stands for."""
        starred = ast.copy_location(ast.Starred(value=node.operand, ctx=ast.Load()), node)
        if isinstance(parent, ast.Subscript):
            return ast.copy_location(ast.Tuple(elts=[starred], ctx=ast.Load()), node)
        if not isinstance(parent, (ast.Tuple, ast.arg)):
            raise _Refused
        return starred


def _fields(strings: Iterable[Strings], code: bytes | bytearray) -> dict[int, _Expression]:
    """The expressions of all fields, by where these start."""
    found: dict[int, _Expression] = {}
    pieces = [piece for each in strings for piece in each.pieces()]
    while pieces:
        piece = pieces.pop()
        if isinstance(piece, Field):
            first, last = piece.code.first, piece.code.last
            found[piece.start] = _Expression(first, last, _rendered(code, first, last, piece.code.strings).decode())
            pieces += piece.format_spec.pieces if piece.format_spec else []
    return found


def _annotations(plan: _Plan, data: bytes) -> dict[int, _Expression]:
    """The bounds and defaults of all type parameters, by where they start."""
    parameters = [parameter for found in plan.parameters.values() for parameter in found]
    spans = [span for each in parameters for span in (each.bound, each.default) if span]
    return {first: _Expression(first, last, data[first:last].decode()) for first, last in spans}


def _place(node: ast.expr | ast.stmt | ast.ExceptHandler) -> Place:
    return node.lineno, node.col_offset


def _set_places(node: ast.AST, start: Place, end: Place) -> None:
    for name, value in zip(("lineno", "col_offset", "end_lineno", "end_col_offset"), (*start, *end), strict=True):
        setattr(node, name, value)


def _evaluated(literal: str) -> object:
    """The value of a string literal."""
    try:
        return ast.literal_eval(literal)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _Refused from None


# --- the way in ------------------------------------------------------------------------------------------------------


def read(text: str, version: Version = RUNNING) -> NewerCode | None:
    """What a text that the Python that runs refuses comes to, where syntax newer than ``version`` is the reason; else None."""
    try:
        data = text.encode()
        if not _may_be_newer(data, version):
            return None
        plan = _Planner(data, version).plan()
        return NewerCode(data, plan) if plan.edits or plan.strings else None
    except (_Refused, ScanError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _may_be_newer(data: bytes, version: Version) -> bool:
    """Whether a text may have something newer than ``version``: most texts in Python 2 need no more than this glance."""
    return _MAY_BE_NEWER.search(data) is not None or (version < (3, 11) and b"*" in data)


def version_needed(text: str, row: int, version: Version = RUNNING) -> Version | None:
    """The Python whose syntax, newer than ``version``, the text has on a row (from 1); None where it has none there."""
    try:
        data = text.encode()
        found = _Planner(data, version).plan().versions if _may_be_newer(data, version) else []
    except (_Refused, ScanError, ValueError):
        return None
    lines = EncodedText(data)
    here = [since for since, start, end in found if lines.place(start)[0] <= row <= lines.place(end)[0]]
    return max(here, default=None)
