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


OWN = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.rnn = nn.GRU(2, 2)
        self.body = nn.Sequential(Own(), nn.Linear(2, 2))

    def forward(self, x):
        out, hidden = self.rnn(x)
        return {}


net = Net().to(device)
"""
KEPT = """\
class A(nn.Module):
    def __init__(self):
        super().__init__()
        {}

    def f(self):
        return «{}»
"""


@pytest.mark.parametrize(
    "text",
    [
        "«torch.zeros(3)»",
        "x = torch.zeros(3)\n«x.view(-1)[0]»",
        "x = torch.zeros(3)\nfor i in range(3):\n    x = x + 1\n«x»",
        "x = torch.zeros(3)\nwhile x.sum() < 3:\n    y = x\n    x = y.exp()\n«x»",
        "total = torch.zeros(2)\ntotal += 1\n«total»",
        "total = 0\ntotal += torch.ones(2)\n«total»",
        "def f(x: Tensor):\n    «x»",
        "def f(x):\n    if isinstance(x, Tensor):\n        «x»",
        "def f(x):\n    if not torch.is_tensor(x):\n        return x\n    y = «x»",
        "def f(x):\n    assert isinstance(x, torch.Tensor)\n    return «x»",
        "def f(x):\n    return «x» if isinstance(x, Tensor) else x",
        "def f(model, x, y):\n    out = model(x)\n    loss = F.cross_entropy(out, y)\n    return «out»",
        "def f(model, x, y):\n    out = model(x)\n    criterion = nn.MSELoss()\n    loss = criterion(out, y)\n    return «out»",
        "def f(model, x, y):\n    for a in x:\n        out = model(a)\n        F.relu(out)\n        «out»",
        "loader = DataLoader(TensorDataset(a, b), batch_size=2)\nfor i, (x, y) in enumerate(loader):\n    «x»",
        "loader = DataLoader(datasets.MNIST('.'), batch_size=2)\nfor x, y in loader:\n    «x»",
        "layer = nn.Linear(2, 2)\n«layer.weight»",
        "layer = nn.Linear(2, 2)\n«layer.weight.grad»",
        "layer = nn.Linear(2, 2)\nout = layer(x)\n«out»",
        "rnn = nn.LSTM(2, 2)\nx = torch.zeros(1, 1, 2)\nout, (h, c) = rnn(x)\n«out»",
        "rnn = nn.LSTM(2, 2)\nout, (h, c) = rnn(packed)\n«h»",
        "def two(x):\n    return F.relu(x), F.tanh(x)\n\n\na, b = two(x)\n«b»",
        "values, indices = torch.max(x, 1)\n«indices»",
        "«torch.max(x, 1)[1]»",
        "net = nn.Sequential(nn.Linear(2, 2))\nfor name, p in net.named_parameters():\n    «p»",
        "one, other = nn.Linear(2, 2), nn.Linear(2, 2)\nfor p, q in zip(one.parameters(), other.parameters()):\n    «q»",
        "def f(model: nn.Module):\n    for p in model.parameters():\n        «p.grad»",
        "def f(m: nn.Module):\n    for p in m.parameters():\n        if p.grad is None:\n            continue\n        «p»",
        "layers = [nn.Linear(2, 2)]\nlayers.append(nn.ReLU())\nnet = nn.Sequential(*layers)\nout = net(x)\n«out»",
        OWN.format("self.fc(x)") + "«net(x)»",
        OWN.format("hidden, x") + "a, b = net(x)\n«a»",
        OWN.format("self.body(x)") + "«net(x)»",
        OWN.format("x + self.fc(x)") + "«net(x)»",
        "class Step(torch.optim.Optimizer):\n    def step(self):\n        for group in self.param_groups:\n"
        "            for p in group['params']:\n                if p.grad is not None:\n                    «p»",
        KEPT.format("self.w = nn.Parameter(torch.ones(2))", "self.w"),
        KEPT.format("self.register_buffer('b', torch.ones(2))", "self.b"),
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
        (MODULE.format("«self.fc(x)»"), "`self.fc(x)` may be no tensor"),
        (MODULE.format("«self.fc.weight»"), "`self.fc.weight` may be no tensor"),
        (
            "def f(model):\n    for p in model.parameters():\n        «p»",
            "`p` comes from `model.parameters()`; it may be no tensor",
        ),
        (
            "def f(model: nn.Module):\n    for p in model.parameters():\n        «p»",
            "`p` comes from `model.parameters()`; it may be no tensor",
        ),
        (
            "net = nn.LazyLinear(2)\nfor p in net.parameters():\n    «p»",
            "`p` comes from `net.parameters()`; it may be no tensor",
        ),
        ("rnn = nn.LSTM(2, 2)\nout, (h, c) = rnn(packed)\n«out»", "`out` comes from `rnn(packed)`; it may be no tensor"),
        ("from engine import Tensor\n\n\ndef f(x: Tensor):\n    «x»", "`x` is an argument; it may be no tensor"),
        ("class Own(Tensor):\n    pass\n\n\ndef f(x: Tensor):\n    «x»", "`x` is an argument; it may be no tensor"),
        (
            "layer = nn.Linear(2, 2)\nlayer.register_forward_hook(hook)\n«layer(x)»",
            "`layer(x)` may be no tensor",
        ),
        ("def f(vocabulary):\n    return «vocabulary @ torch.zeros(2)»", "`vocabulary @ torch.zeros(2)` may be no tensor"),
        ("x = []\nx += torch.zeros(2)\n«x»", "`x` comes from `torch.zeros(2)`; it may be no tensor"),
        (
            "@rounded\ndef f(x):\n    return torch.exp(x)\n\n\n«f(x)»",
            "`f(x)` may be no tensor",
        ),
        (OWN.format("self.fc(x)") + "net.fc = other\n«net(x)»", "`net(x)` may be no tensor"),
        (
            "layers = [nn.Linear(2, 2)]\nfill(layers)\nnet = nn.Sequential(*layers)\n«net(x)»",
            "`net(x)` may be no tensor",
        ),
        ("«torch.zeros(2).as_subclass(Own)»", "`torch.zeros(2).as_subclass(Own)` may be no tensor"),
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
