"""What a client has open: scripts, and notebooks with their cells, each linted as one program."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from pygls.uris import to_fs_path

from torchlint.diagnostic import Diagnostic, FileError
from torchlint.server.jobs import Buffer
from torchlint.server.settings import Chosen
from torchlint.server.texts import Text
from torchlint.server.versions import kept
from torchlint.text.reading import NOTEBOOK


@dataclass(slots=True)
class Document:
    """A text that the client holds: a script, or a cell of a notebook, with that one's number counted from 1."""

    uri: str
    version: int | None
    text: Text
    cell: int | None = None
    is_code: bool = True

    def change(self, changes: Iterable[lsp.TextDocumentContentChangeEvent]) -> None:
        """Makes the client's changes, one after the other."""
        for change in changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                self.text = self.text.edited((start.line, start.character), (end.line, end.character), change.text)
            else:
                self.text = Text(change.text, self.text.units)


@dataclass(slots=True)
class Found:
    """What was found in one document: the text, the findings in it, and errors; or those that are left of older findings."""

    text: Text
    diagnostics: Sequence[Diagnostic] = ()
    errors: Sequence[FileError] = ()


@dataclass(eq=False, slots=True)
class Program:
    """One script or notebook. ``revision`` counts its changes; ``found`` has what was found, by document."""

    uri: str
    documents: list[Document]
    revision: int = 0
    found: dict[str, Found] = field(default_factory=dict)
    good: dict[str, Found] = field(default_factory=dict)
    """For each document, what was found when it could last be parsed."""
    task: asyncio.Task[None] | None = None
    """The look at its present texts."""
    mending: asyncio.Task[None] | None = None
    """The second look at them, which fixes are made in; there is none until somebody asks for them."""

    @property
    def is_notebook(self) -> bool:
        """Whether it has cells."""
        return not self.documents or self.documents[0].cell is not None

    def path(self, folder: str) -> str:
        """The path of the file that it is or, where it is none yet, of one in ``folder``."""
        path = to_fs_path(self.uri)
        if path is None:
            path = os.path.join(folder, os.path.basename(unquote(urlsplit(self.uri).path)) or "untitled")
        if path.endswith(NOTEBOOK) == self.is_notebook:
            return path
        return path + (NOTEBOOK if self.is_notebook else ".py")  # of a cell, say, that a client opens as a text of its own

    def buffer(self, folder: str, chosen: Chosen) -> Buffer:
        """What the worker is to look at."""
        text = _as_notebook(self.documents) if self.is_notebook else self.documents[0].text.text
        return Buffer(self.path(folder), text, chosen)

    def number_cells(self) -> None:
        """Counts the cells anew."""
        for number, document in enumerate(self.documents, 1):
            document.cell = number

    def take(self, diagnostics: Sequence[Diagnostic], errors: Sequence[FileError]) -> None:
        """Takes what was found in the texts as they are; where one cannot be parsed, earlier findings that still hold stay."""
        by_cell: dict[int | None, list[Diagnostic]] = {}
        for each in diagnostics:
            by_cell.setdefault(each.cell, []).append(each)
        first = self.documents[0].cell if self.documents else None
        found: dict[str, Found] = {}
        for document in self.documents:
            wrong = [each for each in errors if each.cell == document.cell or (each.cell is None and document.cell == first)]
            unread = any(each.code == "invalid-syntax" for each in errors if each.cell in (None, document.cell))
            here: Sequence[Diagnostic] = by_cell.get(document.cell, ())
            if not unread:
                self.good[document.uri] = Found(document.text, here)
            elif (before := self.good.get(document.uri)) is not None:
                here = kept(before.diagnostics, before.text.text, document.text.text)
            found[document.uri] = Found(document.text, here, wrong)
        self.found = found
        self.good = {uri: good for uri, good in self.good.items() if uri in found}

    def by_cell(self, cell: int | None) -> Document | None:
        """The document of a cell; of a script, its only one."""
        return next((each for each in self.documents if each.cell == cell), None)

    def of(self, uri: str) -> Document | None:
        """The document of an address."""
        return next((each for each in self.documents if each.uri == uri), None)


def _as_notebook(documents: Sequence[Document]) -> str:
    cells = [{"cell_type": "code" if each.is_code else "markdown", "source": each.text.text} for each in documents]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


class Programs:
    """All that is open, by the addresses of programs and of their documents."""

    def __init__(self) -> None:
        self._programs: dict[str, Program] = {}

    def __iter__(self) -> Iterator[Program]:
        return iter(list(self._programs.values()))

    def __len__(self) -> int:
        return len(self._programs)

    def add(self, program: Program) -> None:
        """Takes a program in."""
        self._programs[program.uri] = program

    def remove(self, uri: str) -> Program | None:
        """Lets a program go."""
        return self._programs.pop(uri, None)

    def get(self, uri: str) -> Program | None:
        """The program of an address."""
        return self._programs.get(uri)

    def with_document(self, uri: str) -> tuple[Program, Document] | None:
        """The program that a document is, or is a cell of."""
        program = self._programs.get(uri)
        candidates = [program] if program is not None else self._programs.values()
        return next(((each, document) for each in candidates if (document := each.of(uri)) is not None), None)


def change_notebook(notebook: Program, change: lsp.NotebookDocumentChangeEvent, opened: Mapping[str, Document]) -> None:
    """Makes a client's change of a notebook's cells; ``opened`` are the documents of those that are new."""
    cells = change.cells
    if cells is None:
        return
    if cells.structure is not None:
        array = cells.structure.array
        known = {each.uri: each for each in notebook.documents} | dict(opened)
        new = [known[cell.document] for cell in array.cells or () if cell.document in known]
        for cell in array.cells or ():
            if cell.document in known:
                known[cell.document].is_code = cell.kind is lsp.NotebookCellKind.Code
        notebook.documents[array.start : array.start + array.delete_count] = new
    for content in cells.text_content or ():
        document = notebook.of(content.document.uri)
        if document is not None:
            document.version = content.document.version
            document.change(content.changes)
    for cell in cells.data or ():
        document = notebook.of(cell.document)
        if document is not None:
            document.is_code = cell.kind is lsp.NotebookCellKind.Code
    notebook.number_cells()
