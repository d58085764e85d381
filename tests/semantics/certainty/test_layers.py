"""Which attributes are the parameters of a layer of torch for certain."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import CERTAIN, Fact
from torchlint.semantics.certainty.layers import Layers

HEADER = "import torch\nfrom torch import nn\n"


def fact(text: str) -> Fact:
    semantics, [node] = marked(HEADER + text)
    return semantics.of(Layers).fact(node)


@pytest.mark.parametrize(
    "text",
    [
        "def f(m):\n    if isinstance(m, nn.Conv2d):\n        «m.weight».data.zero_()",
        "def f(m):\n    if isinstance(m, (nn.Conv2d, nn.Linear)) and m.bias is not None:\n        «m.bias»",
        "def f(m):\n    if isinstance(m, nn.Conv2d) or isinstance(m, nn.Linear):\n        «m.bias»",
        "def f(m):\n    if isinstance(m, nn.LSTM):\n        pass\n    elif type(m) is nn.Linear:\n        «m.weight»",
        "def f(m):\n    if isinstance(m, nn.modules.batchnorm._BatchNorm):\n        «m.weight»",
        "def f(m):\n    «m.weight».data.zero_()\n\nnet = nn.Sequential(nn.Linear(2, 2))\nnet.apply(f)\nprint(net)",
        "layer = nn.Linear(2, 2)\n«layer.weight»",
    ],
)
def test_certain(text: str) -> None:
    assert fact(text) == CERTAIN


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("def f(m):\n    «m.weight»", "`m.weight` may be no tensor"),
        ("def f(m):\n    if isinstance(m, nn.Embedding):\n        «m.bias»", "`m.bias` may be no tensor"),
        ("def f(m):\n    if isinstance(m, (nn.Linear, Own)):\n        «m.weight»", "`m.weight` may be no tensor"),
        ("def f(m):\n    if isinstance(m, nn.Linear):\n        m = m.inner\n        «m.weight»", "`m.weight` may be no tensor"),
        ("def f(m):\n    if isinstance(m, nn.Linear) or m.own:\n        «m.weight»", "`m.weight` may be no tensor"),
        ("def f(m):\n    «m.weight».data.zero_()\n\nnet = make()\nnet.apply(f)\nprint(net)", "`m.weight` may be no tensor"),
        (
            "def f(m):\n    «m.weight»\n\nclass Own(nn.Module):\n    def __init__(self):\n        self.weight = Scale()\n\n"
            "net = nn.Sequential(Own())\nnet.apply(f)\nprint(net)",
            "`m.weight` may be no tensor",
        ),
        (
            "from torch.nn.utils import parametrize\ndef f(m):\n    if isinstance(m, nn.Linear):\n        «m.weight»",
            "`m.weight` may be computed by a parametrization",
        ),
    ],
)
def test_unknown(text: str, doubt: str) -> None:
    assert fact(text).doubt == doubt
