"""How many dimensions the marked expression has."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.shapes.ranks import Ranks

HEADER = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nfrom torch.autograd import Variable\n"


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("«torch.zeros(3)»", 1),
        ("«torch.zeros(2, n)»", 2),
        ("«torch.zeros((2, n, 4))»", 3),
        ("«torch.zeros(size)»", None),
        ("«torch.zeros(*size)»", None),
        ("«Variable(torch.randn(2, 3))»", 2),
        ("«torch.FloatTensor(2, 3)»", 2),
        ("«x.view(-1, 10)»", 2),
        ("«x.view(-1)»", 1),
        ("«x.view(sizes)»", None),
        ("«x.view((2, 3))»", 2),
        ("«x.view(y.size())»", None),
        ("y = torch.zeros(2, 3)\n«x.view(y.size())»", 2),
        ("«x.t()»", 2),
        ("«torch.bmm(a, b)»", 3),
        ("«torch.bmm(a, b).squeeze(2)»", 2),
        ("«torch.bmm(a, b).squeeze()»", None),
        ("«torch.mm(a, b) / 2»", 2),
        ("«torch.mm(a, b) + c»", None),
        ("«F.relu(torch.mm(a, b)).unsqueeze(0)»", 3),
        ("«torch.zeros(2, 3)[0]»", 1),
        ("«torch.zeros(2, 3)[:1]»", 2),
        ("«torch.zeros(2, 3)[mask]»", None),
        ("«torch.zeros(2, 3).sum(1)»", 1),
        ("«torch.zeros(2, 3).sum(1, keepdim=True)»", None),
        ("«torch.cat([x, torch.zeros(2, 3)], 1)»", 2),
        ("«torch.stack([torch.zeros(2, 3)])»", 3),
        ("x = torch.zeros(3)\nx = F.softmax(x.view(1, 3))\n«x»", 2),
        ("x = torch.zeros(3)\nif c: x = torch.zeros(3, 3)\n«x»", None),
        ("x = torch.zeros(3)\nx += 1\n«x»", 1),
        ("layer = nn.Linear(3, 4)\n«layer(torch.zeros(2, 3))»", 2),
        ("layer = nn.Linear(3, 4)\n«layer(x)»", None),
        ("layer = nn.Conv2d(3, 4, 1)\n«layer(x)»", 4),
        ("layer = nn.Embedding(3, 4)\n«layer(torch.zeros(2, 3).long())»", 3),
        ("lstm = nn.LSTM(3, 4)\nout, state = lstm(x)\n«out»", 3),
        ("def f(x):\n    return «x»\n\nf(torch.zeros(2, 3))\nf(torch.ones(4, 5))", 2),
        ("def f(x):\n    return «x»\n\nf(torch.zeros(2, 3))\nf(torch.ones(4))", None),
        ("x = x.view(1, 2) if c else x\n«x»", None),
        ("«unknown»", None),
    ],
)
def test_ranks(snippet: str, expected: int | None) -> None:
    semantics, (node,) = marked(HEADER + snippet)
    assert Ranks(semantics).of(node) == expected


def test_what_comes_out_of_a_chain_of_modules() -> None:
    semantics, modules = marked(HEADER + "nn.Sequential(«nn.Conv2d(1, 2, 3)», «nn.ReLU()», «nn.Linear(2, 3)», «nn.Flatten()»)")
    ranks = Ranks(semantics)
    assert [ranks.behind(modules[:end]) for end in range(5)] == [None, 4, 4, 4, None]
