"""Which values are tensors, or arrays of one's own, whatever path led to them."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.kinds.certainty import Certainty
from torchlint.text.source import Source

HEADER = "import numpy as np\nimport torch\nfrom torch import Tensor, nn\n"


def asked(text: str) -> tuple[Certainty, ast.expr]:
    """The certainties of a program, and the argument of its call ``ask(…)``."""
    source = Source(HEADER + text)
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "ask")
    return Certainty(Semantics(source.tree)), call.args[0]


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


@pytest.mark.parametrize(
    ("text", "is_array", "is_new"),
    [
        ("ask(np.zeros(3))", True, True),
        ("x = np.zeros(3) * 2\nask(x.reshape(-1, 1))", True, True),
        ("x = np.zeros(3)\nx /= 2\nask(x)", True, True),
        ("ask(torch.zeros(3).numpy())", True, False),
        ("def f(x: np.ndarray):\n    ask(x)", True, False),
        ("def f(x: np.ndarray):\n    ask(x.T)", True, False),
        ("def f(x: np.ndarray):\n    ask(x[:, None] / 2)", True, True),
        ("def f(x):\n    ask(np.asarray(x))", True, False),
        ("x = np.zeros(3)\ny = x\nask(y)", True, False),
        ("ask(np.mean([1, 2]))", False, False),
        ("ask(np.random.rand())", False, False),
        ("x = np.zeros(3)\nask(x[0])", False, False),
    ],
)
def test_arrays_and_whose_memory_they_have(text: str, is_array: bool, is_new: bool) -> None:
    certainty, node = asked(text)
    assert (certainty.is_array(node), certainty.is_new_array(node)) == (is_array, is_new)
