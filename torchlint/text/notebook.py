"""Jupyter notebooks: their code cells as one program, and back into the cells without touching anything else.

The program is the code of all code cells in order, each behind a comment that says which cell it is. Magics and shell lines,
which are IPython's and no Python, are replaced by stand-ins of as many lines. Writing back changes the source of the cells
that have changed, in the style that it is written in; every other byte of the file stays.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from json import JSONDecoder
from typing import Any, NamedTuple

from torchlint.diagnostic import Diagnostic, Edit, FileError, Fix, Location
from torchlint.text import magics
from torchlint.text.magics import CELL_MAGIC, LINE, PYTHON_CELL_MAGICS
from torchlint.text.source import Source, SourceError, parses

_MARKER = re.compile(r"^(?:if True:  )?# torchlint: cell (\d+)$", re.MULTILINE)
_INDENTED = "if True:  "
"""What stands in front of the marker of a cell that is indented as a whole."""
_STAND_IN = re.compile(r"(?:pass|None)  # torchlint: line (\d{1,9})")
_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)*")
_WHITESPACE = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()


class NotebookError(Exception):
    """A file that is no notebook that can be read; the message says why, in one line."""


class _Span(NamedTuple):
    """Where a value stands in the JSON text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number, counted from 1 with all others, its code, and where that stands in the JSON text."""

    number: int
    code: str
    span: _Span


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook's file: its text, and its code cells; none where its language is not Python."""

    text: str
    cells: tuple[Cell, ...]

    @classmethod
    def read(cls, text: str) -> Notebook:
        """The notebook in a JSON text; raises `NotebookError`."""
        try:
            content = json.loads(text)
            cells = tuple(_cells(text))
        except RecursionError:
            raise NotebookError("not a notebook: nested too deeply") from None
        except ValueError as error:  # a JSONDecodeError, or a number of more digits than Python reads
            raise NotebookError(f"not a notebook: {error}") from None
        if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
            raise NotebookError("not a notebook of format 4: it has no list of cells")
        return cls(text, cells if _language(content) == "python" else ())

    def with_code(self, codes: dict[int, str]) -> str:
        """The file's text with new code in the cells whose numbers ``codes`` has."""
        parts: list[str] = []
        position = 0
        for cell in self.cells:
            code = codes.get(cell.number, cell.code)
            if code != cell.code:
                parts += [self.text[position : cell.span.start], _rewritten(self.text[slice(*cell.span)], code)]
                position = cell.span.end
        return "".join([*parts, self.text[position:]])

    def rows(self) -> Iterator[tuple[int, list[int]]]:
        """The number of each code cell, with the rows of the file that its rows are in."""
        row, position = 1, 0
        for cell in self.cells:
            rows: list[int] = []
            in_list = self.text[cell.span.start] == "["
            for span in _items(self.text, cell.span.start) if in_list else [cell.span]:
                row += self.text.count("\n", position, span.start)
                position = span.start
                rows += [row] * len(LINE.findall(json.loads(self.text[slice(*span)])))
            yield cell.number, rows


# --- JSON with places ------------------------------------------------------------------------------------------------


def _cells(text: str) -> Iterator[Cell]:
    cells = dict(_members(text, _skip(text, 0))).get("cells")  # of several, the last counts, as everywhere in JSON
    if cells is None or text[cells.start] != "[":
        return
    for number, cell in enumerate(_items(text, cells.start), 1):
        if text[cell.start] != "{":
            continue
        members = dict(_members(text, cell.start))
        if {"cell_type", "source"} <= members.keys() and json.loads(text[slice(*members["cell_type"])]) == "code":
            code = _code(json.loads(text[slice(*members["source"])]))
            if code is not None:
                yield Cell(number, code, members["source"])


def _code(source: object) -> str | None:
    """The code in a cell's source, a text or a list of lines; None where it is neither."""
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return None


def _skip(text: str, position: int) -> int:
    match = _WHITESPACE.match(text, position)
    assert match is not None
    return match.end()


def _value(text: str, position: int) -> _Span:
    _, end = _DECODER.raw_decode(text, position)
    return _Span(position, end)


def _members(text: str, position: int) -> Iterator[tuple[str, _Span]]:
    """The members of the object that starts at ``position``, each with where its value is."""
    if text[position : position + 1] != "{":
        return
    position = _skip(text, position + 1)
    while text[position] == '"':
        name, position = _DECODER.raw_decode(text, position)
        span = _value(text, _skip(text, _skip(text, position) + 1))  # behind the colon
        yield name, span
        position = _skip(text, span.end)
        position = _skip(text, position + 1) if text[position] == "," else position


def _items(text: str, position: int) -> Iterator[_Span]:
    """Where the items of the array that starts at ``position`` are."""
    position = _skip(text, position + 1)
    while text[position] != "]":
        span = _value(text, position)
        yield span
        position = _skip(text, span.end)
        position = _skip(text, position + 1) if text[position] == "," else position


def _language(content: dict[str, Any]) -> str:
    metadata = content.get("metadata")
    found: list[object] = []
    if isinstance(metadata, dict):
        for part, key in (("language_info", "name"), ("kernelspec", "language")):
            described = metadata.get(part)
            found.append(described.get(key) if isinstance(described, dict) else None)
    return next((name.lower() for name in found if isinstance(name, str)), "python")


def _rewritten(raw: str, code: str) -> str:
    """The JSON of new ``code`` where ``raw`` is that of the old one: a string or a list of lines."""
    from torchlint.text.json_strings import respelled

    return respelled(raw, [_Span(0, len(raw))] if raw.startswith('"') else list(_items(raw, 0)), code)


# --- the program -----------------------------------------------------------------------------------------------------


class NotebookSource(Source):
    """The program that a notebook's code cells make."""

    def __init__(self, notebook: Notebook, filename: str, *, bom: bool = False) -> None:
        self.notebook = notebook
        self._magics: list[str] = []
        self._refused: dict[int, str] = {}
        parts = []
        for cell in notebook.cells:
            code, before = self._as_python(cell)
            parts.append(f"{before}# torchlint: cell {cell.number}\n{code}" + ("" if code.endswith("\n") or not code else "\n"))
        super().__init__("".join(parts), filename, bom=bom)

    @classmethod
    def decode(cls, data: bytes, filename: str, *, encoding: str = "") -> NotebookSource:
        """The program in the notebook that ``data`` hold, in UTF-8; raises `SourceError` where they hold none."""
        bom = data.startswith(codecs.BOM_UTF8)
        text = _decoded(data.removeprefix(codecs.BOM_UTF8), filename)
        try:
            return cls(Notebook.read(text), filename, bom=bom)
        except NotebookError as error:
            raise SourceError(FileError(filename, str(error))) from None

    def encode(self, text: str) -> bytes:
        """The bytes of the notebook for a new ``text`` of the program."""
        return (codecs.BOM_UTF8 if self.bom else b"") + self._whole(text).encode("utf-8")

    def notebook_text(self) -> str:
        """The text of the whole notebook, with the program as it is here."""
        return self._whole(self.text)

    def _whole(self, text: str) -> str:
        return self.notebook.with_code(self.cells_of(text))

    def with_text(self, text: str) -> NotebookSource:
        """The same notebook with another text of its program."""
        other = object.__new__(NotebookSource)
        other.notebook, other._magics, other._refused = self.notebook, self._magics, self._refused
        Source.__init__(other, text, self.filename, bom=self.bom)
        return other

    def is_sound(self, text: str) -> bool:
        """Whether a new ``text`` of the program is Python and keeps its cells, each Python by itself, and their magics."""
        if [match[0] for match in _MARKER.finditer(text)] != self._markers:
            return False
        parts = _MARKER.split(text)
        changed = [
            (cell, marker.partition("#")[0], part.removeprefix("\n"))
            for cell, marker, part, before in zip(self.notebook.cells, self._markers, parts[2::2], self._parts[2::2])
            if part != before
        ]
        if any(CELL_MAGIC.match(cell.code.lstrip()) and not _STAND_IN.match(code.lstrip()) for cell, _, code in changed):
            return False  # it would no longer be the first line
        return all(self.is_python(f"{before}\n{code}") for _, before, code in changed)

    @cached_property
    def _markers(self) -> list[str]:
        """The lines in front of the cells."""
        return [match[0] for match in _MARKER.finditer(self.text)]

    @cached_property
    def _parts(self) -> list[str]:
        """The program as it is, split into its cells and their numbers."""
        return _MARKER.split(self.text)

    def may_precede(self, row: int) -> bool:
        """Whether a line may be added in front of line ``row``: not in front of magics."""
        return not _STAND_IN.search(self.line(row))

    def allows(self, fix: Fix) -> bool:
        """Whether a fix leaves the cells whole: a block, say, cannot reach from one cell into the next."""
        return self.is_sound(self.edited(fix.edits))

    def cells_of(self, text: str) -> dict[int, str]:
        """The code of each cell in a ``text`` of the program, by number; a final newline is there only if it was."""
        parts = _MARKER.split(text)
        codes = {}
        for cell, part in zip(self.notebook.cells, parts[2::2]):
            code = _STAND_IN.sub(self._magic, part.removeprefix("\n"))
            codes[cell.number] = code if cell.code.endswith("\n") else code.removesuffix("\n")
        return codes

    def _magic(self, stand_in: re.Match[str]) -> str:
        """The line that a stand-in stands for; the text itself where it stands for none."""
        number = int(stand_in[1])
        return self._magics[number] if number < len(self._magics) else stand_in[0]

    @property
    def searched(self) -> str:
        """The text, and with it that of the cells that are passed over."""
        return "".join((self.text, *self._refused.values()))

    @property
    def errors(self) -> tuple[FileError, ...]:
        """The cells that are no Python, which are passed over."""
        return tuple(self._error(number, code) for number, code in self._refused.items())

    def _error(self, number: int, code: str) -> FileError:
        try:
            _ = Source(code, self.filename).tree
        except SourceError as error:
            location = error.error.location and _moved(error.error.location, 1)
            return replace(
                error.error, location=location, cell=number, json_row=self._json_row(number, location.row if location else 1)
            )
        raise AssertionError("a cell was refused that can be read")

    def cell_at(self, row: int) -> tuple[int, int]:
        """The number of the cell that row ``row`` of the program is in, and the row that the cell starts behind."""
        index = bisect_right(self._marked, (row, math.inf)) - 1
        if index < 0:
            return 0, 0
        before, number = self._marked[index]
        return number, before

    def row_in_program(self, cell: int, row: int) -> int:
        """The row of the program that a row of a cell is in."""
        return row + next((before for before, number in self._marked if number == cell), 0)

    def named_line(self, row: int) -> str:
        """How the line of a row of the program is called, which is one of a cell."""
        number, before = self.cell_at(row)
        return f"line {row - before} of cell {number}"

    @cached_property
    def _marked(self) -> list[tuple[int, int]]:
        """The rows of the program that the cells start behind, with the cells' numbers."""
        return [(self.location(match.start()).row, int(match[1])) for match in _MARKER.finditer(self.text)]

    def located(self, diagnostic: Diagnostic) -> Diagnostic:
        """A finding in the program as one in its cell, and the edits of its fix as those of theirs."""
        number, before = self.cell_at(diagnostic.location.row)
        fix = diagnostic.fix and replace(diagnostic.fix, edits=tuple(map(self.located_edit, diagnostic.fix.edits)))
        start, end = _moved(diagnostic.location, before), _moved(diagnostic.end_location, before)
        row = self._json_row(number, start.row)
        return replace(diagnostic, location=start, end_location=end, cell=number, fix=fix, json_row=row)

    def located_edit(self, edit: Edit) -> Edit:
        """An edit of the program as one of its cell."""
        number, before = self.cell_at(edit.location.row)
        return Edit(_moved(edit.location, before), _moved(edit.end_location, before), edit.content, number)

    def located_error(self, error: FileError) -> FileError:
        """An error in the program as one in its cell."""
        if error.location is None:
            return error
        number, before = self.cell_at(error.location.row)
        location = _moved(error.location, before)
        return replace(error, location=location, cell=number, json_row=self._json_row(number, location.row))

    def _json_row(self, number: int, row: int) -> int | None:
        """The row of the file that a row of a cell is in."""
        rows = self._json_rows.get(number, [])
        return rows[row - 1] if 0 < row <= len(rows) else rows[-1] if rows else None

    @cached_property
    def _json_rows(self) -> dict[int, list[int]]:
        """For each cell the rows of the file that its rows are in."""
        text = self.notebook_text()
        notebook = self.notebook if text == self.notebook.text else Notebook.read(text)
        return dict(notebook.rows())

    def diff(self, text: str) -> str:
        """The unified diffs of the cells that a new ``text`` of the program changes."""
        from torchlint.text.diff import unified_diff

        codes = self.cells_of(text)
        changed = ((cell, codes[cell.number]) for cell in self.notebook.cells if codes[cell.number] != cell.code)
        return "".join(unified_diff(cell.code, code, f"{self.filename}:cell {cell.number}") for cell, code in changed)

    # --- magics ------------------------------------------------------------------------------------------------------

    def _as_python(self, cell: Cell) -> tuple[str, str]:
        """The code of a cell with stand-ins for what is IPython's, and what stands in front of its marker."""
        head, body = self._without_cell_magic(cell.code)
        if not body or parses(body):
            return head + body, ""
        known = len(self._magics)
        code = "".join(map(self._line_as_python, magics.read(body)))
        before = _INDENTED if code[0].isspace() and not head else ""
        if parses(f"{before}\n{head}{code}"):
            return head + code, before
        if head or not magics.is_automagic(body):
            self._refused[cell.number] = f"{before}\n{head}{code}"
        del self._magics[known:]
        return head + "".join(self._stand_in("pass", line) for line in LINE.findall(body)), ""

    def _without_cell_magic(self, code: str) -> tuple[str, str]:
        """What stands for the cell magic of a cell, with all that is not Python because of it, and the rest."""
        start = _BLANK_LINES.match(code)
        assert start is not None
        first, newline, body = code[start.end() :].partition("\n")
        match = CELL_MAGIC.match(first)
        if match is None:
            return "", code
        if match[1] not in PYTHON_CELL_MAGICS:
            return start[0] + "".join(self._stand_in("pass", line) for line in LINE.findall(code[start.end() :])), ""
        head, rest = self._without_cell_magic(body)
        return start[0] + self._stand_in("pass", first + newline) + head, rest

    def _line_as_python(self, line: magics.Line) -> str:
        if not line.is_magic:
            return line.text
        return line.kept + self._stand_in("None" if line.is_value else "pass", line.text[len(line.kept) :])

    def _stand_in(self, statement: str, line: str) -> str:
        """What stands for ``line`` in the program."""
        text = line.rstrip("\r\n")
        self._magics.append(text)
        return f"{statement}  # torchlint: line {len(self._magics) - 1}{line[len(text) :]}"


def _moved(location: Location, rows: int) -> Location:
    return Location(location.row - rows, location.column)


def _decoded(data: bytes, filename: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not a notebook: not utf-8 text: byte 0x{data[error.start]:02x} ({error.reason})"
        raise SourceError(FileError(filename, message)) from None
