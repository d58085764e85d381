"""Tensors that have two axes at least."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.shapes.several_axes import SeveralAxes

IMPORTS = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch.utils.data import DataLoader\n"
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(4, 2), nn.Dropout()

    def forward(self, x, y):
        z = {value}
        return «z»
"""


def has(snippet: str) -> bool:
    semantics, [node] = marked(IMPORTS + snippet)
    return semantics.of(SeveralAxes).has(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "«torch.zeros(2, 3)»",
        "def f(x): return «x».max(1)",
        "def f(x): return torch.max(«x», dim=1)",
        "def f(x): return «x»[:, 0]",
        "def f(x): return «x».shape[1]",
        "def f(x): return «x».topk(5, 1)",
        "def f(x): return «x».unsqueeze(2)",
        "def f(x, y): return F.cross_entropy(«x», y)",
        "loss = nn.NLLLoss()\ndef f(x, y): return loss(«x», y)",
        "def f(x):\n    print(x.size(1))\n    return «x»",
        "def f(x):\n    print(x.size(1))\n    y = F.relu(x) * 2\n    return «y»",
        "def f(x, y): return «x + y.view(3, 4)»",
        "def f(x, y): return «torch.cat([x, y], dim=1)»",
        NET.format(value="self.fc(x)"),
        NET.format(value="self.drop(self.fc(x)).float()"),
        "net = nn.Linear(4, 2)\nfor x, y in DataLoader(data, 8):\n    z = net(x)\n    print(«z»)",
    ],
)
def test_has_two_axes_at_least(snippet: str) -> None:
    assert has(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "«torch.zeros(2)»",
        "«unknown»",
        "def f(x): return «x».max(0)",
        "def f(x): return «x».topk(5)",
        "def f(x): return «x»[0]",
        "def f(x): return «x»[None, 0]",
        "def f(x): return «x».unsqueeze(1)",
        "def f(x, y): return «x @ y.view(3, 4)»",
        "def f(x, y): return «torch.cat([x, y])»",
        "def f(x, flag):\n    if flag: x = torch.zeros(3)\n    else: x = torch.zeros(2, 3)\n    return «x»",
        NET.format(value="self.fc(x).squeeze(1)"),
        NET.format(value="x.mean(1)"),
        NET.format(value="y"),
    ],
)
def test_may_have_one_axis(snippet: str) -> None:
    assert not has(snippet)
