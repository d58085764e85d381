"""What a call of Variable can be replaced by."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.variables.unwrapped import Unwrapped

IMPORTS = "import torch\nimport torch.nn as nn\nfrom torch.autograd import Variable\n"


def unwrapped(text: str, question: str) -> str:
    semantics, [node] = marked(IMPORTS + text)
    return str(getattr(semantics.of(Unwrapped), question)(node).doubt)


@pytest.mark.parametrize(
    "text",
    [
        "y = «Variable(torch.zeros(3))»",
        "x = torch.rand(3)\ny = x + «Variable(x)»",
        "x = torch.rand(3)\nloss = nn.MSELoss()(x, «Variable(x)»)",
        "y = w * «Variable(torch.rand(4).view(2, 2))»",
        "y = «Variable(torch.LongTensor(3, n).random_(0, words.count))»",
        "y = «Variable(torch.ones(3, n).random_(0, words.count))»",
        "def f(net, x):\n    mu = torch.tanh(net(x))\n    return mu + «Variable(torch.randn_like(mu, requires_grad=False))»",
    ],
)
def test_can_be_itself(text: str) -> None:
    assert unwrapped(text, "is_itself") == ""


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("x = torch.rand(3)\ny = «Variable(x)»", "`x` may be in use under another name as well"),
        ("def f(x: torch.Tensor): return 2 * «Variable(x)»", "`x` may carry a graph"),
        ("def f(x): return 2 * «Variable(x)»", "`x` is an argument; it may be no tensor"),
        ("y = «Variable(torch.ones(3).fill_(x.y))»", "`torch.ones(3).fill_(x.y)` may carry a graph"),
        (
            "def f(x): return «Variable(torch.randn_like(x, requires_grad=on))»",
            "`torch.randn_like(x, requires_grad=on)` may carry a graph",
        ),
        ("y = «Variable(torch.rand(4).view(2, 2))»", "`torch.rand(4).view(2, 2)` is a view"),
    ],
)
def test_may_be_told_apart(text: str, doubt: str) -> None:
    assert unwrapped(text, "is_itself") == doubt


@pytest.mark.parametrize(
    "text",
    [
        "map(Variable, «[torch.zeros(3), torch.ones(2)]»)",
        "batch = [torch.zeros(3), torch.ones(2)]\nx, y = map(Variable, «batch»)",
    ],
)
def test_all_are_tensors(text: str) -> None:
    assert unwrapped(text, "are_detached") == ""


@pytest.mark.parametrize(
    "text",
    [
        "map(Variable, «batch»)",
        "map(Variable, «[torch.zeros(3), None]»)",
        "map(Variable, «[torch.zeros(3), *more]»)",
        "batch = [torch.zeros(3)]\nbatch.append(None)\nmap(Variable, «batch»)",
        "def f(c):\n    batch = [torch.zeros(3)]\n    if c: batch = c\n    map(Variable, «batch»)",
    ],
)
def test_some_may_be_none(text: str) -> None:
    assert unwrapped(text, "are_detached")


@pytest.mark.parametrize(
    "flag", ["True", "not x", "x is None", "len(x) > 2", "bool(x)", "isinstance(x, int)", "True if x else False", "known"]
)
def test_flags(flag: str) -> None:
    assert unwrapped(f"known = True\ny = «{flag}»", "is_boolean") == ""


@pytest.mark.parametrize("flag", ["x", "1", "x.flag", "x and y", "x == y", "f(x)"])
def test_what_may_be_another_number(flag: str) -> None:
    assert unwrapped(f"y = «{flag}»", "is_boolean").endswith("may be no bool, and is refused")
