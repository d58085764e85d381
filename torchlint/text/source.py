"""One file's text: decoding it, its lines, its syntax tree, and what stands where in it.

Python's own parser gives every node a line and a column in UTF-8 bytes; everything beyond this module counts in
characters of the text, from 0 (an *offset*) or as a `Location` (row and column from 1).
"""

from __future__ import annotations

import ast
import codecs
import io
import re
import sys
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.diagnostic import Diagnostic, Edit, FileError, Fix, Location
from torchlint.text.headroom import recursion_headroom

if TYPE_CHECKING:
    from torchlint.text.pythons.newer_code import NewerCode

_NEWLINE = re.compile(r"\r\n|\r|\n")
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"^[ \t\f]*(?:[#\r\n]|$)")


_UTF_8_OF_OTHERS = frozenset({"future_annotations", "future_fstrings", "future_typing"})
"""Encodings that packages register to have syntax read by older Pythons; the bytes of such files are UTF-8."""

_WITH_MORE_BEHIND = ("latin-1-", "iso-8859-1-", "iso-latin-1-")


class SourceError(Exception):
    """A text that cannot be read as Python; carries the one-line `FileError` to report.

    ``found`` are those of the rest, where the error is about one cell of a notebook, or one statement.
    """

    def __init__(self, error: FileError, found: Sequence[Diagnostic] = ()) -> None:
        super().__init__(str(error))
        self.error = error
        self.found = tuple(found)


class Source:
    """The text of one file and what Python's parser makes of it.

    ``text`` is decoded, without the byte order mark and with its newlines as they are; ``encode`` goes back to bytes.
    """

    def __init__(
        self,
        text: str,
        filename: str = "<string>",
        *,
        encoding: str = "utf-8",
        bom: bool = False,
        tree: ast.Module | None = None,
    ) -> None:
        self.text = text
        self.filename = filename
        self.encoding = encoding
        self.bom = bom
        self._given_tree = tree
        self._passed_over: dict[FileError, range] = {}

    @classmethod
    def decode(cls, data: bytes, filename: str, *, encoding: str = "") -> Source:
        """The source that ``data``, a file's bytes, hold; raises `SourceError` where they are not text.

        With ``encoding``, that is theirs, whatever a comment declares.
        """
        bom = data.startswith(codecs.BOM_UTF8)
        if bom:
            data = data[len(codecs.BOM_UTF8) :]
        encoding = encoding or _understood(_declared_encoding(data) or "utf-8")
        try:
            name = codecs.lookup(encoding).name
            if bom and not name.startswith("utf-8"):
                raise SourceError(FileError(filename, f"the byte order mark says utf-8, a comment says {encoding}"))
            encoding = "utf-8" if name == "utf-8-sig" else encoding  # the mark is no part of the text
            text = data.decode(encoding)
        except LookupError:
            raise SourceError(FileError(filename, f"unknown encoding: {encoding}")) from None
        except UnicodeDecodeError as error:
            row = data.count(b"\n", 0, error.start) + 1
            column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
            message = f"not {encoding} text: byte 0x{data[error.start]:02x} ({error.reason})"
            raise SourceError(FileError(filename, message, Location(row, column))) from None
        except UnicodeError as error:  # encodings that are not made for files: idna, undefined
            raise SourceError(FileError(filename, f"not {encoding} text: {error}")) from None
        return cls(text, filename, encoding=encoding, bom=bom)

    def encode(self, text: str) -> bytes:
        """The bytes of a new ``text`` for this file, in the encoding and with the byte order mark it had."""
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)

    def with_text(self, text: str) -> Source:
        """The same file with another text."""
        return Source(text, self.filename, encoding=self.encoding, bom=self.bom)

    def edited(self, edits: Iterable[Edit]) -> str:
        """The text with ``edits`` made, which must not overlap."""
        parts: list[str] = []
        position = 0
        for edit in sorted(set(edits)):
            parts += [self.text[position : self.offset_of(edit.location)], edit.content]
            position = self.offset_of(edit.end_location)
        return "".join([*parts, self.text[position:]])

    def is_sound(self, text: str) -> bool:
        """Whether ``text`` may become that of this file: whether it is Python."""
        return self.is_python(text)

    def is_python(self, text: str) -> bool:
        """Whether ``text`` is Python, in syntax newer than that of the Python that runs only if this file is."""
        return parses(text, newer=self._newer is not None)

    @property
    def searched(self) -> str:
        """What tells which rules may have something to say, or would have."""
        return self.text

    @property
    def errors(self) -> tuple[FileError, ...]:
        """Parts that could not be read and were passed over; a script has none."""
        return ()

    def pass_over(self, error: FileError, rows: range) -> None:
        """Notes that a statement on ``rows`` is not looked at, and why."""
        self._passed_over[error] = rows

    @property
    def passed_over(self) -> tuple[FileError, ...]:
        """Why statements were not looked at, each with its place as users know it."""
        return tuple(map(self.located_error, self._passed_over))

    def is_passed_over(self, row: int) -> bool:
        """Whether a row is one of a statement that was not looked at."""
        return any(row in rows for rows in self._passed_over.values())

    def may_precede(self, row: int) -> bool:
        """Whether a line may be added in front of line ``row``."""
        return True

    def located(self, diagnostic: Diagnostic) -> Diagnostic:
        """A finding with its place as users know it."""
        return diagnostic

    def located_error(self, error: FileError) -> FileError:
        """An error with its place as users know it."""
        return error

    def located_edit(self, edit: Edit) -> Edit:
        """An edit with its place as users know it."""
        return edit

    def named_line(self, row: int) -> str:
        """How people are told of a line."""
        return f"line {row}"

    def diff(self, text: str) -> str:
        """The unified diff to a new ``text``."""
        from torchlint.text.diff import unified_diff

        return unified_diff(self.text, text, self.filename)

    def allows(self, fix: Fix) -> bool:
        """Whether a fix is one for this sort of file."""
        return True

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; raises `SourceError` with the place where the text is not Python."""
        parsed = self._parsed
        if not isinstance(parsed, ast.Module):
            return parsed.tree
        if sys.version_info < (3, 12):
            from torchlint.text.pythons.fstrings import correct_positions

            correct_positions(parsed, self.text)
        return parsed

    @cached_property
    def _parsed(self) -> ast.Module | NewerCode:
        """What the parser makes of the text; raises `SourceError`."""
        if self._given_tree is not None:
            return self._given_tree
        try:
            return parse(self.text)
        except SyntaxError as error:
            raise SourceError(self._syntax_error(error)) from None
        except ValueError as error:  # null bytes
            raise SourceError(FileError(self.filename, f"cannot parse: {error}")) from None
        except (RecursionError, MemoryError):
            raise SourceError(FileError(self.filename, "cannot parse: the code is nested too deeply")) from None

    def take_tree(self, tree: ast.Module | None) -> None:
        """Has the syntax tree be one, of the same text, if there is one; what is within its f-strings may get other places."""
        self._given_tree = self._given_tree or tree

    @property
    def parsed(self) -> ast.Module | None:
        """The syntax tree that there is by now, unless the text is in newer syntax."""
        tree = self.__dict__.get("_parsed")
        return tree if isinstance(tree, ast.Module) else None

    @property
    def _newer(self) -> NewerCode | None:
        """What there is to know of the text where it is in syntax newer than that of the Python that runs."""
        try:
            parsed = self._parsed
        except SourceError:
            return None
        return None if isinstance(parsed, ast.Module) else parsed

    @property
    def parsable(self) -> str:
        """The text with stand-ins for names that are keywords by now, for parsers that know no older Python."""
        return self.text if self._newer is None else self._newer.parsable

    @property
    def stand_ins(self) -> Mapping[str, str]:
        """The names in `parsable` that stand for others, with these."""
        return {} if self._newer is None else self._newer.stand_ins

    def _syntax_error(self, error: SyntaxError) -> FileError:
        location = None
        if error.lineno:
            location = Location(error.lineno, max(error.offset or 1, 1))
        from torchlint.text.pythons.newer_syntax import version_needed

        hint = ""
        if "print" in (error.msg or "") and "Missing parentheses" in (error.msg or ""):
            hint = " (Python 2 code)"
        elif needed := version_needed(self.text, error.lineno or 0):
            hint = f" (this is syntax of Python {needed[0]}.{needed[1]}: run torchlint with it)"
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return FileError(self.filename, f"cannot parse as Python {version}: {error.msg}{hint}", location)

    # --- lines and offsets -------------------------------------------------------------------------------------------

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    @cached_property
    def _lines(self) -> dict[int, str]:
        return {}

    @property
    def lines(self) -> list[str]:
        """The text of all lines, without their newlines."""
        return _NEWLINE.split(self.text)

    @property
    def line_count(self) -> int:
        """How many lines the text has; what follows a final newline counts as an empty one."""
        return len(self._line_starts)

    def line_span(self, row: int) -> tuple[int, int]:
        """The offsets of where line ``row`` (from 1) starts and of where it ends, its newline left out."""
        starts = self._line_starts
        end = starts[row] if row < len(starts) else len(self.text)
        start = starts[row - 1]
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return start, end

    def line(self, row: int) -> str:
        """The text of line ``row`` (from 1), without its newline."""
        if row not in self._lines:
            start, end = self.line_span(row)
            self._lines[row] = self.text[start:end]  # kept: thousands of findings may be on one line of megabytes
        return self._lines[row]

    def line_start(self, row: int) -> int:
        """The offset at which line ``row`` (from 1) starts; the text's length for a row behind the last."""
        return self._line_starts[row - 1] if row <= len(self._line_starts) else len(self.text)

    def offset(self, row: int, byte_column: int) -> int:
        """The offset of a place as the parser gives it: ``row`` from 1, ``byte_column`` from 0 in UTF-8 bytes."""
        start = self._line_starts[row - 1]
        if self._ascii:
            return start + byte_column
        line = self.line(row)
        if line.isascii():
            return start + byte_column
        return start + len(line.encode("utf-8")[:byte_column].decode("utf-8", "replace"))

    @cached_property
    def _ascii(self) -> bool:
        return self.text.isascii()

    def location(self, offset: int) -> Location:
        """The row and column, both from 1, of an offset."""
        row = bisect_right(self._line_starts, offset)
        return Location(row, offset - self._line_starts[row - 1] + 1)

    def offset_of(self, location: Location) -> int:
        """The offset of a row and column, both from 1."""
        return self._line_starts[location.row - 1] + location.column - 1

    # --- nodes -------------------------------------------------------------------------------------------------------

    def start(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> int:
        """The offset at which a node starts."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> int:
        """The offset just behind a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def segment(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> str:
        """The text of a node, without the parentheses that may stand around it."""
        return self.text[self.start(node) : self.end(node)]

    @cached_property
    def newline(self) -> str:
        """The newline that the text uses: that of its first line."""
        match = _NEWLINE.search(self.text)
        return match.group() if match else "\n"

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        """The tokens of the text, as `tokenize` gives them (columns in characters), as far as it gets."""
        if self._newer is not None:
            return self._newer.mended(_tokens(self._newer.tokenizable))
        return list(_tokens(self.text))

    @cached_property
    def comments(self) -> list[tuple[int, str]]:
        """The comments with the offsets at which they start, in the order of the text."""
        text = self.text if self._newer is None else self._newer.tokenizable
        plain = text.replace("\r\n", "\n").replace("\r", "\n")  # the tokenizer does not take a lone \r for a newline
        return [
            (self._line_starts[token.start[0] - 1] + token.start[1], token.string.rstrip())
            for token in _tokens(plain)
            if token.type == tokenize.COMMENT
        ]

    def is_in_comment(self, offset: int) -> bool:
        """Whether what stands at ``offset`` is a part of a comment."""
        index = bisect_right(self.comments, offset, key=lambda comment: comment[0])
        return index > 0 and offset < self.comments[index - 1][0] + len(self.comments[index - 1][1])


def parse(text: str) -> ast.Module | NewerCode:
    """The syntax tree of a text, or what it comes to if it is in newer syntax; raises what `ast.parse` does."""
    with recursion_headroom(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the linted code are not this run's business
        try:
            return ast.parse(text)
        except SyntaxError:
            from torchlint.text.pythons.newer_code import read

            newer = read(text)
            if newer is None:
                raise
            return newer


def tree_of(text: str) -> ast.Module:
    """The syntax tree of a text; raises what `ast.parse` does."""
    parsed = parse(text)
    return parsed if isinstance(parsed, ast.Module) else parsed.tree


def parses(text: str, *, newer: bool = True) -> bool:
    """Whether a text is Python; with ``newer`` off, as the Python that runs knows it."""
    try:
        return isinstance(parse(text), ast.Module) or newer
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text, newline="").readline)
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return


def _understood(declared: str) -> str:
    """The encoding that Python takes a declared one for: that of a name with more behind it, as Emacs writes ``utf-8-unix``."""
    name = declared.lower().replace("_", "-")
    if name.startswith("utf-8-") or name.replace("-", "_") in _UTF_8_OF_OTHERS:
        return "utf-8"
    return "latin-1" if name.startswith(_WITH_MORE_BEHIND) else declared


def _declared_encoding(data: bytes) -> str | None:
    """The encoding that a comment on one of the first two lines declares (PEP 263)."""
    lines = re.split(rb"\r\n|\r|\n", data[:4096], maxsplit=2)
    for line in lines[:2]:
        match = _CODING.match(line)
        if match:
            return match.group(1).decode("ascii", "replace")
        if not _BLANK_OR_COMMENT.match(line):
            return None
    return None
