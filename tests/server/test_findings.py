"""What an editor shows of a text as it is typed, through the real protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path

from editor import Editor, at, brief, insertion
from lsprotocol import types as lsp

from torchlint.diagnostic import Diagnostic, Location

TRAINING = """\
import torch

net = torch.nn.Linear(4, 1)
total = 0.0
for _ in range(3):
    loss = net(torch.randn(2, 4)).mean()
    loss.backward()
    total += loss
print(total)
"""
SUM = 7
"""The line of the finding, counted from 0."""


def test_a_finding_has_all_that_an_editor_shows(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            (found,) = await editor.findings(editor.open(tmp_path / "train.py", TRAINING))
            assert found.range == at(SUM, 4, 17)
            assert found.message == (
                "`total` sums `loss` with its autograd graph: memory grows with every step; use `.detach()`"
            )
            assert (found.code, found.source, found.severity) == ("TPL004", "torchlint", lsp.DiagnosticSeverity.Error)
            assert found.code_description is not None
            assert found.code_description.href == "https://github.com/torchlint/torchlint/blob/main/docs/rules/TPL004.md"
            assert not found.tags

    asyncio.run(run())


def test_what_is_typed_counts_and_not_what_is_saved(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n")

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            assert await editor.shown(uri) == ["8 TPL004"]
            editor.change(uri, insertion(SUM, 17, ".detach()"))
            assert await editor.shown(uri) == []
            editor.change(uri, insertion(0, 0, "# first\n"), insertion(SUM + 1, 26, "\n    x = loss.data"))
            assert await editor.shown(uri) == ["10 TPL002"]
            editor.change(uri, whole=TRAINING.replace("total += loss", "total += loss  # noqa: TPL004"))
            assert await editor.shown(uri) == []

    asyncio.run(run())


def test_what_is_stale_is_not_said(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            await editor.findings(uri)
            before = editor.count
            for letter in "# a comment that is typed letter by letter":
                editor.change(uri, insertion(9, len(editor.texts[uri].split("\n")[9]), letter))
            assert await editor.shown(uri) == ["8 TPL004"]
            assert editor.count - before < 40
            assert editor.texts[uri].endswith("# a comment that is typed letter by letter")

    asyncio.run(run())


def test_severities_and_tags(tmp_path: Path) -> None:
    text = "import torch\nfrom torch.autograd import Variable\nx = Variable(torch.ones(3))\ny = 1  # noqa: TPL004\n"

    async def run() -> None:
        async with Editor(tmp_path, settings={"extendSelect": ["TPL900"]}) as editor:
            found = await editor.findings(editor.open(tmp_path / "old.py", text))
            tagged = {each.code: (each.severity, list(each.tags or ())) for each in found}
            assert tagged == {
                "TPL101": (lsp.DiagnosticSeverity.Warning, [lsp.DiagnosticTag.Deprecated]),
                "TPL900": (lsp.DiagnosticSeverity.Warning, [lsp.DiagnosticTag.Unnecessary]),
            }

    asyncio.run(run())


def test_a_syntax_error_keeps_what_still_holds(tmp_path: Path) -> None:
    text = TRAINING + "value = loss.data\n"

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", text)
            assert await editor.shown(uri) == ["8 TPL004", "10 TPL002"]
            editor.change(uri, insertion(0, 0, "def f(:\n"))
            found = await editor.findings(uri)
            assert brief(found) == ["9 TPL004", "11 TPL002", "1 invalid-syntax"]
            assert found[2].message.startswith("cannot parse as Python 3.")
            assert [each.title for each in await editor.actions(uri, at(8, 4, 17), "quickfix")] == [
                "TPL004: silence with noqa on this line"
            ]
            editor.change(uri, insertion(8, 9, " "))  # on the line of the first: it may hold no longer
            assert await editor.shown(uri) == ["11 TPL002", "1 invalid-syntax"]
            editor.change(uri, lsp.TextEdit(lsp.Range(lsp.Position(0, 0), lsp.Position(1, 0)), ""))
            assert await editor.shown(uri) == ["8 TPL004", "10 TPL002"]

    asyncio.run(run())


def test_syntax_errors_can_be_left_to_others(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path, settings={"showSyntaxErrors": False}) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            assert await editor.shown(uri) == ["8 TPL004"]
            editor.change(uri, insertion(0, 0, "def f(:\n"))
            assert await editor.shown(uri) == ["9 TPL004"]

    asyncio.run(run())


def test_closing_takes_findings_away(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            await editor.findings(uri)
            editor.close(uri)
            await editor.until(lambda: not editor.published[uri].diagnostics)
            editor.open(tmp_path / "train.py", TRAINING)
            await editor.until(lambda: brief(editor.published[uri].diagnostics) == ["8 TPL004"])

    asyncio.run(run())


def test_what_is_declared_of_an_encoding_is_the_files_affair(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\nimport torch\nloss = torch.nn.Linear(1, 1)(torch.ones(1))\nname = 'é€'; x = loss.data\n"

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            (found,) = await editor.findings(editor.open(tmp_path / "old.py", text))
            assert found.range == at(3, 17, 26)

    asyncio.run(run())


def test_a_text_that_has_no_file_yet(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = "untitled:Untitled-1"
            item = lsp.TextDocumentItem(uri, lsp.LanguageKind.Python, 1, TRAINING)
            editor.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
            await editor.until(lambda: uri in editor.published)
            assert brief(editor.published[uri].diagnostics) == ["8 TPL004"]

    asyncio.run(run())


def test_a_cell_that_is_opened_as_a_text_of_its_own(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = f"vscode-notebook-cell:{tmp_path.as_posix()}/train.ipynb#W0"
            item = lsp.TextDocumentItem(uri, lsp.LanguageKind.Python, 1, TRAINING)
            editor.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
            await editor.until(lambda: uri in editor.published)
            assert brief(editor.published[uri].diagnostics) == ["8 TPL004"]

    asyncio.run(run())


def test_dated_apis_are_tagged_and_what_is_broken_is_not() -> None:
    """Of the rules about legacy code, those of what was removed, or never worked, are errors to be seen."""
    from torchlint.rules import own_rules
    from torchlint.server.answers import diagnostic
    from torchlint.server.texts import Text, Units

    place = Location(1, 1)
    plain = {
        rule.code
        for rule in own_rules()
        if rule.code.startswith("TPL1")
        and not diagnostic(Diagnostic(rule.code, "", "", "", place, place, None, ""), Text("", Units.UTF_16)).tags
    }
    assert plain == {"TPL102", "TPL104"}


def test_what_is_no_python_is_left_alone(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            item = lsp.TextDocumentItem((tmp_path / "a.md").as_uri(), lsp.LanguageKind.Markdown, 1, TRAINING)
            editor.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
            await editor.findings(editor.open(tmp_path / "b.py", TRAINING))
            assert list(editor.published) == [(tmp_path / "b.py").as_uri()]

    asyncio.run(run())
