"""Which tensors are only there to be tried: the marked call moves what the factory in it makes."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.devices.creations import Creations

HEADER = "import torch\nfrom torch import nn\n"


def is_tried(snippet: str) -> bool:
    semantics, (call,) = marked(HEADER + snippet)
    assert isinstance(call, ast.Call)
    return semantics.of(Creations).copied[call].tried


@pytest.mark.parametrize(
    "snippet",
    [
        # where it stands
        "def test_it():\n    x = «torch.zeros(n).cuda()»\n    assert f(x) is not None",
        "class TestNet(unittest.TestCase):\n    def test_run(self):\n        x = «torch.rand(n).cuda()»",
        "def f(x): return x\nif __name__ == '__main__':\n    x = «torch.linspace(0, 1, 9).to(device)»\n    print(f(x))",
        # what it is called
        "def export(net):\n    dummy_input = «torch.rand(1, n, 3).to(device)»\n    torch.onnx.export(net, dummy_input, 'a')",
        "def fit(net):\n    dummy_X = «torch.zeros(shape).cuda()»\n    print(net(dummy_X))\n    loss.backward()",
        # an image of written sizes, which calls are given
        "net = load()\nx = «torch.ones((1, 3, 224, 224)).cuda()»\ny = net(x)",
        "print(net(«torch.randn(2, 3, 64, 64).cuda()»).shape)",
        "def speed(net):\n    x = «torch.randn(size=(8, 3, 64, 64)).cuda()»\n    for _ in range(9): net(x)",
        "def flops(net, h, w):\n    x = «torch.randn(1, 3, h, w).cuda()»\n    return profile(net, inputs=(x,))",
        "def try_it(net):\n    x = «torch.randn(1, 3, 64, 64).cuda()»\n    y = net(x)\n    print(x.shape)\n    return y",
        "x = «torch.randint(0, 9, (2, 1, 28, 28)).cuda()»\nprint(net(x))",
        "x = «torch.rand(1, 1024, 3).cuda()»\nprint(net(x))",
        # what counts operations, or asks for a form
        "def count(net, n):\n    x = «torch.rand(n, 3).cuda()» if n else torch.rand(n)\n    return profile(net, inputs=(x,))",
        "x = «torch.zeros(n, 9).to(device)»\nmacs, n = profile(net, inputs=(x,))\nprint(macs, x.shape)\nnet(y).backward()",
        "class T:\n    def __init__(self, net, n):\n        self.n = net(«torch.ones(n, 8).cuda()»).flatten(1).shape[1]",
        "def size(net, n):\n    out = net(«torch.ones(n, 8).cuda()»)\n    loss.backward()\n    return out.size(1), out.shape",
    ],
)
def test_what_is_only_tried(snippet: str) -> None:
    assert is_tried(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        # where it stands
        "def f(n):\n    x = «torch.zeros(n).cuda()»\n    assert g(x) is not None",
        "def f(x): return x\nif __name__ == '__main__':\n    x = «torch.linspace(0, 1, 9).to(device)»\n    f(x).backward()",
        # what it is called, and where it is made in each round
        "def f(net, n):\n    x = «torch.zeros(n, 3).cuda()»\n    return net(x)",
        "class Net(nn.Module):\n    def forward(self):\n        dummy_x = «torch.zeros(9).cuda()»\n        return g(dummy_x)",
        "for x in loader:\n    dummy_x = «torch.zeros(9).cuda()»\n    net(x, dummy_x)",
        "def norm(x, n):\n    dummy_gamma = «torch.ones(n).cuda()»\n    return batch_norm(x, dummy_gamma)",
        "def f(net):\n    noise = «torch.randn(64, 1, 28, 28).cuda()»\n    return net(noise)",
        "def f(net):\n    z = «torch.randn(64, 3, 28, 28).cuda()»\n    return net(z)",
        # no image, or another use of it
        "def f(net, n):\n    x = «torch.zeros(n, 9).cuda()»\n    profile(net, (x,))\n    return net(x)",
        "def f(net, n):\n    y = net(«torch.zeros(n, 9).cuda()»)\n    return y.sum(), y.shape",
        "def f(net, n):\n    return knn_graph(«torch.zeros(n, 9).cuda()»)",
        "def f(net):\n    x = «torch.randn(64, 100, 1, 1).cuda()»\n    return net(x)",
        "def f(net, b, t, c):\n    x = «torch.zeros(b, t, c, 9).cuda()»\n    return net(x)",
        "def f(net):\n    x = «torch.zeros(2, 1, 128).cuda()»\n    return net(x)",
        "def f(y):\n    x = «torch.zeros(1, 3, 64, 64).cuda()»\n    x[:, 0] = y\n    return g(x)",
        "def f(y):\n    x = «torch.randn(1, 3, 64, 64).cuda()»\n    return g(x * y)",
        "def f(y):\n    return y + «torch.randn(1, 3, 64, 64).cuda()»",
        # a training
        "x = «torch.randn(1, 3, 64, 64).cuda()»\nnet(x).sum().backward()",
        "def f(net):\n    x = «torch.randn(1, 3, 64, 64).cuda()»\n    net(x).sum().backward()",
        "class Net:\n    def start(self):\n        x = «torch.randn(1, 3, 64, 64).cuda()»\n        return self.run(x)",
    ],
)
def test_what_the_program_is_there_for(snippet: str) -> None:
    assert not is_tried(snippet)


CONSTRUCTOR = """
import torch

class Prior:
    def {method}(self, device, sizes):
        {body}
"""


@pytest.mark.parametrize(
    ("method", "body", "expected"),
    [
        ("__init__", "self.mean = «torch.zeros(1).to(device)»", True),
        ("__init__", "self.mean = «torch.ones(1, 1).cuda()» / 2", True),
        ("__init__", "self.mean = «torch.randn((1,)).to(device)»", True),
        ("__init__", "self.mean = «torch.zeros(2).to(device)»", False),
        ("__init__", "self.mean = «torch.zeros(1, sizes).to(device)»", False),
        ("__init__", "self.mean = «torch.zeros(1, 64).to(device)»", False),
        ("__init__", "self.mean = «torch.zeros(*sizes).to(device)»", False),
        ("__init__", "self.steps = «torch.arange(1).to(device)»", False),
        ("__init__", "self.means = [«torch.zeros(1).to(device)» for size in sizes]", False),
        ("__init__", "for size in sizes:\n            self.means += «torch.zeros(1).to(device)»", False),
        ("sample", "return «torch.zeros(1).to(device)»", False),
    ],
)
def test_one_number_of_a_constructor(method: str, body: str, expected: bool) -> None:
    assert is_tried(CONSTRUCTOR.format(method=method, body=body)) == expected
