"""What holds for a file in an editor: the files that lie beside it, watched, and what the client sets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from editor import EVERYTHING, Editor, brief
from lsprotocol import types as lsp
from test_findings import TRAINING

MORE = TRAINING + "value = loss.data\n"


def test_a_configuration_file_that_changes_counts_at_once(tmp_path: Path) -> None:
    configuration = tmp_path / "pyproject.toml"
    configuration.write_text('[tool.torchlint]\nignore = ["TPL004"]\n')
    (tmp_path / "package").mkdir()

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "package" / "train.py", MORE)
            assert await editor.shown(uri) == ["10 TPL002"]
            configuration.write_text("[tool.torchlint]\nselect = ['TPL004']\n")
            await editor.until(lambda: brief(editor.published[uri].diagnostics) == ["8 TPL004"])
            (tmp_path / "package" / "torchlint.toml").write_text("ignore = ['TPL']\n")  # one that was not there
            await editor.until(lambda: not editor.published[uri].diagnostics)
            (tmp_path / "package" / "torchlint.toml").write_text("ignore = 1\n")
            await editor.until(lambda: bool(editor.published[uri].diagnostics))
            (wrong,) = editor.published[uri].diagnostics
            assert wrong.code == "invalid-configuration"
            assert "`ignore`: expected a list of" in wrong.message
            (tmp_path / "package" / "torchlint.toml").unlink()
            await editor.until(lambda: brief(editor.published[uri].diagnostics) == ["8 TPL004"])

    asyncio.run(run())


def test_a_file_that_is_extended_is_watched_too(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('extend = "shared/base.toml"\n')
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "base.toml").write_text('ignore = ["TPL004"]\n')

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            assert await editor.shown(uri) == []
            (tmp_path / "shared" / "base.toml").write_text("ignore = []\n")
            await editor.until(lambda: brief(editor.published[uri].diagnostics) == ["8 TPL004"])

    asyncio.run(run())


def test_the_client_is_asked_to_watch_where_it_can(tmp_path: Path) -> None:
    registered: list[lsp.Registration] = []
    workspace = lsp.WorkspaceClientCapabilities(
        did_change_watched_files=lsp.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    )

    async def run() -> None:
        async with Editor(tmp_path, capabilities=lsp.ClientCapabilities(workspace=workspace)) as editor:
            editor.feature(lsp.CLIENT_REGISTER_CAPABILITY)(lambda params: registered.extend(params.registrations))
            uri = editor.open(tmp_path / "train.py", TRAINING)
            assert await editor.shown(uri) == ["8 TPL004"]
            (tmp_path / "torchlint.toml").write_text('ignore = ["TPL004"]\n')
            change = lsp.FileEvent((tmp_path / "torchlint.toml").as_uri(), lsp.FileChangeType.Created)
            editor.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))
            await editor.until(lambda: not editor.published[uri].diagnostics)

    asyncio.run(run())
    assert [each.method for each in registered] == ["workspace/didChangeWatchedFiles"]


def test_files_that_are_excluded_or_ignored_in_part(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('extend-exclude = ["old"]\nper-file-ignores = {"tests/*" = ["TPL004"]}\n')

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            places = ("train.py", "old/train.py", "tests/train.py")
            assert [await editor.shown(editor.open(tmp_path / place, MORE)) for place in places] == [
                ["8 TPL004", "10 TPL002"],
                [],
                ["10 TPL002"],
            ]

    asyncio.run(run())


def test_settings_of_the_client_stand_above_files(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('ignore = ["TPL004"]\n')
    settings = {"extendSelect": ["TPL004"], "ignore": ["TPL002"]}

    async def run() -> None:
        async with Editor(tmp_path, settings=settings) as editor:
            uri = editor.open(tmp_path / "train.py", MORE)
            assert await editor.shown(uri) == ["8 TPL004"]
            changed: dict[str, Any] = {"torchlint": {"select": ["TPL002"]}}
            editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(changed))
            await editor.until(lambda: brief(editor.published[uri].diagnostics) == ["10 TPL002"])
            changed = {"torchlint": {"enable": False}}
            editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(changed))
            await editor.until(lambda: not editor.published[uri].diagnostics)
            assert await editor.hover(uri, 7, 5) == ""

    asyncio.run(run())


def test_a_configuration_file_of_the_clients_choice(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('ignore = ["TPL"]\n')
    (tmp_path / "mine.toml").write_text('ignore = ["TPL002"]\n')

    async def run() -> None:
        async with Editor(tmp_path, settings={"configuration": "mine.toml"}) as editor:
            uri = editor.open(tmp_path / "train.py", MORE)
            assert await editor.shown(uri) == ["8 TPL004"]
            (tmp_path / "mine.toml").write_text('ignore = ["TPL004"]\n')
            await editor.until(lambda: brief(editor.published[uri].diagnostics) == ["10 TPL002"])

    asyncio.run(run())


def test_settings_that_mean_nothing_are_named(tmp_path: Path) -> None:
    settings = {"ignores": ["TPL004"], "select": "TPL004", "targetTorch": "new", "debounce": -1}

    async def run() -> None:
        async with Editor(tmp_path, settings=settings) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            assert await editor.shown(uri) == ["8 TPL004"]
            assert sorted(editor.messages) == [
                "`torchlint.debounce`: expected a number from 0, found -1",
                "`torchlint.ignores`: no such setting; did you mean `ignore`?",
                '`torchlint.select`: expected a list of strings, found "TPL004"',
                "`torchlint.targetTorch`: not a version of torch: 'new' (expected one such as 1.13 or 2.0)",
            ]

    asyncio.run(run())


def test_a_client_that_does_not_say_what_is_set(tmp_path: Path) -> None:
    capabilities = lsp.ClientCapabilities(workspace=lsp.WorkspaceClientCapabilities(configuration=True))

    async def run(answers: Callable[[lsp.ConfigurationParams], list[Any]] | None) -> list[str]:
        settings = {"ignore": ["TPL004"]}
        async with Editor(tmp_path, capabilities=capabilities, settings=settings, answers=answers) as editor:
            return await editor.shown(editor.open(tmp_path / "train.py", MORE))

    assert asyncio.run(run(None)) == ["10 TPL002"]  # the request is answered by an error
    assert asyncio.run(run(lambda params: [])) == ["10 TPL002"]
    assert asyncio.run(run(lambda params: [None for item in params.items])) == ["10 TPL002"]


def test_each_folder_has_settings_of_its_own(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two", tmp_path / "two" / "inner"]
    for folder in folders:
        folder.mkdir()
    (tmp_path / "one" / "torchlint.toml").write_text('ignore = ["TPL002"]\n')
    by_folder = {folders[1].as_uri(): {"select": ["TPL002"]}, folders[2].as_uri(): {"ignore": ["TPL"]}}

    def answers(params: lsp.ConfigurationParams) -> list[Any]:
        assert {item.section for item in params.items} == {"torchlint"}
        return [by_folder.get(item.scope_uri or "") for item in params.items]

    capabilities = lsp.ClientCapabilities(
        workspace=lsp.WorkspaceClientCapabilities(configuration=True, workspace_folders=True),
        general=EVERYTHING.general,
    )

    async def run() -> None:
        async with Editor(*folders, capabilities=capabilities, answers=answers) as editor:
            found = [await editor.shown(editor.open(folder / "train.py", MORE)) for folder in folders]
            assert found == [["8 TPL004"], ["10 TPL002"], []]
            gone = lsp.WorkspaceFolder(folders[2].as_uri(), "inner")
            event = lsp.WorkspaceFoldersChangeEvent([], [gone])
            editor.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(event))
            uri = (folders[2] / "train.py").as_uri()
            await editor.until(lambda: brief(editor.published[uri].diagnostics) == ["10 TPL002"])

    asyncio.run(run())
