"""Which names stand for tensors that were made of arrays."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.graphs.likely.given_arrays import GivenArrays

_MADE = "import numpy as np\nimport torch\nfrom torch import nn\n\nnet = nn.Linear(3, 3)\n"
_FILLED = """\
def spread(paths):
    kept = []
    for path in paths:
        row = torch.from_numpy(np.load(path))
        kept.append({added})
    kept = torch.cat(kept, 0)
    mid = torch.mean(kept, dim=0)
    return «mid»
"""
_HANDED = """\
def distances(middle, rows):
    for row in rows:
        «row»
    return middle

def all_of(paths):
    rows = []
    for path in paths:
        rows.append(torch.from_numpy(np.load(path)))
    return distances(rows[0], {given})
"""


def are_arrays(text: str) -> bool:
    semantics, [node] = marked(_MADE + text)
    return semantics.of(GivenArrays).are(node)


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.from_numpy(np.load('a'))\n«x»",
        "x = torch.from_numpy(np.load('a')).float().mean(0)\n«x»",
        _FILLED.format(added="torch.unsqueeze(row, 0)"),
        _FILLED.format(added="row.view(1, -1)"),
        _HANDED.format(given="rows"),
        "def f(middle):\n    return «middle»\n\nf(torch.from_numpy(np.load('a')))",
    ],
)
def test_they_were_made_of_arrays(text: str) -> None:
    assert are_arrays(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.from_numpy(np.load('a'))\nx = net(x)\n«x»",
        "x = torch.from_numpy(np.load('a'))\nx.requires_grad_()\n«x»",
        "x = torch.from_numpy(np.load('a'))\nx.requires_grad = True\ny = x.mean()\n«y»",
        "def f(a):\n    x = torch.from_numpy(np.load('a'))\n    if a:\n        x = net(x)\n    return «x»",
        _FILLED.format(added="net(row)"),
        _FILLED.format(added="row if path else net(row)"),
        _FILLED.format(added="row").replace("    kept = torch.cat", "    kept.append(net(row))\n    kept = torch.cat"),
        _FILLED.format(added="row").replace("    kept = torch.cat", "    kept[0] = net(row)\n    kept = torch.cat"),
        _FILLED.format(added="row").replace("    kept = torch.cat", "    kept += [net(row)]\n    kept = torch.cat"),
        _HANDED.format(given="[net(row) for row in rows]"),
        _HANDED.format(given="rows") + "\ndistances(0, [net(0)])",
        "def f(middle):\n    return «middle»",  # nobody tells
        "def f(middle):\n    middle = net(middle)\n    return «middle»\n\nf(torch.from_numpy(np.load('a')))",
        "class N:\n    def f(self, x):\n        return «x»\n\n    def g(self):\n        self.f(torch.from_numpy(np.load('a')))",
    ],
)
def test_they_may_be_others(text: str) -> None:
    assert not are_arrays(text)
