"""Which values are tensors, whatever path led to them."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.certainty.likely_tensors import LikelyTensors
from torchlint.text.source import Source

HEADER = "import torch\nfrom torch import Tensor, nn\n"


def asked(text: str) -> tuple[LikelyTensors, ast.expr]:
    """The certainties of a program, and the argument of its call ``ask(…)``."""
    source = Source(HEADER + text)
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "ask")
    return LikelyTensors(Semantics(source.tree)), call.args[0]


@pytest.mark.parametrize(
    "text",
    [
        "ask(torch.zeros(3))",
        "ask(1.0 / torch.ones(3).prod())",
        "x = torch.zeros(3)\nask(x[0])",
        "x = torch.zeros(3)\nx += 1\nask(x)",
        "def f(x: Tensor):\n    ask(-x)",
        "def f(x: torch.Tensor, flag):\n    y = x if flag else x.exp()\n    ask(y.cpu())",
        "def f(x: Tensor):\n    values, indices = x.max(0)\n    ask(indices)",
        "def f(x):\n    ask(x.detach())",
        "ask(nn.Linear(3, 1)(torch.zeros(3)))",
        "class Net(nn.Module):\n    def __init__(self):\n        self.w = torch.ones(1)\n        ask(self.w)",
        "def one():\n    return torch.ones(1)\n\n\nask(one())",
    ],
)
def test_is_a_tensor_for_certain(text: str) -> None:
    certainty, node = asked(text)
    assert certainty.is_tensor(node)


@pytest.mark.parametrize(
    "text",
    [
        "ask(torch.zeros(3).size(0))",
        "def f(x):\n    ask(x)",
        "def f(x: 'float | Tensor'):\n    ask(x)",
        "def f(x: Tensor):\n    if not isinstance(x, Tensor):\n        ask(x)",
        "def f(flag):\n    x = 1.0\n    if flag:\n        x = torch.zeros(3)\n    ask(x)",
        "def f(model: nn.Module, x):\n    ask(model(x))",
        "ask(nn.utils.clip_grad_norm_([], 1.0))",
        "x = None\nask(x is torch.zeros(3))",
        "ask([torch.zeros(3)])",
    ],
)
def test_may_be_something_else_than_a_tensor(text: str) -> None:
    certainty, node = asked(text)
    assert not certainty.is_tensor(node)
