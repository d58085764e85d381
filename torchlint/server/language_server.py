"""The protocol: what a client says to the session, and what the session says to the client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.uris import to_fs_path

from torchlint import __version__
from torchlint.server import answers
from torchlint.server.actions import KINDS, Actions
from torchlint.server.jobs import Describe, Described, Explain, Explained
from torchlint.server.programs import Document, Found, Program, change_notebook
from torchlint.server.session import Session
from torchlint.server.settings import SECTION
from torchlint.server.texts import Text, Units

_PYTHON = "python"
_SUFFIXES = (".py", ".pyi")
_NOTEBOOKS = lsp.NotebookDocumentSyncOptions(
    [
        lsp.NotebookDocumentFilterWithNotebook(
            lsp.NotebookDocumentFilterNotebookType("jupyter-notebook"), [lsp.NotebookCellLanguage(_PYTHON)]
        )
    ],
    save=False,
)
_OWN_TEXTS = (
    *(lsp.TEXT_DOCUMENT_DID_OPEN, lsp.TEXT_DOCUMENT_DID_CHANGE, lsp.TEXT_DOCUMENT_DID_CLOSE),
    *(lsp.NOTEBOOK_DOCUMENT_DID_OPEN, lsp.NOTEBOOK_DOCUMENT_DID_CHANGE, lsp.NOTEBOOK_DOCUMENT_DID_CLOSE),
)
"""What pygls would keep texts for, whose lines also end at form feeds and the like; `Text` ends them as the protocol does."""


class Server(LanguageServer):
    """A language server of one client."""

    def __init__(self) -> None:
        super().__init__(
            "torchlint",
            __version__,
            lsp.TextDocumentSyncKind.Incremental,
            _NOTEBOOKS,
            LanguageServerProtocol,
            default_converter,
        )
        self.session = Session(self._publish, self._warn)
        self.given: object = None
        self.units = Units.UTF_16
        self.actions = Actions(self.session, lazy=False, versioned=False)
        self.markdown = False
        self.pulls_settings = False
        self.watches = False
        self.ended = False
        self.tasks: set[asyncio.Task[Any]] = set()
        for method in _OWN_TEXTS:
            self.protocol.fm.builtin_features.pop(method)

    def start(self, task: Any) -> None:
        """Runs a coroutine on the side."""
        started = asyncio.get_running_loop().create_task(task)
        self.tasks.add(started)
        started.add_done_callback(self.tasks.discard)

    def leave(self, code: int = 1) -> None:
        """Ends this process, whatever still waits for the client to say something, and with it the worker."""
        self.session.office.close()
        os._exit(code)

    def adapt(self, params: lsp.InitializeParams) -> None:
        """Keeps in mind what the client can do."""
        can = params.capabilities
        text, workspace = can.text_document, can.workspace
        action = text.code_action if text else None
        resolve = action.resolve_support if action else None
        edits = workspace.workspace_edit if workspace else None
        hover = text.hover if text else None
        formats = (hover.content_format if hover else None) or []
        watched = workspace.did_change_watched_files if workspace else None
        self.actions = Actions(
            self.session,
            lazy=resolve is not None and "edit" in resolve.properties,
            versioned=bool(edits and edits.document_changes),
        )
        self.markdown = lsp.MarkupKind.Markdown in formats
        self.pulls_settings = bool(workspace and workspace.configuration)
        self.watches = bool(watched and watched.dynamic_registration)
        self.given = params.initialization_options

    @property
    def folders(self) -> dict[str, str]:
        """The workspace folders: their addresses, by their paths."""
        open_folders = list(self.workspace.folders)
        root = self.workspace.root_uri
        uris = open_folders or ([root] if root else [])
        return {path: uri for uri in uris if (path := to_fs_path(uri)) is not None}

    async def configure(self) -> None:
        """Asks the client for its settings, or takes those that it gave at the start, for each folder."""
        folders = self.folders
        general, by_folder = self.given, dict.fromkeys(folders, self.given)
        if self.pulls_settings:
            items = [lsp.ConfigurationItem(section=SECTION), *(lsp.ConfigurationItem(uri, SECTION) for uri in folders.values())]
            with suppress(Exception):  # whatever a client says instead: without its settings, there are those of the start
                general, *others = await self.workspace_configuration_async(lsp.ConfigurationParams(items))
                general = self.given if general is None else general
                by_folder = {path: general if each is None else each for path, each in zip(folders, others, strict=True)}
        self.session.configure(general, by_folder)

    def _publish(self, document: Document, found: Found | None) -> None:
        diagnostics = []
        if found is not None:
            program = self.session.programs.with_document(document.uri)
            settings = self.session.settings(program[0]) if program is not None else None
            errors = [
                each
                for each in found.errors
                if settings is None or settings.show_syntax_errors or each.code != "invalid-syntax"
            ]
            diagnostics = [answers.diagnostic(each, found.text) for each in found.diagnostics]
            diagnostics += [answers.error(each, found.text) for each in errors]
        version = document.version if found is not None else None
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(document.uri, diagnostics, version))

    def _warn(self, message: str) -> None:
        self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, message))


def server() -> Server:
    """A server, ready to be started."""
    made = Server()
    _lifecycle(made)
    _settings(made)
    _texts(made, made.session)
    _notebooks(made, made.session)
    _questions(made, made.session)
    return made


def _lifecycle(server: Server) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.adapt(params)
        server.start(server.session.office.start())

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        server.units = Units(server.server_capabilities.position_encoding or Units.UTF_16)
        server.start(server.session.watch(server.process_id, server.leave))
        server.start(server.configure())
        if server.watches:
            server.start(watch_configuration())

    @server.feature(lsp.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.ended = True

    @server.feature(lsp.EXIT)
    def exit_(params: None) -> None:
        server.leave(0 if server.ended else 1)

    async def watch_configuration() -> None:
        """Asks the client to tell of changes, of which the session would learn a little later."""
        options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher("**/*.toml")])
        registration = lsp.Registration(SECTION, lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        with suppress(Exception):  # whatever stands against it, the session looks itself
            await server.client_register_capability_async(lsp.RegistrationParams([registration]))


def _settings(server: Server) -> None:
    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration_changed(params: lsp.DidChangeConfigurationParams) -> None:
        given = params.settings
        if isinstance(given, dict) and SECTION in given:
            server.given = given[SECTION]
        await server.configure()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        await server.configure()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.session.check_configuration()


def _texts(server: Server, session: Session) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        if item.language_id == _PYTHON or item.uri.endswith(_SUFFIXES):
            document = Document(item.uri, item.version, Text(item.text, server.units))
            session.opened(Program(item.uri, [document]))

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        program = session.programs.get(params.text_document.uri)
        if program is not None:
            (document,) = program.documents
            document.version = params.text_document.version
            document.change(params.content_changes)
            session.changed(program)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        session.check_configuration()
        session.check_project()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        session.closed(params.text_document.uri)


def _notebooks(server: Server, session: Session) -> None:
    def document(item: lsp.TextDocumentItem) -> Document:
        return Document(item.uri, item.version, Text(item.text, server.units), 0)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenNotebookDocumentParams) -> None:
        texts = {item.uri: document(item) for item in params.cell_text_documents if item.language_id == _PYTHON}
        cells = [cell for cell in params.notebook_document.cells if cell.document in texts]
        for cell in cells:
            texts[cell.document].is_code = cell.kind is lsp.NotebookCellKind.Code
        notebook = Program(params.notebook_document.uri, [texts[cell.document] for cell in cells])
        notebook.number_cells()
        session.opened(notebook)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeNotebookDocumentParams) -> None:
        notebook = session.programs.get(params.notebook_document.uri)
        if notebook is None:
            return
        structure = params.change.cells.structure if params.change.cells else None
        opened = (structure.did_open if structure else None) or []
        before = {each.uri: each for each in notebook.documents}
        change_notebook(notebook, params.change, {item.uri: document(item) for item in opened})
        for uri in before.keys() - {each.uri for each in notebook.documents}:
            server._publish(before[uri], None)
        session.changed(notebook)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseNotebookDocumentParams) -> None:
        session.closed(params.notebook_document.uri)


def _questions(server: Server, session: Session) -> None:
    options = lsp.CodeActionOptions(KINDS, resolve_provider=True)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        place = session.programs.with_document(params.text_document.uri)
        return [] if place is None else await server.actions.offered(*place, params.range, params.context.only)

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        return await server.actions.resolved(action)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        place = session.programs.with_document(params.text_document.uri)
        if place is None or not session.settings(place[0]).enable:
            return None
        return await _hover(server, *place, params.position)


async def _hover(server: Server, program: Program, document: Document, position: lsp.Position) -> lsp.Hover | None:
    """What is known of the findings and of the expression at a place."""
    session = server.session
    await session.up_to_date(program)
    line, column = position.line, position.character
    buffer, text = session.buffer(program), document.text
    found = program.found.get(document.uri)
    parts: list[str] = []
    where = lsp.Range(position, position)
    for each in found.diagnostics if found is not None else ():
        if answers.covers(each, document, line, column):
            described = await session.ask(Describe(buffer, each.code))
            parts.append(answers.about(each, described if isinstance(described, Described) else None))
            where = answers.range_of(text, each.location, each.end_location)
    explained = await session.ask(Explain(buffer, document.cell, text.location(line, column)))
    if isinstance(explained, Explained):
        parts.append(answers.known(explained))
        where = answers.range_of(text, explained.start, explained.end)
    return answers.hover(parts, where, markdown=server.markdown) if parts else None


def main(stdin: Any, stdout: Any, made: Callable[[], Server] = server) -> None:
    """Serves on two binary streams until the client is gone."""
    running = made()
    try:
        running.start_io(stdin, stdout)
    finally:
        running.leave(0 if running.ended else 1)
