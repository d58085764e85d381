"""Quick fixes, comments and all fixes at once: what they are called, and the texts that they leave."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from editor import EVERYTHING, Editor, at, edits_of, insertion
from lsprotocol import types as lsp

FIXABLE = """\
import torch

net = torch.nn.Linear(4, 1)
total = 0.0
for _ in range(3):
    loss = net(torch.randn(2, 4)).mean()
    loss.backward()
    total += loss
print(total)
value = loss.data
"""
UNSAFE = """\
import torch

net = torch.nn.Linear(1, 1)
x = net.forward(torch.ones(1))
"""


def test_a_safe_fix_is_preferred_and_leaves_the_fixed_text(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", FIXABLE)
            fix, comment = await editor.actions(uri, at(7, 10), "quickfix")
            assert (fix.title, fix.kind, fix.is_preferred) == ("TPL004: Add `.detach()`", "quickfix", True)
            assert [each.code for each in fix.diagnostics or ()] == ["TPL004"]
            assert await editor.after(fix, uri) == FIXABLE.replace("+= loss", "+= loss.detach()")
            assert (comment.title, comment.is_preferred) == ("TPL004: silence with noqa on this line", False)
            assert await editor.after(comment, uri) == FIXABLE.replace("+= loss", "+= loss  # noqa: TPL004")

    asyncio.run(run())


def test_an_unsafe_fix_says_so_and_why(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", UNSAFE)
            fix, _ = await editor.actions(uri, at(3, 5), "quickfix")
            assert fix.title == "TPL302: Call the module (unsafe: the module's hooks run, which may change results)"
            assert fix.is_preferred is False
            assert await editor.after(fix, uri) == UNSAFE.replace("net.forward(", "net(")
            assert [each.kind for each in await editor.actions(uri, at(3, 5))] == ["quickfix", "quickfix"]
            (everything,) = await editor.actions(uri, at(3, 5), "source.fixAll")
            assert (await editor.code_action_resolve_async(everything)).edit is None

    asyncio.run(run())


def test_unsafe_fixes_can_be_turned_off(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path, settings={"unsafeFixes": False}) as editor:
            uri = editor.open(tmp_path / "train.py", UNSAFE)
            assert await editor.findings(uri)
            (comment,) = await editor.actions(uri, at(3, 5), "quickfix")
            assert comment.title == "TPL302: silence with noqa on this line"

    asyncio.run(run())


@pytest.mark.parametrize("lazy", [True, False])
def test_fix_all_leaves_what_the_command_leaves(lazy: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FIXABLE)
    capabilities = EVERYTHING if lazy else lsp.ClientCapabilities()

    async def run() -> str:
        async with Editor(tmp_path, capabilities=capabilities) as editor:
            uri = editor.open(tmp_path / "train.py", FIXABLE)
            (action,) = await editor.actions(uri, at(0), "source.fixAll")
            assert (action.kind, action.title) == ("source.fixAll.torchlint", "torchlint: make all safe fixes")
            assert (action.edit is None) == lazy
            edit = await editor.edit_of(action)
            assert (edit.changes is None) == lazy
            assert len(edits_of(edit, uri)) == 2, "lines that do not change are not touched"
            return await editor.after(action, uri)

    text = asyncio.run(run())
    subprocess.run([sys.executable, "-m", "torchlint", "--fix", "train.py"], cwd=tmp_path, check=False, capture_output=True)
    assert text == (tmp_path / "train.py").read_text()
    assert text == FIXABLE.replace("+= loss", "+= loss.detach()").replace("loss.data", "loss.detach()")


def test_only_what_is_asked_for_is_offered(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", FIXABLE)
            kinds = {
                only: [each.kind for each in await editor.actions(uri, at(7, 10), only)]
                for only in ("quickfix", "source", "source.fixAll.torchlint", "source.organizeImports", "refactor")
            }
            assert kinds == {
                "quickfix": ["quickfix", "quickfix"],
                "source": ["source.fixAll.torchlint"],
                "source.fixAll.torchlint": ["source.fixAll.torchlint"],
                "source.organizeImports": [],
                "refactor": [],
            }
            everything = [each.kind for each in await editor.actions(uri, at(7, 10))]
            assert everything == ["quickfix", "quickfix", "source.fixAll.torchlint"]
            assert [each.kind for each in await editor.actions(uri, at(0))] == ["source.fixAll.torchlint"]

    asyncio.run(run())


def test_fix_all_can_be_turned_off(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path, settings={"fixAll": False}) as editor:
            uri = editor.open(tmp_path / "train.py", FIXABLE)
            assert await editor.actions(uri, at(0), "source.fixAll") == []

    asyncio.run(run())


def test_an_action_for_a_text_that_has_changed_is_for_the_new_text(tmp_path: Path) -> None:
    """Actions are offered for the text as it is, also right behind a keystroke; one that was offered before has no edit."""

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", FIXABLE)
            _, comment = await editor.actions(uri, at(7, 10), "quickfix")
            editor.change(uri, insertion(0, 0, "# first\n"))
            late = await editor.code_action_resolve_async(comment)
            assert late.edit is None
            fix, _ = await editor.actions(uri, at(8, 10), "quickfix")
            assert await editor.after(fix, uri) == "# first\n" + FIXABLE.replace("+= loss", "+= loss.detach()")
            assert fix.edit is not None
            assert fix.edit.document_changes is not None
            (change,) = fix.edit.document_changes
            assert isinstance(change, lsp.TextDocumentEdit)
            assert change.text_document.version == 2

    asyncio.run(run())


def test_columns_are_units_of_utf_16(tmp_path: Path) -> None:
    text = FIXABLE.replace("value = loss.data", "é = '😀'; value = loss.data; é")

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", text)
            found = (await editor.findings(uri))[1]
            assert found.range == at(9, 18, 27)
            fix, comment = await editor.actions(uri, found.range, "quickfix")
            assert await editor.after(fix, uri) == text.replace("loss.data", "loss.detach()")
            assert await editor.after(comment, uri) == text.replace("data; é", "data; é  # noqa: TPL002")
            editor.change(uri, insertion(9, 7, "😀😀"), insertion(9, 11, "é"))
            assert (await editor.findings(uri))[1].range == at(9, 23, 32)

    asyncio.run(run())


def test_columns_are_bytes_where_the_client_prefers_them(tmp_path: Path) -> None:
    text = FIXABLE.replace("value = loss.data", "é = '😀'; value = loss.data; é")
    capabilities = lsp.ClientCapabilities(general=lsp.GeneralClientCapabilities(position_encodings=["utf-8", "utf-16"]))

    async def run() -> None:
        async with Editor(tmp_path, capabilities=capabilities) as editor:
            assert editor.server.capabilities.position_encoding == "utf-8"
            uri = editor.open(tmp_path / "train.py", text)
            found = (await editor.findings(uri))[1]
            assert found.range == at(9, 21, 30)
            assert "loss.detach()" in str((await editor.actions(uri, found.range, "quickfix"))[0])

    asyncio.run(run())
