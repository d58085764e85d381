"""``async`` and ``await`` were names until Python 3.6: code of that time is read, linted and fixed like any other."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import torchlint
from command import torchlint_
from torchlint.text.source import Source, SourceError


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


NAMES = [
    "async = 1",
    "async += await",
    "asyncio.async(f)",
    "x.async = y.await",
    "def async(x): return async",
    "def f(async, await=None, *, g=async): pass",
    "class await: pass",
    "import async, a.async.b as await",
    "from a.async import await",
    "from async import x",
    "global async",
    "f(async=True, await=async)",
    "lambda async: async",
    "[async for async in x if async]",
    "{async: await for async, await in x}",
    "(async for async in x)",
    "print(async if await else async)",
    "x = async, await",
    "x[async:await]",
    "if async: await.x()",
    "await - await * await == 0",
    "not await",
    "async; await",
    "for async in x: async()",
    "with x as async: pass",
    "try: pass\nexcept E as async: pass",
    "f'{x.async} {await.y!r:>{async}} async' 'await'",
    "x.async  # async def await",
    "'async' + \"await\" + '''async''' + async",
    "é.async.é = async",
]


@pytest.mark.parametrize("text", NAMES)
def test_names_are_read_as_any_other(text: str) -> None:
    """The tree is that of the text with other names of five letters, but for the names."""
    with pytest.raises(SyntaxError):
        ast.parse(text)
    renamed = ast.dump(Source(text.replace("async", "zzzzz").replace("await", "qqqqq")).tree, include_attributes=True)
    expected = renamed.replace("zzzzz", "async").replace("qqqqq", "await")
    assert ast.dump(Source(text).tree, include_attributes=True).replace("zzzzz", "async") == expected


KEYWORDS = [
    "async def f(): return await x.async",
    "async def f():\n    async with x.async as y: await y; await (y)\n    async for z in y: await x.async",
    "async def f(): return [x.async async for x in y]",
    "async def f(): return [await x.async async for x in y() async for x in z[0] async for x in 'a' async for x in 1]",
    "@async\nasync def f(): await [x][0]",
]


@pytest.mark.parametrize("text", KEYWORDS)
def test_keywords_stay_keywords(text: str) -> None:
    dump = ast.dump(Source(text).tree)
    as_keywords = text.replace("x.async", "x.zzzzz").replace("@async", "@zzzzz")
    assert dump.replace("'async'", "'zzzzz'") == ast.dump(ast.parse(as_keywords))


@pytest.mark.parametrize(
    "text", ["async(", "async async", "x.cuda(async=True", "print 'x', x.cuda(async=True)", "def f(: async"]
)
def test_what_is_no_python_for_another_reason_is_refused(text: str) -> None:
    with pytest.raises(SourceError):
        _ = Source(text).tree


def test_a_name_that_the_file_has_stands_for_nothing_else() -> None:
    names = [f"as{a}{b}{c}" for a in "_9" for b in "_9" for c in "_9876543210"]
    source = Source(f"{', '.join(names)} = async")
    assert {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)} == {*names, "async"}


OLD = """\
import torch
from torch.autograd import Variable

def train(loader, model, async=True):
    total = 0
    for x in loader:
        x = Variable(x.cuda(async=async))
        y = model(x).data.cuda(async=True)
        asyncio.async(y)
        model.weight.data.mul_(len(x.async,
                                   await))
"""


def test_the_rest_of_the_file_is_linted_and_fixed() -> None:
    Path("a.py").write_text(OLD)
    found = json.loads(torchlint_("--output-format", "json", "--extend-select", "TPL101", "a.py").stdout)
    assert [(each["code"], each["location"]["row"], each["location"]["column"]) for each in found] == [
        ("TPL101", 7, 13),
        ("TPL110", 7, 29),
        ("TPL002", 8, 13),
        ("TPL110", 8, 32),
        ("TPL001", 10, 9),
    ]
    finished = torchlint_("--fix", "--unsafe-fixes", "--extend-select", "TPL101", "a.py")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert (
        Path("a.py").read_text()
        == """\
import torch

def train(loader, model, async=True):
    total = 0
    for x in loader:
        x = x.cuda(non_blocking=async)
        y = model(x).detach().cuda(non_blocking=True)
        asyncio.async(y)
        with torch.no_grad():
            model.weight.mul_(len(x.async,
                                  await))
"""
    )


def test_a_fix_that_mends_the_file() -> None:
    Path("a.py").write_text("import torch\n\ny = x.cuda(0, async=True)\r\n")
    assert torchlint_("--fix", "a.py").returncode == 0
    assert Path("a.py").read_bytes() == b"import torch\n\ny = x.cuda(0, non_blocking=True)\r\n"


def test_a_call_that_is_given_both_has_no_fix() -> None:
    [found] = torchlint.lint("import torch\nx.copy_(y, async=True, non_blocking=True)\n")
    assert (found.code, found.fix) == ("TPL110", None)


def test_moves_with_the_old_word_are_moves() -> None:
    """What is asked of `non_blocking` is answered for `async`: the tensor is made where it is to be."""
    [moved] = torchlint.lint("import torch\nx = torch.zeros(3).cuda(async=True)\n", select=["TPL401"])
    assert "device" in moved.message


def test_messages_and_comments() -> None:
    text = "import torch\nw.data = await.async(x)  # noqa: TPL003\nv.data.mul_(await.async(\n  x))\n"
    assert [found.code for found in torchlint.lint(text, select=["TPL001", "TPL003"])] == ["TPL001"]
    assert torchlint.fix(
        "import torch\nx = torch.nn.Linear(2, 2).weight\nx.data.mul_(async.y(\n 1))  # async\n", unsafe=True
    ).text == (
        "import torch\nx = torch.nn.Linear(2, 2).weight\nwith torch.no_grad():\n    x.mul_(async.y(\n     1))  # async\n"
    )


def test_in_a_notebook() -> None:
    cell = {
        "cell_type": "code",
        "source": ["%pylab\n", "import torch\n", "x = x.cuda(async=True)"],
        "metadata": {},
        "outputs": [],
    }
    Path("a.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    assert torchlint_("--fix", "a.ipynb").returncode == 0
    assert json.loads(Path("a.ipynb").read_text())["cells"][0]["source"][2] == "x = x.cuda(non_blocking=True)"
