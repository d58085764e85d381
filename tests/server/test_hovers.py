"""What an editor says of a finding and of an expression under the mouse."""

from __future__ import annotations

import asyncio
from pathlib import Path

from editor import Editor, insertion
from test_findings import SUM, TRAINING


def test_a_finding_is_explained_with_what_was_measured(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            text = await editor.hover(uri, SUM, 11)
            head, what, why, proof, *_ = text.split("\n\n")
            page = "https://github.com/torchlint/torchlint/blob/main/docs/rules/TPL004.md"
            assert head.startswith(f"**[TPL004]({page}) graph-accumulation**: `total` sums `loss`")
            assert what.startswith("Finds values that carry the autograd graph")
            assert why.startswith("**Why is this bad?** The sum, or the list, holds the graph of every step.")
            assert proof.startswith("**Proof** (cpu, torch 2.")
            assert "→ fixed: nodes `[0, 0, 0, 0, 0]`" in proof

    asyncio.run(run())


def test_an_expression_is_explained(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            assert (await editor.hover(uri, 6, 5)).split("\n") == [
                "`loss`: tensor (carries graph) without dimensions",
                "- because: the output of `net`",
                "- bound on line 6: tensor (carries graph) without dimensions",
                "- joined the graph on line 6: net(torch.randn(2, 4)).mean()",
                "- flows into what is back-propagated",
            ]
            editor.change(uri, insertion(0, 0, "# first\n"))
            assert "bound on line 7" in await editor.hover(uri, 7, 5)
            assert await editor.hover(uri, 2, 0) == ""

    asyncio.run(run())


def test_nothing_is_said_of_what_does_not_parse(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", "def f(:\n" + TRAINING)
            assert await editor.hover(uri, 7, 5) == ""

    asyncio.run(run())


def test_without_markdown_the_same_is_plain_text(tmp_path: Path) -> None:
    from lsprotocol import types as lsp

    async def run() -> None:
        async with Editor(tmp_path, capabilities=lsp.ClientCapabilities()) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(6, 5))
            found = await editor.text_document_hover_async(params)
            assert found is not None
            assert isinstance(found.contents, lsp.MarkupContent)
            assert found.contents.kind is lsp.MarkupKind.PlainText

    asyncio.run(run())
