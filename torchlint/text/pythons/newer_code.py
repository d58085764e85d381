"""Code in syntax that is newer than the Python that runs, or with names that it takes for keywords: read all the same.

`read` is asked where `ast.parse` has refused a text. The text is parsed with stand-ins for what is newer (see `newer_syntax`),
and the tree is given what a newer Python would have put there: the f-strings with their expressions, the type parameters, the
``type`` statements. What is in a tree made so equals that of the newer Python, positions included.
"""

from __future__ import annotations

import ast
import re
import tokenize
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, TypeAlias, TypeVar

from torchlint.text.pythons.newer_syntax import RUNNING, Parameter, Plan, Refused, Span, Version, all_members, blank, planned
from torchlint.text.pythons.older_names import restore, with_stand_ins
from torchlint.text.pythons.scanner import EncodedText, Field, Literal, Piece, ScanError, String, Strings

Place: TypeAlias = tuple[int, int]
Part = TypeVar("Part")

_NEWLINE = re.compile(rb"\r\n|\r|\n")


def read(text: str, version: Version = RUNNING) -> NewerCode | None:
    """What a text comes to that the Python that runs refuses for such a reason (``version`` is its own); else None."""
    try:
        data = text.encode()
        plan = planned(data, version)
        return NewerCode(data, plan) if plan.edits or plan.strings or plan.names else None
    except (Refused, ScanError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class NewerCode:
    """A text that was read though the Python that runs cannot parse it.

    ``tree`` is its syntax tree; ``tokenizable`` the text with blanks for what the tokenizer would not take for what it is;
    ``stand_ins`` are the names that ``parsable``, the text for other parsers, has in the place of what are keywords by now.
    """

    def __init__(self, data: bytes, plan: Plan) -> None:
        self.stand_ins: dict[str, str] = {}
        if plan.names:
            data, self.stand_ins = with_stand_ins(data, plan.names)
        self._data = data
        self._plan = plan
        self._lines = EncodedText(data)
        self.tree = self._read()

    @property
    def parsable(self) -> str:
        """The text with stand-ins for the names that are keywords by now; all else is where it was."""
        return self._data.decode()

    # --- tokens ------------------------------------------------------------------------------------------------------

    @cached_property
    def tokenizable(self) -> str:
        """The text with blanks and braces for f-strings that the tokenizer does not know; comments in them stay."""
        parts: list[str] = []
        position = 0
        comments = self._plan.comments
        for strings in self._plan.strings:
            parts += [self._data[position : strings.start].decode(), "{"]
            position = strings.start + 1
            for start, end in comments[bisect_left(comments, (strings.start, 0)) : bisect_left(comments, (strings.end, 0))]:
                parts += [_blank_text(self._data[position:start]), self._data[start:end].decode()]
                position = end
            parts += [_blank_text(self._data[position : strings.end - 1]), "}"]
            position = strings.end
        text = "".join([*parts, self._data[position:].decode()])
        for name, written in self.stand_ins.items():
            text = text.replace(name, written)
        return text

    def mended(self, tokens: Iterable[tokenize.TokenInfo]) -> list[tokenize.TokenInfo]:
        """The tokens of ``tokenizable`` with the long strings that it lacks, and without the newlines of their text."""
        members = [string for strings in self._plan.strings for string in all_members(strings)]
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
            from torchlint.text.pythons.fstrings import correct_positions

            correct_positions(tree, self._data.decode())
        made = _Nodes(self._data, code, plan, self._lines)
        made.put_into(tree)
        if self.stand_ins:
            restore(tree, self.stand_ins)
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

    def __init__(self, data: bytes, code: bytes | bytearray, plan: Plan, lines: EncodedText) -> None:
        self._data = data
        self._comments = plan.comments
        self._lines = lines
        self._missing = 0
        strings = [each for outer in plan.strings for each in (outer, *outer.nested)]
        self._expressions = self._parsed({**_fields(strings, code), **_annotations(plan, data)})
        self._strings = {lines.place(each.start): self._string(each) for each in strings}
        self._parameters = {
            lines.place(start): [self._parameter(each) for each in found] for start, found in plan.parameters.items()
        }
        self._aliases = set(map(lines.place, plan.aliases))

    # --- expressions -------------------------------------------------------------------------------------------------

    def _parsed(self, expressions: dict[int, _Expression]) -> dict[int, _Expression]:
        """The expressions with their nodes, which stand where the text has them.

        All are parsed at once, each in parentheses on lines of its own.
        """
        statements = ast.parse("".join(f"({each.text})\n" for each in expressions.values())).body
        if len(statements) != len(expressions):
            raise Refused
        row = 1
        for expression, statement in zip(expressions.values(), statements, strict=True):
            if not isinstance(statement, ast.Expr) or statement.lineno != row:
                raise Refused
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
                raise Refused
            self._set_place(value, expression.first, expression.last)

    def _set_place(self, node: ast.AST, start: int, end: int) -> None:
        _set_places(node, self._lines.place(start), self._lines.place(end))

    # --- f-strings ---------------------------------------------------------------------------------------------------

    def _string(self, strings: Strings) -> ast.expr:
        """The node of strings that stand next to each other."""
        prefixes = [member.prefix for member in strings.members]
        template = all(b"t" in prefix for prefix in prefixes)
        if any(b"b" in prefix or (b"t" in prefix and not template) for prefix in prefixes):
            raise Refused
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

    def _parameter(self, found: Parameter) -> ast.AST:
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
        """Puts the nodes into ``tree`` where their stand-ins are; raises `Refused` where some are not."""
        made = set(self._strings.values())
        self._missing = len(made) + len(self._parameters)
        pending: list[ast.AST] = [tree, *made]
        while pending:
            node = pending.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._give_parameters(node)
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list) and name != "type_params":
                    value[:] = map(self._replaced, self._with_aliases(value))
                    pending += [item for item in value if isinstance(item, ast.AST) and item not in made]
                elif isinstance(value, ast.AST):
                    new = self._replaced(value)
                    setattr(node, name, new)
                    if new not in made:
                        pending.append(new)
        if self._missing:
            raise Refused

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
                raise Refused
        _set_places(alias, _place(start), (assignment.end_lineno or 0, assignment.end_col_offset or 0))
        assert isinstance(alias, ast.stmt)
        self._give_parameters(alias)
        return alias

    def _replaced(self, node: Part) -> Part | ast.expr:
        """What stands where ``node`` is in the tree: itself, unless it stands for an f-string."""
        if isinstance(node, ast.Dict) and not node.keys and (string := self._strings.get(_place(node))) is not None:
            self._missing -= 1
            return string
        return node


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


def _annotations(plan: Plan, data: bytes) -> dict[int, _Expression]:
    """The bounds and defaults of all type parameters, by where they start."""
    parameters = [parameter for found in plan.parameters.values() for parameter in found]
    spans = [span for each in parameters for span in (each.bound, each.default) if span]
    return {first: _Expression(first, last, data[first:last].decode()) for first, last in spans}


def _place(node: ast.expr | ast.stmt) -> Place:
    return node.lineno, node.col_offset


def _set_places(node: ast.AST, start: Place, end: Place) -> None:
    for name, value in zip(("lineno", "col_offset", "end_lineno", "end_col_offset"), (*start, *end), strict=True):
        setattr(node, name, value)


def _evaluated(literal: str) -> object:
    """The value of a string literal."""
    try:
        return ast.literal_eval(literal)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise Refused from None


def _text_spans(string: String) -> Iterator[Span]:
    """Where a string is text, not code."""
    pieces = list(string.parts())
    while pieces:
        piece = pieces.pop()
        if isinstance(piece, Field):
            pieces += piece.format_spec.pieces if piece.format_spec else []
        elif not piece.verbatim:
            yield piece.start, piece.end


def _blank_text(data: bytes) -> str:
    """As many spaces as there are characters, and the newlines."""
    return re.sub(r"[^\r\n]", " ", data.decode())


def _rendered(data: bytes | bytearray, start: int, end: int, strings: Iterable[Strings]) -> bytes:
    """The text from ``start`` to ``end`` with ``{ }`` for each of the ``strings`` in it."""
    parts: list[bytes] = []
    for each in strings:
        parts += [bytes(data[start : each.start]), b"{", blank(data[each.start + 1 : each.end - 1]), b"}"]
        start = each.end
    return b"".join([*parts, bytes(data[start:end])])


def _between(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """What is left of the text from ``start`` to ``end`` without the sorted ``spans``."""
    for first, last in spans[bisect_left(spans, (start, 0)) : bisect_left(spans, (end, 0))]:
        yield start, first
        start = last
    yield start, end


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
