"""What no graph has reached on any path, and what may carry one."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import Answer
from torchlint.semantics.graphs.graphless import Graphless

HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch.autograd import Variable\n"


def answer(text: str) -> tuple[Answer, str]:
    """Whether the marked expression has no graph, and the doubt."""
    semantics, [node] = marked(HEADER + text)
    fact = semantics.of(Graphless).fact(node)
    return fact.answer, fact.doubt


@pytest.mark.parametrize(
    "text",
    [
        "«torch.zeros(n)»",
        "«torch.argmax(out, 1)»",
        "«F.relu(torch.ones(2) * 3)»",
        "«F.relu(x).detach()»",
        "«torch.exp(w).data»",
        "«Variable(x)»",
        "«torch.exp(w).long()»",
        "«torch.max(torch.exp(w), 1)[1]»",
        "«torch.exp(w).topk(3, dim=1)[1]»",
        "best, places = torch.exp(w).max(dim=1)\n«places»",
        "x = torch.zeros(3)\n«x»",
        "x = torch.zeros(3)\nx[0] = 1\nx.mul_(2)\n«x»",
        "x = torch.zeros(3)\nfor i in range(3):\n    x = x + torch.ones(3)\n«x»",
        "x = torch.zeros(3)\nx += 1\n«x[0]»",
        "x = torch.zeros(3)\nlayer = nn.Linear(3, 3)\ny = layer(x)\nprint(x, x.shape)\n«x»",
        "x = torch.zeros(3)\ny = x.view(-1)\nprint(y.sum())\n«x»",
        "with torch.no_grad():\n    y = torch.exp(w)\n«y»",
        "a, b = torch.zeros(3), torch.ones(3)\n«b»",
        "def f():\n    x = torch.zeros(3)\n    y = «x»\n    return x",
        "«torch.exp(w) > 0»",
        "loss = F.mse_loss(x, y)\n«loss.item() * 2»",
    ],
)
def test_certain(text: str) -> None:
    assert answer(text) == (Answer.CERTAIN, "")


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    «x»",
        "def f(x: torch.Tensor):\n    «x»",
        "«self.hidden»",
        "«torch.max(w, v)[1]»",
        "«torch.max(torch.exp(w), 1)[0]»",
        "«pairs.max(1)[1]»",
        "best, places = torch.exp(w).max(dim=1)\n«best»",
        "«torch.exp(w)»",
        "«torch.zeros(3, requires_grad=True)»",
        "«torch.zeros(3, **options)»",
        "x = torch.zeros(3)\nx[0] = w\n«x»",
        "x = torch.zeros(3)\nx.copy_(w)\n«x»",
        "x = torch.zeros(3)\nx += w\n«x»",
        "x = torch.zeros(3)\nx.requires_grad_()\n«x»",
        "x = torch.zeros(3)\nx.requires_grad = True\n«x»",
        "x = torch.zeros(3)\nsetattr(x, 'requires_grad', True)\n«x»",
        "x = torch.zeros(3)\nv = x.view(-1)\nv[0] = w\n«x»",
        "x = torch.zeros(3)\ny = x\ny.mul_(w)\n«x»",
        "x = torch.zeros(3)\nfill(x)\n«x»",
        "x = torch.zeros(3)\nrows.append(x)\n«x»",
        "x = torch.zeros(3)\nself.x = x\n«x»",
        "x = torch.zeros(3)\nfor row in x:\n    row.add_(w)\n«x»",
        "x = torch.zeros(3)\nif c:\n    x = model(x)\n«x»",
        "x = torch.zeros(3)\nf = lambda: x.add_(w)\n«x»",
        "x = torch.zeros(3)\ndef f():\n    yield x\n«x»",
        "rows = []\nrows.append(w)\n«torch.stack(rows)»",
        "«torch.stack([f(k) for k in range(3)])»",
        "«torch.cosine_similarity(*pair)»",
        "losses = {'a': w}\n«torch.stack(list(losses.values()))»",
        "with torch.no_grad():\n    y = w.view(-1)\n«y»",
        "with torch.no_grad():\n    y = F.dropout(w, training=False)\n«y»",
        "@torch.no_grad()\nasync def f():\n    y = torch.exp(w)\n    «y»",
        "«sample.data»",
        "«p.grad»",
        "for rows in loader:\n    «rows»",
        "«torch.func.functional_call(net, fast, (x,))»",
    ],
)
def test_unknown(text: str) -> None:
    found, doubt = answer(text)
    assert found is Answer.UNKNOWN
    assert doubt.endswith(" may carry graph")
