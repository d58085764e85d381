"""What is a tensor for certain, so that a fix can rest on it, and the reasons where it is not."""

from __future__ import annotations

import pytest
from marked import marked

from torchlint.fact import Answer
from torchlint.semantics.certainty.tensors import Tensors

HEADER = """\
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets


"""
MODULE = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.mixed = nn.Sequential(nn.Linear(2, 2), Own())
        self.scale = torch.ones(2)

    def forward(self, x):
        return {}
"""


def answer(text: str) -> tuple[Answer, str]:
    """What is known of the marked expression, and the doubt."""
    semantics, [node] = marked(HEADER + text)
    fact = semantics.of(Tensors).fact(node)
    return fact.answer, fact.doubt


@pytest.mark.parametrize(
    "text",
    [
        "«torch.zeros(3)»",
        "x = torch.zeros(3)\n«x.view(-1)[0]»",
        "def f(x: Tensor):\n    «x»",
        "def f(model, x, y):\n    out = model(x)\n    loss = F.cross_entropy(out, y)\n    return «out»",
        "def f(model, x, y):\n    out = model(x)\n    criterion = nn.MSELoss()\n    loss = criterion(out, y)\n    return «out»",
        "def f(model):\n    for name, p in model.named_parameters():\n        «p»",
        "def f(one, other):\n    for p, q in zip(one.parameters(), other.parameters()):\n        «q»",
        "loader = DataLoader(TensorDataset(a, b), batch_size=2)\nfor i, (x, y) in enumerate(loader):\n    «x»",
        "loader = DataLoader(datasets.MNIST('.'), batch_size=2)\nfor x, y in loader:\n    «x»",
        "layer = nn.Linear(2, 2)\n«layer.weight»",
        "layer = nn.Linear(2, 2)\n«layer.weight.grad»",
        MODULE.format("«self.fc(x)»"),
        MODULE.format("«self.fc.weight»"),
        MODULE.format("«self.scale»"),
    ],
)
def test_certain(text: str) -> None:
    assert answer(text) == (Answer.CERTAIN, "")


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("def f(x):\n    «x»", "`x` is an argument; it may be no tensor"),
        ("def f(x):\n    «x.detach()»", "`x` is an argument; it may be no tensor"),
        ("def f(boxes):\n    y = boxes.detach()\n    «y»", "`y` comes from `boxes.detach()`; it may be no tensor"),
        ("def f(x: 'float | Tensor'):\n    «x»", "`x` is an argument; it may be no tensor"),
        ("from data import x\n«x»", "`x` is imported; it may be no tensor"),
        (
            "def f(model, x, y):\n    out = model(x)\n    if y:\n        F.cross_entropy(out, y)\n    return «out»",
            "`out` comes from `model(x)`; it may be no tensor",
        ),
        (
            "def f(model, x):\n    out = model(x)\n    y = «out»\n    F.elu(out)",
            "`out` comes from `model(x)`; it may be no tensor",
        ),
        ("def f(loader: DataLoader):\n    for x, y in loader:\n        «x»", "`x` comes from `loader`; it may be no tensor"),
        (
            "loader = DataLoader(TensorDataset(a), collate_fn=own)\nfor x, y in loader:\n    «x»",
            "`x` comes from `loader`; it may be no tensor",
        ),
        ("loader = DataLoader(Own())\nfor x, y in loader:\n    «x»", "`x` comes from `loader`; it may be no tensor"),
        ("def f(m: nn.Module):\n    «m.weight»", "`m.weight` may be no tensor"),
        ("x = torch.zeros(3)\nif flag:\n    x = pack(x)\n«x»", "`x` comes from `pack(x)`; it may be no tensor"),
        (MODULE.format("«self.mixed(x)»"), "`self.mixed(x)` may be no tensor"),
        (MODULE.format("«self.scale»") + "\n\nnet = Net()\nnet.scale = 0.5", "`self.scale` may be no tensor"),
    ],
)
def test_unknown(text: str, doubt: str) -> None:
    assert answer(text) == (Answer.UNKNOWN, doubt)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("x = [torch.zeros(3)]\n«x»", "`x` is no tensor"),
        ("«torch.zeros(3).size(0)»", "`torch.zeros(3).size(0)` is no tensor"),
        ("«torch.zeros(3).numpy()»", "`torch.zeros(3).numpy()` is no tensor"),
    ],
)
def test_refuted(text: str, doubt: str) -> None:
    assert answer(text) == (Answer.REFUTED, doubt)
