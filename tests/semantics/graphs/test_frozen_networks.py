"""Which runs of networks record nothing, as all parameters are frozen since these were made, and what comes of them."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.graphs.frozen.networks import FrozenNetworks
from torchlint.semantics.graphs.frozen.results import FrozenResults

_CLASSES = """\
import torch
import torch.nn.functional as F
from torch import nn
from elsewhere import Other, helper

class Net(nn.Module):
    def __init__(self, sizes=(3,), requires_grad=False):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        for p in self.parameters():
            p.requires_grad = requires_grad

    def forward(self, x):
        return [self.fc(x)]

class Wider(Net):
    pass

class Deeper(Net):
    def __init__(self):
        super().__init__()
        self.more = nn.Linear(3, 3)

class Kept:
    def __init__(self, net):
        self.net = Net([3]).eval()
        self.net = self.net.cuda()
        self.other = Net([3])
        self.given = net

    def run(self, x):
        {body}

"""
_CHAIN = """\
def activations(files, model):
    for x in files:
        pred = «model(x)»

def statistics(files, model):
    return activations(files, model)

def paths(files, width):
    model = Net([width])
    if width:
        model = model.cuda()
    return statistics(files, model)
"""


def call_of(text: str, body: str = "pass") -> tuple[FrozenNetworks, FrozenResults, ast.expr]:
    semantics, [node] = marked(_CLASSES.format(body=body) + text)
    return semantics.of(FrozenNetworks), semantics.of(FrozenResults), node


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    net = Net()\n    return «net(x)»",
        "net = Net(requires_grad=False).to('cuda')\n«net(x)»",
        "net = Wider([3])\n«net(x)»",
        "net = Net()\nother = Other()\nfor p in other.parameters():\n    p.requires_grad = True\n«net(x)»",
        "net = nn.DataParallel(Net([3]))\n«net(x)»",
        "net = Net()\nnet = torch.nn.DataParallel(net)\nfor x in loader:\n    «net.forward(x)»",
        "net = Net() if small else Net([9])\n«net.fc(x)»",
        "def make(width):\n    net = Net([width])\n    net.eval()\n    return net\n\nnet = make(3)\n«net(x)»",
        "net = Other()\nnet.requires_grad_(False)\n«net(x)»",
        "net = Other().requires_grad_(False)\n«net(x)»",
        "def f(x):\n    net = Other()\n    for p in net.parameters():\n        p.requires_grad = False\n    return «net(x)»",
        "def f(x):\n    return «net(x)»\n\nnet = Other()\nfor p in net.parameters():\n    p.requires_grad_(False)",
        "def f(net, x):\n    return «net(x)»\n\nf(Net(), 1)\nf(net=Net([3]), x=2)",
        "def f(x, net=None):\n    if net is None:\n        net = Net()\n    return «net(x)»\n\nf(1)\nf(1, Net())",
        _CHAIN,
        _CHAIN.replace("«model(x)»", "model(x)") + "\ndef further(model, x):\n    return «model(x)»",
    ],
)
def test_networks_that_are_frozen_when_made(text: str) -> None:
    networks, results, call = call_of(text)
    assert isinstance(call, ast.Call)
    assert networks.are_run_by(call)
    assert results.is_graphless_run(call)


@pytest.mark.parametrize(
    "text",
    [
        "net = Net(requires_grad=True)\n«net(x)»",
        "net = Net([3], True)\n«net(x)»",
        "net = Net([3], train)\n«net(x)»",
        "net = Deeper()\n«net(x)»",
        "net = Other()\n«net(x)»",
        "def f(net, x):\n    return «net(x)»",  # nobody tells
        "def f(net, x):\n    return «net(x)»\n\nf(Net(), 1)\nf(Other(), 1)",
        "def f(net, x):\n    return «net(x)»\n\nf(Net(), 1)\nrun(f)",
        "def f(net, x):\n    return «net(x)»\n\nf(*given)\nf(Net(), 1)",
        "class A:\n    def f(self, net, x):\n        return «net(x)»\n\n    def g(self):\n        self.f(Net(), 1)\n\n"
        "a.f(other, 1)",
        "if small:\n    net = Net()\nelse:\n    net = Other()\n«net(x)»",
        "net = Net()\nfor p in net.parameters():\n    p.requires_grad = True\n«net(x)»",
        "net = Net()\nnet.fc.requires_grad_()\n«net(x)»",
        "net = Net()\nnet.fc.weight.requires_grad = True\n«net(x)»",
        "net = Net()\nnet.fc = nn.Linear(3, 2)\n«net(x)»",
        "net = Net()\nnet.layers[0] = nn.Linear(3, 2)\n«net(x)»",
        "net = Net()\nset_requires_grad(net, True)\n«net(x)»",
        "def thaw(m):\n    for p in m.parameters():\n        p.requires_grad = True\n\nnet = Net()\nthaw(net)\n«net(x)»",
        "def toggle(nets, flag):\n    for m in nets:\n        for p in m.parameters():\n            p.requires_grad = flag\n\n"
        "net = Net()\ntoggle([net], True)\n«net(x)»",
        "net = Other()\n«net(x)»\nnet.requires_grad_(False)",
        "net = Other()\nif small:\n    net.requires_grad_(False)\n«net(x)»",
        "net = Other()\nnet.features.requires_grad_(False)\n«net(x)»",
        "net = Other()\nnet.requires_grad_(False)\nnet.head = nn.Linear(3, 2)\n«net(x)»",
        _CHAIN.replace("«model(x)»", "model(x)") + "\ndef further(model, x):\n    return «model.sample(x)»",
        _CHAIN.replace("«model(x)»", "model(x)") + "\ndef further(model, x):\n    return «model(x)»\n\nfurther(Other(), 3)",
        _CHAIN.replace("«model(x)»", "model(x)") + "\ndef further(network, x):\n    return «network(x)»",
        "net = Net()\nlast = net.fc\nfor p in last.parameters():\n    p.requires_grad = True\n«net(x)»",
        "net = Net()\nevery = list(net.parameters())\nfor p in every:\n    p.requires_grad = True\n«net(x)»",
        "net = Net()\nnet.apply(lambda m: m.requires_grad_(True))\n«net(x)»",
        "def each(m):\n    m.requires_grad_(True)\n\nnet = Net()\nnet.apply(each)\n«net(x)»",
        "net = Net()\nfor p in net.parameters():\n    setattr(p, 'requires_grad', True)\n«net(x)»",
        "net = Net()\nnet.fc = nn.Linear(3, 2).cuda()\n«net(x)»",
        "net = Net()\nnet.fc = make_head()\n«net(x)»",
        "net = Net()\nnet.add_module('fc', nn.Linear(3, 2))\n«net(x)»",
        "class Freed(Net):\n    def free(self):\n        self.requires_grad_()\n\nnet = Freed()\n«net(x)»",
        "for net in nets:\n    «net(x)»",
        "«helper(x)»",
        "«F.relu(x)»",
        _CHAIN.replace("Net([width])", "Other(width)"),
        _CHAIN + "\nstatistics(files, Other())",
        _CHAIN + "\nfor run in (activations, print):\n    run(files, Other())",
    ],
)
def test_others_may_not_be(text: str) -> None:
    networks, results, call = call_of(text)
    assert isinstance(call, ast.Call)
    assert not networks.are_run_by(call)
    assert not results.is_graphless_run(call)


@pytest.mark.parametrize(
    ("body", "more", "is_frozen"),
    [
        ("return «self.net(x)»", "", True),
        ("return «self.other.forward(x)»", "", True),
        ("return «self.given(x)»", "Kept(Net())", True),
        ("return «self.given(x)»", "Kept(Other())", False),
        ("return «self.given(x)»", "", False),
        ("return «self.run(x)»", "", False),
        ("return «self.net(x)»", "kept.net = Other()", False),
        ("self.other.fc = nn.Linear(3, 3)\n        return «self.other(x)»", "", False),
        ("self.other = Other()\n        return «self.other(x)»", "", False),
    ],
)
def test_an_attribute_is_what_the_class_stores(body: str, more: str, is_frozen: bool) -> None:
    networks, _, call = call_of(more, body)
    assert isinstance(call, ast.Call)
    assert networks.are_run_by(call) is is_frozen


@pytest.mark.parametrize(
    ("given", "is_graphless"),
    [
        ("x", True),
        ("torch.zeros(3)", True),
        ("torch.cat([x, x]).cuda()", True),
        ("batch[0]", True),
        ("resized(x)", True),
        ("fake.detach()", True),
        ("fake", False),
        ("torch.cat([x, fake])", False),
        ("fake[:3] * 2", False),
        ("Other()(x)", False),
        ("generator(x)", False),
        ("model.sample(3)", False),
        ("net.fc(x)", True),
        ("seed", False),
    ],
)
def test_what_they_are_given_may_have_a_graph(given: str, is_graphless: bool) -> None:
    body = "seed = torch.zeros(3, requires_grad=True)\n    fake = generator(x)\n    net = Net()\n"
    _, results, call = call_of(f"def f(x, generator, batch, model):\n    {body}    return «net({given})»")
    assert isinstance(call, ast.Call)
    assert results.is_graphless_run(call) is is_graphless


@pytest.mark.parametrize(
    ("value", "is_graphless"),
    [
        ("«out»", True),
        ("«pooled»", True),
        ("«net(x)»", True),
        ("«F.relu(out)»", True),
        ("«out.mean(1)»", True),
        ("«x»", False),
        ("«mixed»", False),
        ("«other»", False),
        ("«helper(out)»", False),
        ("«weighted»", False),
    ],
)
def test_what_is_computed_of_what_they_give(value: str, is_graphless: bool) -> None:
    lines = (
        "net = Net()",
        "out = net(x)[0]",
        "pooled = net(x)[0]",
        "if small:\n        pooled = F.adaptive_avg_pool2d(pooled, output_size=(1, 1))",
        "other = Other()(x)",
        "mixed = out if small else other",
        "if small:\n        mixed = other",
        "weighted = torch.mul(out, other)",
        f"return {value}",
    )
    _, results, node = call_of("def f(x, small):\n" + "\n".join(f"    {line}" for line in lines))
    assert results.are(node) is is_graphless
