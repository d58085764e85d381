"""Random edits over the protocol, for as long as wanted: `python tests/server/soak.py --minutes 20`.

Texts are opened, typed in, undone, closed and opened again, half of the time without waiting for an answer. Every now and then,
and at the end, what the editor shows of each text is compared with what `torchlint.lint` says of it, which is what the command
says; and the memory of the server and of its worker is looked at. The exit code is 1 where anything differs.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from editor import Editor, brief
from lsprotocol import types as lsp

import torchlint

ROOT = Path(__file__).parents[2]
PIECES = (
    *("\n", "x", " ", "()", "'", '"""', "#", "    ", "é", "😀", "\t", ":", "\\", "loss = net(x).mean()\n", "total += loss\n"),
    *(".data", ".detach()", "  # noqa", "  # noqa: TPL002", "with torch.no_grad():\n    ", "def f(a, b):\n    return a.data\n"),
    *("import torch\n", "for i in range(3):\n    ", "if x:\n", "\u2028", "\x0c"),
)
"""What is typed: what rules are about, and what makes texts hard to count in and impossible to parse."""


@dataclass
class Page:
    """One text that is open, with what it was before, to be undone."""

    path: Path
    uri: str
    history: list[str] = field(default_factory=list)


class Soak:
    """Edits at random, reproducibly by the seed."""

    def __init__(self, editor: Editor, folder: Path, seed: int) -> None:
        self.editor = editor
        self.random = random.Random(seed)
        self.starts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "fixtures").glob("tpl[0-3]*/bad.py"))[::6]]
        self.pages = [self.opened(folder / f"text{number}.py") for number in range(4)]
        self.edits = 0
        self.compared = self.parsed = self.found = 0

    def opened(self, path: Path) -> Page:
        return Page(path, self.editor.open(path, self.random.choice(self.starts)))

    def step(self) -> None:
        """Does one thing to one text."""
        page = self.random.choice(self.pages)
        text = self.editor.texts[page.uri]
        self.edits += 1
        kind = self.random.random()
        if kind < 0.03:
            self.editor.close(page.uri)
            self.pages[self.pages.index(page)] = self.opened(page.path)
        elif page.history and kind < (0.2 if parses(text) else 0.7):  # what does not parse is undone sooner
            self.editor.change(page.uri, whole=page.history.pop())
        else:
            page.history = [*page.history[-50:], text]
            self.editor.change(page.uri, self.edit(text))

    def edit(self, text: str) -> lsp.TextEdit:
        """An edit somewhere: something typed, something deleted, or both."""
        start = self.random.randrange(len(text) + 1)
        end = min(len(text), start + self.random.choice((0, 0, 0, 1, 1, 5, 40)))
        new = self.random.choice(PIECES) if self.random.random() < 0.7 or start == end else ""
        return lsp.TextEdit(lsp.Range(place(text, start), place(text, end)), new)

    async def compare(self) -> list[str]:
        """What differs between what is shown and what is so."""
        wrong = []
        for page in self.pages:
            shown = await self.editor.findings(page.uri)
            text = self.editor.texts[page.uri]
            self.compared += 1
            try:
                expected = torchlint.lint(text, filename=str(page.path))
            except torchlint.SourceError:
                if not any(each.code == "invalid-syntax" for each in shown) and "torch" in text:
                    wrong.append(f"{page.path.name} cannot be parsed, and nothing says so: {brief(shown)}")
                continue
            self.parsed += 1
            self.found += len(expected)
            found = [(each.range.start, each.range.end, each.code, each.message) for each in shown]
            wanted = [
                (position(text, each.location), position(text, each.end_location), each.code, each.message) for each in expected
            ]
            if found != wanted:
                wrong.append(f"{page.path.name}: shown {found}, expected {wanted}, text {text!r}")
        return wrong


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        compile(text, "text", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def place(text: str, offset: int) -> lsp.Position:
    """Where an offset is, in units of UTF-16; texts have LF alone."""
    before = text[:offset]
    return lsp.Position(before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2)


def position(text: str, location: torchlint.Location) -> lsp.Position:
    """Where a place of a finding is."""
    line = text.split("\n")[location.row - 1]
    return lsp.Position(location.row - 1, len(line[: location.column - 1].encode("utf-16-le")) // 2)


def memory(process: int) -> int:
    """The resident kilobytes of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


def family(process: int) -> list[int]:
    """A process and its children."""
    return [process, *map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]


async def soak(folder: Path, seconds: float, edits: int, seed: int, every: int = 50) -> tuple[Soak, list[str], list[list[int]]]:
    """Edits until time or edits are used up; gives the differences, and the memory of each process from time to time."""
    async with Editor(folder) as editor:
        run = Soak(editor, folder, seed)
        wrong: list[str] = []
        sizes: list[list[int]] = []
        end = time.monotonic() + seconds
        while run.edits < edits and time.monotonic() < end:
            run.step()
            if run.random.random() < 0.5:
                await asyncio.sleep(run.random.choice((0, 0.005, 0.03, 0.1)))
            if run.edits % every == 0:
                wrong += await run.compare()
                sizes.append([memory(each) for each in family(editor.process.pid)])
        wrong += await run.compare()
        return run, wrong, sizes


def main(arguments: Sequence[str] | None = None) -> int:
    """Soaks, and says what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--edits", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run, wrong, sizes = asyncio.run(soak(Path(folder), options.minutes * 60, options.edits, options.seed))
    print(*wrong, sep="\n")
    print(f"{run.edits} edits in {time.monotonic() - start:.0f} s, {run.compared} comparisons, {len(wrong)} differences")
    print(f"{run.parsed} of the texts compared are Python, with {run.found} findings")
    for name, column in zip(("server", "worker"), zip(*sizes, strict=True), strict=True):
        tenth = max(len(column) // 10, 1)
        print(f"{name}: {max(column[: 2 * tenth]) / 1000:.1f} MB at the start, {max(column[-tenth:]) / 1000:.1f} MB at the end")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
