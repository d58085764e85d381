"""An editor without a window: a client of the language server, on pygls' own, with texts and what is said of them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls, which is not installed")

from lsprotocol import types as lsp
from pygls.lsp.client import BaseLanguageClient  # type: ignore[attr-defined]

PATIENCE = 90.0
"""The seconds after which something has not happened; machines may be busy."""
EVERYTHING = lsp.ClientCapabilities(
    general=lsp.GeneralClientCapabilities(position_encodings=["utf-16"]),
    workspace=lsp.WorkspaceClientCapabilities(
        workspace_edit=lsp.WorkspaceEditClientCapabilities(document_changes=True), workspace_folders=True
    ),
    text_document=lsp.TextDocumentClientCapabilities(
        hover=lsp.HoverClientCapabilities(content_format=[lsp.MarkupKind.Markdown]),
        code_action=lsp.CodeActionClientCapabilities(
            resolve_support=lsp.ClientCodeActionResolveOptions(["edit"]), data_support=True
        ),
    ),
    notebook_document=lsp.NotebookDocumentClientCapabilities(lsp.NotebookDocumentSyncClientCapabilities()),
)
"""What a modern editor can do."""


class Editor(BaseLanguageClient):
    """Starts a server in ``folders`` and talks to it; to be used in ``async with``."""

    def __init__(
        self,
        *folders: Path,
        capabilities: lsp.ClientCapabilities = EVERYTHING,
        settings: object = None,
        answers: Callable[[lsp.ConfigurationParams], list[Any]] | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        super().__init__("editor", "1")
        self.folders = folders
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: dict[str, lsp.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.count = 0
        """How many times anything was published."""
        self._capabilities = capabilities
        self._settings = settings
        self._environment = environment
        self._news = asyncio.Event()
        self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self._take))
        self.feature(lsp.WINDOW_SHOW_MESSAGE)(partial(self._read))
        if answers is not None:
            self.feature(lsp.WORKSPACE_CONFIGURATION)(answers)

    async def __aenter__(self) -> Editor:
        command = (sys.executable, "-m", "torchlint", "server", "--stdio")
        await self.start_io(*command, env=self._environment, cwd=self.folders[0])
        folders = [lsp.WorkspaceFolder(folder.as_uri(), folder.name) for folder in self.folders]
        params = lsp.InitializeParams(
            self._capabilities, workspace_folders=folders, initialization_options=self._settings, root_uri=folders[0].uri
        )
        self.server = await asyncio.wait_for(self.initialize_async(params), PATIENCE)
        self.initialized(lsp.InitializedParams())
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.wait_for(self.shutdown_async(None), PATIENCE)
        self.exit(None)
        assert await asyncio.wait_for(self.process.wait(), PATIENCE) == 0
        await self.stop()  # type: ignore[no-untyped-call]

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The server."""
        assert self._server is not None
        return self._server

    def _take(self, params: lsp.PublishDiagnosticsParams) -> None:
        self.published[params.uri] = params
        self.count += 1
        self._news.set()

    def _read(self, params: lsp.ShowMessageParams) -> None:
        self.messages.append(params.message)
        self._news.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits for something that the server has to say."""

        async def wait() -> None:
            while not holds():
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(wait(), PATIENCE)

    # --- texts --------------------------------------------------------------------------------------------------------

    def open(self, path: Path, text: str) -> str:
        """Opens a text that need not be that of the file; returns its address.

        Its versions go on from where the last opening left them: what is still said of that one is not taken for news.
        """
        uri = path.as_uri()
        self.texts[uri], self.versions[uri] = text, self.versions.get(uri, 0) + 1
        item = lsp.TextDocumentItem(uri, lsp.LanguageKind.Python, self.versions[uri], text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, *edits: lsp.TextEdit, whole: str | None = None) -> None:
        """Makes edits, one after the other, or takes a whole new text."""
        self.versions[uri] += 1
        identifier = lsp.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        changes: list[lsp.TextDocumentContentChangeEvent] = []
        for edit in edits:
            self.texts[uri] = applied(self.texts[uri], [edit])
            changes.append(lsp.TextDocumentContentChangePartial(edit.range, edit.new_text))
        if whole is not None:
            self.texts[uri] = whole
            changes.append(lsp.TextDocumentContentChangeWholeDocument(whole))
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, changes))

    def save(self, uri: str) -> None:
        """Tells that a text was saved; nothing is written."""
        self.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        """Closes a text."""
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    async def findings(self, uri: str) -> Sequence[lsp.Diagnostic]:
        """What is said of the present version of a text."""
        await self.until(lambda: uri in self.published and self.published[uri].version == self.versions[uri])
        return self.published[uri].diagnostics

    async def shown(self, uri: str) -> list[str]:
        """That, as lines and codes."""
        return brief(await self.findings(uri))

    async def actions(self, uri: str, where: lsp.Range, *only: str) -> Sequence[lsp.CodeAction]:
        """What is offered for a range."""
        context = lsp.CodeActionContext([], only or None)
        params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), where, context)
        offered = await asyncio.wait_for(self.text_document_code_action_async(params), PATIENCE)
        return [action for action in offered or () if isinstance(action, lsp.CodeAction)]

    async def edit_of(self, action: lsp.CodeAction) -> lsp.WorkspaceEdit:
        """The edit of an action; asked for now, where it is not there."""
        if action.edit is None:
            action = await asyncio.wait_for(self.code_action_resolve_async(action), PATIENCE)
        assert action.edit is not None
        return action.edit

    async def after(self, action: lsp.CodeAction, uri: str) -> str:
        """The text that an action leaves."""
        return applied(self.texts[uri], edits_of(await self.edit_of(action), uri))

    async def hover(self, uri: str, line: int, column: int) -> str:
        """What is said of a place."""
        params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(line, column))
        found = await asyncio.wait_for(self.text_document_hover_async(params), PATIENCE)
        if found is None:
            return ""
        assert isinstance(found.contents, lsp.MarkupContent)
        return found.contents.value


def edits_of(edit: lsp.WorkspaceEdit, uri: str) -> list[lsp.TextEdit]:
    """The edits of one document."""
    if edit.changes is not None:
        return list(edit.changes.get(uri, ()))
    changes = [each for each in edit.document_changes or () if isinstance(each, lsp.TextDocumentEdit)]
    found = [one for each in changes if each.text_document.uri == uri for one in each.edits]
    return [one for one in found if isinstance(one, lsp.TextEdit)]


def applied(text: str, edits: Sequence[lsp.TextEdit], encoding: str = "utf-16-le") -> str:
    """A text, whose newlines are LF, with edits made that do not overlap; columns are units of the encoding."""
    unit = {"utf-16-le": 2, "utf-8": 1}[encoding]
    lines = [line.encode(encoding) for line in text.split("\n")]
    newline = "\n".encode(encoding)
    whole = newline.join(lines)

    def offset(place: lsp.Position) -> int:
        if place.line >= len(lines):
            return len(whole)
        start = sum(len(line) + len(newline) for line in lines[: place.line])
        return start + min(place.character * unit, len(lines[place.line]))

    for edit in sorted(edits, key=lambda each: offset(each.range.start), reverse=True):
        whole = whole[: offset(edit.range.start)] + edit.new_text.encode(encoding) + whole[offset(edit.range.end) :]
    return whole.decode(encoding)


def brief(found: Sequence[lsp.Diagnostic]) -> list[str]:
    """Findings as lines, counted from 1, and codes."""
    return [f"{each.range.start.line + 1} {each.code}" for each in found]


def at(line: int, column: int = 0, end: int | None = None) -> lsp.Range:
    """A range on one line."""
    return lsp.Range(lsp.Position(line, column), lsp.Position(line, column if end is None else end))


def insertion(line: int, column: int, text: str) -> lsp.TextEdit:
    """An edit that inserts."""
    return lsp.TextEdit(at(line, column), text)
