"""Softmaxes that are given no dimension."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics import Semantics
from torchlint.semantics.apis.implicit_dims import ImplicitDims
from torchlint.text.source import Source

IMPORTS = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nx = torch.zeros(2, 3, 4)\n"


def picked(snippet: str) -> list[tuple[int | None, int | None]]:
    """What the softmaxes of a snippet pick, and of how many dimensions."""
    semantics, _ = marked(IMPORTS + snippet)
    return [(each.dim, each.rank) for each in semantics.of(ImplicitDims).picked.values()]


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("F.softmax(x)", (0, 3)),
        ("F.log_softmax(x[0])", (1, 2)),
        ("F.softmin(input=x[0][0])", (0, 1)),
        ("F.softmax(unknown)", (None, None)),
        ("F.softmax(x, None)", (0, 3)),
        ("F.softmax(x, dim=None)", (0, 3)),
        ("from torch.nn.functional import softmax as s\ns(x)", (0, 3)),
        ("nn.Softmax()", (None, None)),
        ("nn.Softmax()(x)", (0, 3)),
        ("f = nn.LogSoftmax()\nf(x)\nf(x + 1)", (0, 3)),
        ("f = nn.LogSoftmax()\nf(x)\nf(x[0])", (None, None)),
        ("f = nn.LogSoftmax()\nf(x)\nf(unknown).max(1)", (None, None)),
        ("f = nn.LogSoftmax()\ny = x[0]\nf(y)\nf(unknown)", (None, None)),
        ("f = nn.LogSoftmax()\nf(x[0])\ndef g(z):\n    print(z[:, 1])\n    return f(z)", (1, None)),
        ("def f(y):\n    print(y[:, 1])\n    return F.softmax(y)", (1, None)),
        ("def f(y): return F.softmax(y).max(1)", (1, None)),
        ("def f(y):\n    z = F.softmax(y)\n    return z.data.max(1)", (1, None)),
        ("f = nn.LogSoftmax()\ndef g(y, labels): return F.nll_loss(f(y), labels)", (1, None)),
        ("def f(y): return F.softmax(y).max(0)", (None, None)),
        ("def f(y, labels): return F.nll_loss(F.log_softmax(y), labels)", (1, None)),
        ("def f(y, z): return F.softmax(torch.cat((y, z), 1))", (1, None)),
        ("f = nn.Sequential(nn.Linear(4, 2), nn.Softmax())\nf(x[0])", (1, 2)),
        ("f = nn.Sequential(nn.Linear(4, 2), nn.Softmax())\nf(x[0][0])", (0, 1)),
        ("f = nn.Sequential(nn.Linear(4, 2), nn.Softmax())\nf(unknown)", (None, None)),
        ("nn.Sequential(nn.Conv2d(1, 1, 1), nn.Softmax())", (1, 4)),
    ],
)
def test_tells_what_is_picked(snippet: str, expected: tuple[int | None, int | None]) -> None:
    assert picked(snippet) == [expected]


@pytest.mark.parametrize(
    "snippet",
    [
        *("F.softmax(x, dim=1)", "F.softmax(x, -1)", "F.softmax(x, d)", "F.softmax(*args)", "F.softmax(x, **options)"),
        *("x.softmax(-1)", "torch.softmax(x, 0)", "nn.Softmax(1)", "nn.Softmax(dim=1)", "F.softmax()"),
        "def softmax(x): ...\nsoftmax(x)",
    ],
)
def test_finds_no_other_calls(snippet: str) -> None:
    assert picked(snippet) == []


@pytest.mark.parametrize(
    ("made", "used", "expected"),
    [
        ("self._pick = nn.Softmax()", "F.softmax(x, dim=-1)", True),
        ("self._pick = nn.Softmax()", "self._pick(x)", False),
        ("self._pick = nn.Softmax()", "apply(self._pick, x)", False),
        ("self.pick = nn.Softmax()", "F.softmax(x, dim=-1)", False),  # another file may call it
        ("_pick = nn.Softmax()", "F.softmax(x, dim=-1)", False),
    ],
)
def test_a_module_that_is_never_called_picks_nothing(made: str, used: str, expected: bool) -> None:
    text = f"class Net(nn.Module):\n    def __init__(self):\n        {made}\n    def forward(self, x): return {used}\n"
    semantics, _ = marked(IMPORTS + text)
    [found] = semantics.of(ImplicitDims).picked.values()
    assert found.is_idle is expected


@pytest.mark.parametrize(("used", "expected"), [("F.softmax(x, dim=-1)", True), ("self.pick(x)", False)])
def test_nothing_else_reads_what_a_notebook_defines(used: str, expected: bool) -> None:
    text = f"class Net(nn.Module):\n    def __init__(self): self.pick = nn.Softmax()\n    def forward(self, x): return {used}\n"
    semantics = Semantics(Source(IMPORTS + text).tree, file="tries.ipynb")
    [found] = semantics.of(ImplicitDims).picked.values()
    assert found.is_idle is expected
