"""What is wrapped in Variable, and what that does to its graph."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.variables.wrappers import Wrappers

IMPORTS = "import numpy as np\nimport torch\nimport torch.nn as nn\nfrom torch.autograd import Variable\n"


def wrappers(snippet: str) -> tuple[Wrappers, list[ast.expr]]:
    semantics, nodes = marked(IMPORTS + snippet)
    return semantics.of(Wrappers), nodes


@pytest.mark.parametrize(
    ("call", "data", "flag"),
    [
        ("Variable(x)", "x", None),
        ("Variable(x + y)", "x + y", None),
        ("Variable(data=x)", "x", None),
        ("Variable(x, True)", "x", "True"),
        ("Variable(x, requires_grad=flag)", "x", "flag"),
        ("torch.autograd.Variable(x)", "x", None),
    ],
)
def test_tells_what_is_wrapped(call: str, data: str, flag: str | None) -> None:
    found, _ = wrappers(call)
    [wrapping] = found.calls.values()
    assert (ast.unparse(wrapping.data), wrapping.flag and ast.unparse(wrapping.flag)) == (data, flag)


@pytest.mark.parametrize(
    "call", ["Variable()", "Variable(*x)", "Variable(x, **k)", "Variable(x, volatile=True)", "Variable(x, True, True)", "V(x)"]
)
def test_knows_when_that_is_not_said(call: str) -> None:
    found, _ = wrappers(call)
    assert not found.calls


@pytest.mark.parametrize(
    ("snippet", "cuts"),
    [
        ("Variable(«torch.zeros(3)»)", False),
        ("Variable(«nn.Linear(1, 1)(x)»)", True),
        ("def f(x): Variable(«x»)", False),
        ("def f(x):\n    with torch.no_grad(): Variable(«nn.Linear(1, 1)(x)»)", False),
        ("Variable(«torch.zeros(3, requires_grad=True)»)", False),
        ("Variable(«np.zeros(3)»)", False),
    ],
)
def test_tells_whether_there_is_a_graph_to_cut(snippet: str, cuts: bool) -> None:
    found, [data] = wrappers(snippet)
    assert found.cuts_graph(data) == cuts


@pytest.mark.parametrize(
    ("snippet", "on_purpose"),
    [
        ("y = nn.Linear(1, 1)(x)\nz = «Variable(y, requires_grad=False)»", True),
        ("y = nn.Linear(1, 1)(x)\nz = «Variable(y)»", False),
        ("class A:\n    def f(self, x):\n        self.h = «Variable(nn.Linear(1, 1)(x))»", True),
        ("class A:\n    def f(self, x):\n        h = «Variable(nn.Linear(1, 1)(x))»\n        self.h = h", True),
        ("def repackage_hidden(h): return «Variable(h)»", True),
        ("def repackage_hidden(h): return «Variable(h.data.clone())»", False),
        ("def f(h): return «Variable(h, requires_grad=False)»", False),
        ("def f(h, g): return «Variable(h / g, requires_grad=False)»", True),
        ("def f(h): return «Variable(-h, requires_grad=False)»", True),
        ("def f(h, g): return «Variable(h / g)»", False),
        ("def f(x, before=None):\n    h = «Variable(before)»\n    y, h = cell(x, h)\n    return y, h", True),
        ("def f(x, h):\n    h = «Variable(h)»\n    h = cell(x, state=h)\n    return h", True),
        ("def f(x, h):\n    h = «Variable(h)»\n    y, h = cell(x, h)\n    return y", False),
        ("def f(x):\n    x = «Variable(x)»\n    x = layer(x)\n    return x", False),
        ("def f(x):\n    h = «Variable(torch.zeros(3))»\n    y, h = cell(x, h)\n    return y, h", False),
        (
            "class A:\n    def f(self, x):\n        h = self.net(x)['h']\n        h = «Variable(h[0], requires_grad=False)»",
            True,
        ),
        (
            "class A:\n    def f(self, x):\n        h = self.read(x)\n        h = «Variable(h, requires_grad=False)»\n"
            "    def read(self, x): return x",
            False,
        ),
        (
            "class A:\n    def f(self, loader):\n        for x in loader:\n            h = «Variable(x, requires_grad=False)»",
            False,
        ),
        (
            "class A:\n    def f(self, x):\n        x = nn.Linear(1, 1)(x)\n        if self.args.static:\n"
            "            x = «Variable(x)»\n        return x",
            True,
        ),
        (
            "class A:\n    def f(self, x):\n        x = nn.Linear(1, 1)(x)\n        if self.args.cuda:\n"
            "            x = «Variable(x)»\n        return x",
            False,
        ),
        ("def f(labels): return «Variable(labels - 1, requires_grad=False)»", False),
        ("h = «Variable(torch.rand(3) * 2, requires_grad=False)»", False),
        ("h = 0\nfor x in y:\n    h = «Variable(h)»\n    h = nn.Linear(1, 1)(h)\n    h.sum().backward()", True),
        ("h = 0\nfor x in y:\n    h = nn.Linear(1, 1)(x)\n    h = «Variable(h)»\n    h.sum().backward()", False),
    ],
)
def test_tells_what_is_cut_on_purpose(snippet: str, on_purpose: bool) -> None:
    found, [call] = wrappers(snippet)
    assert isinstance(call, ast.Call)
    assert found.cuts_on_purpose(call) == on_purpose


MASK = "def f(layer: nn.Linear, like: torch.Tensor, p):\n    mask = {}\n    Variable(«mask»)\n"


@pytest.mark.parametrize(
    ("mask", "cuts"),
    [
        ("layer.weight.data.new().resize_((4, 1)).bernoulli_(p).expand_as(layer.weight) / p", False),
        ("like.new().resize_as_(layer.weight).bernoulli_(p)", False),
        ("torch.rand(4).view_as(layer.weight)", False),
        ("torch.rand(4).type_as(layer.weight)", False),
        ("layer.weight.expand_as(like)", True),
        ("layer.weight.view_as(like)", True),
        ("torch.rand(4).mul_(layer.weight)", True),
        ("torch.rand(4).expand_as(like) * layer.weight", True),
    ],
)
def test_a_tensor_whose_form_alone_is_taken_gives_no_graph(mask: str, cuts: bool) -> None:
    found, (data,) = wrappers(MASK.format(mask))
    assert found.cuts_graph(data) is cuts
