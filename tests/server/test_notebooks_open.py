"""Notebooks in an editor: cells are linted as one program, findings and fixes are those of their cells."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from editor import Editor, applied, at, brief, edits_of
from lsprotocol import types as lsp

CELLS = [
    ("# A heading", lsp.NotebookCellKind.Markup),
    ("%matplotlib inline\nimport torch\nnet = torch.nn.Linear(4, 1)\ntotal = 0.0", lsp.NotebookCellKind.Code),
    (
        "for _ in range(3):\n    loss = net(torch.randn(2, 4)).mean()\n    loss.backward()\n    total += loss",
        lsp.NotebookCellKind.Code,
    ),
    ("value = loss.data\nprint(value)", lsp.NotebookCellKind.Code),
]


class Notebook:
    """A notebook that an editor has open."""

    def __init__(self, editor: Editor, path: Path) -> None:
        self.editor = editor
        self.uri = path.as_uri()
        self.version = 1
        self.uris = [self.address(index) for index in range(len(CELLS))]
        cells = [lsp.NotebookCell(kind, uri) for (_, kind), uri in zip(CELLS, self.uris, strict=True)]
        texts = [self.item(uri, text) for (text, _), uri in zip(CELLS, self.uris, strict=True)]
        notebook = lsp.NotebookDocument(self.uri, "jupyter-notebook", 1, cells)
        editor.notebook_document_did_open(lsp.DidOpenNotebookDocumentParams(notebook, texts))

    def address(self, name: object) -> str:
        """The address of a cell."""
        return self.uri.replace("file:", "vscode-notebook-cell:") + f"#{name}"

    @staticmethod
    def item(uri: str, text: str) -> lsp.TextDocumentItem:
        return lsp.TextDocumentItem(uri, lsp.LanguageKind.Python, 1, text)

    def change(self, cells: lsp.NotebookDocumentCellChanges) -> None:
        self.version += 1
        identifier = lsp.VersionedNotebookDocumentIdentifier(self.version, self.uri)
        change = lsp.NotebookDocumentChangeEvent(cells=cells)
        self.editor.notebook_document_did_change(lsp.DidChangeNotebookDocumentParams(identifier, change))

    def replace(self, index: int, start: lsp.Position, end: lsp.Position, text: str) -> None:
        """Types in a cell, as VS Code says it: by ranges."""
        content = lsp.NotebookDocumentCellContentChanges(
            lsp.VersionedTextDocumentIdentifier(self.version + 1, self.uris[index]),
            [lsp.TextDocumentContentChangePartial(lsp.Range(start, end), text)],
        )
        self.change(lsp.NotebookDocumentCellChanges(text_content=[content]))

    def shown(self) -> list[list[str]]:
        """The findings of each cell."""
        published = self.editor.published
        return [brief(published[uri].diagnostics) if uri in published else ["?"] for uri in self.uris]

    async def until(self, expected: list[list[str]]) -> None:
        await self.editor.until(lambda: self.shown() == expected)


def test_cells_are_one_program(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            notebook = Notebook(editor, tmp_path / "train.ipynb")
            await notebook.until([[], [], ["4 TPL004"], ["1 TPL002"]])
            (finding,) = editor.published[notebook.uris[2]].diagnostics
            assert finding.range == at(3, 4, 17)
            notebook.replace(2, lsp.Position(3, 17), lsp.Position(3, 17), ".item()")
            await notebook.until([[], [], [], ["1 TPL002"]])
            assert "bound on line 2 of cell 3" in await editor.hover(notebook.uris[3], 0, 9)

    asyncio.run(run())


def test_cells_come_and_go_and_move(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            notebook = Notebook(editor, tmp_path / "train.ipynb")
            await notebook.until([[], [], ["4 TPL004"], ["1 TPL002"]])
            new = notebook.address("new")
            array = lsp.NotebookCellArrayChange(1, 0, [lsp.NotebookCell(lsp.NotebookCellKind.Code, new)])
            opened = [notebook.item(new, "x = 1\n")]
            notebook.change(lsp.NotebookDocumentCellChanges(lsp.NotebookDocumentCellChangeStructure(array, opened)))
            notebook.uris.insert(1, new)
            await notebook.until([[], [], [], ["4 TPL004"], ["1 TPL002"]])
            gone = notebook.uris.pop(3)
            array = lsp.NotebookCellArrayChange(3, 1)
            closed = [lsp.TextDocumentIdentifier(gone)]
            structure = lsp.NotebookDocumentCellChangeStructure(array, did_close=closed)
            notebook.change(lsp.NotebookDocumentCellChanges(structure))
            await editor.until(lambda: not editor.published[gone].diagnostics)
            notebook.replace(3, lsp.Position(0, 0), lsp.Position(0, 0), "loss = net(torch.ones(4))\n")
            await notebook.until([[], [], [], ["2 TPL002"]])
            editor.notebook_document_did_close(
                lsp.DidCloseNotebookDocumentParams(lsp.NotebookDocumentIdentifier(notebook.uri), [])
            )
            await notebook.until([[], [], [], []])

    asyncio.run(run())


def test_a_cell_that_does_not_parse_keeps_what_still_holds_and_the_others_go_on(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            notebook = Notebook(editor, tmp_path / "train.ipynb")
            await notebook.until([[], [], ["4 TPL004"], ["1 TPL002"]])
            notebook.replace(3, lsp.Position(1, 6), lsp.Position(1, 12), "")
            await notebook.until([[], [], ["4 TPL004"], ["1 TPL002", "2 invalid-syntax"]])

    asyncio.run(run())


def test_fixes_are_those_of_the_command_cell_by_cell(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown" if kind is lsp.NotebookCellKind.Markup else "code", "source": text} for text, kind in CELLS
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))

    async def run() -> list[str]:
        async with Editor(tmp_path) as editor:
            notebook = Notebook(editor, path)
            fix, comment = await editor.actions(notebook.uris[2], at(3, 6), "quickfix")
            (edit,) = edits_of(await editor.edit_of(fix), notebook.uris[2])
            assert (edit.range, edit.new_text) == (at(3, 17), ".detach()")
            (edit,) = edits_of(await editor.edit_of(comment), notebook.uris[2])
            assert (edit.range, edit.new_text) == (at(3, 17), "  # noqa: TPL004")
            (everything,) = await editor.actions(notebook.uris[2], at(0), "source.fixAll")
            made = await editor.edit_of(everything)
            return [applied(text, edits_of(made, uri)) for (text, _), uri in zip(CELLS, notebook.uris, strict=True)]

    fixed = asyncio.run(run())
    subprocess.run([sys.executable, "-m", "torchlint", "--fix", path], check=False, capture_output=True)
    assert fixed == [cell["source"] for cell in json.loads(path.read_text())["cells"]]
    assert [text for text, _ in CELLS] != fixed
