"""Calls of ``forward`` past the hooks: whether the marked call is one that is not meant to be."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.modules.forward_calls import ForwardCalls

BEFORE = """
import gpytorch
import torch
from torch import nn
from elsewhere import Base, model_of

class Net(nn.Module):
    def forward(self, x):
        return self.head(x)

    def head(self, x):
        return x

class Own(nn.Module):
    def __call__(self, x):
        return self.forward(x)

    def forward(self, x):
        return x

class Process(gpytorch.models.ExactGP):
    def forward(self, x):
        return x
"""


def leaves_out_hooks(code: str) -> bool:
    semantics, (call,) = marked(f"{BEFORE}\n{code}")
    assert isinstance(call, ast.Call)
    return semantics.of(ForwardCalls).leave_out_hooks(call)


@pytest.mark.parametrize(
    "code",
    [
        "«nn.Linear(2, 2).forward(x)»",
        "«Net().forward(x)»",
        "def f(net: nn.Module):\n    return «net.forward(1)»",
        "net = model_of(1)\nnet.eval()\nnet.load_state_dict(state)\n«net.forward(x)»",
        "class Other(Net):\n    def predict(self, x):\n        return «self.forward(x)»",
        "class Other(nn.Module):\n    def forward(self, x):\n        return «Net().forward(x)»",
        "def f(net, x):\n    net.eval()\n    return «net.forward(x)»\nnet = Net()",
        "for m in parts:\n    m.forward = torch.compile(m.forward, fullgraph=True)\n«Net().forward(x)»",
        "class Plain:\n    pass\nplain = Plain()\ndef f(net, x):\n    net.eval()\n    return «net.forward(x)»",
        "class Like(Base):\n    pass\nnet = Like()\ndef f(net, x):\n    net.eval()\n    return «net.forward(x)»",
    ],
)
def test_a_module_past_its_hooks(code: str) -> None:
    assert leaves_out_hooks(code)


@pytest.mark.parametrize(
    "code",
    [
        "class Other(Net):\n    def forward(self, x):\n        return «super().forward(x)»",
        "class Other(nn.Module):\n    def forward(self, x):\n        return «self.forward(x[1:])»",
        "class Other(nn.Module):\n    def forward(self, x):\n        return self.all(x)\n"
        "    def all(self, x):\n        return [«self.forward(y)» for y in x]",
        "class Other(nn.Module):\n    def __call__(self, x):\n        return «Net().forward(x)»",
        "if torch.jit.is_scripting():\n    «Net().forward(x)»",
        "net = Net()\nnet.forward = torch.compile(net.forward)\n«net.forward(x)»",
        "for m in parts:\n    m.forward = partial(run, m.forward)\n«Net().forward(x)»",
        "for m in parts:\n    m.forward = torch.compile(run)\n«Net().forward(x)»",
    ],
)
def test_where_it_is_meant(code: str) -> None:
    assert not leaves_out_hooks(code)


@pytest.mark.parametrize(
    "code",
    [
        "«Own().forward(x)»",
        "«Process().forward(x)»",
        "«unknown.forward(x)»",
        "net = cv2.dnn.readNet(path)\nnet.setInput(x)\n«net.forward()»",
        "class Other(Base):\n    def forward(self, x):\n        return x\n    def f(self):\n        return «self.forward(1)»",
        "«Net().head(1)»",
        "class Plain:\n    def forward(self, x):\n        return x\n"
        "net = Plain()\nnet.cuda()\ndef f(net, x):\n    net.train()\n    return «net.forward(x)»",
    ],
)
def test_what_is_no_module_or_may_do_more_when_it_is_called(code: str) -> None:
    assert not leaves_out_hooks(code)


INITIALISING = """
class Bare(nn.Module):
    def __init__(self, n):
        {first}
        self.n = n

    def forward(self, x):
        return x * self.n

class Heir(Bare):
    pass

net = {made}(2)
«net.forward(x)»
"""


@pytest.mark.parametrize(
    ("first", "made", "expected"),
    [
        ("pass", "Bare", False),
        ("pass", "Heir", False),
        ("super().__init__()", "Bare", True),
        ("super().__init__()", "Heir", True),
        ("nn.Module.__init__(self)", "Bare", True),
        ("self.start()", "Net", True),
    ],
)
def test_a_module_that_was_never_initialised_cannot_be_called(first: str, made: str, expected: bool) -> None:
    assert leaves_out_hooks(INITIALISING.format(first=first, made=made)) is expected
