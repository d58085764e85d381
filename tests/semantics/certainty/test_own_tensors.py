"""Tensors that nobody else refers to, and those without a graph: what is certain, and the reasons where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from marked import marked
from torchlint.semantics.certainty import own_tensors
from torchlint.semantics.certainty.own_tensors import OwnTensors

torch = pytest.importorskip("torch")

HEADER = """\
import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets, transforms


"""
CHOICE = "Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor\n"
COMPOSED = "transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1,), (0.3,))])\n"
VIEW = "view"
NAMED = "may be in use under another name as well"
GRAPH = "may carry a graph"


def answer(text: str, question: str = "is_own") -> str:
    semantics, [node] = marked(HEADER + text)
    return str(getattr(semantics.of(OwnTensors), question)(node).doubt)


@pytest.mark.parametrize(
    "text",
    [
        "«torch.zeros(3)»",
        "«torch.zeros(3, requires_grad=False)»",
        "«torch.randn(n, m).cuda().double()»",
        "«torch.from_numpy(x.astype('f')).float()»",
        "«torch.LongTensor(x).view(-1, 1)»",
        "«torch.FloatTensor([y, z])»",
        "«torch.FloatTensor(x.size()).normal_()»",
        "«torch.cuda.FloatTensor(x.shape)»",
        "«torch.zeros(3).fill_(x.size(0))»",
        "def f(n):\n    x = [[i, n] for i in range(n)]\n    return g(«torch.Tensor(x)»)",
        "def f(n):\n    x = [1, n]\n    if n:\n        x = [n]\n    return g(«torch.Tensor(x)»)",
        "«torch.eye(n).view(1, n, n).repeat(m, 1, 1)»",
        "«torch.zeros(n, m).type_as(x)»",
        "«torch.rand(n, m).sum(k)»",
        "«torch.FloatTensor(n, 1).fill_(1.0)»",
        "«torch.zeros(n, 4).scatter_(1, labels.view(-1, 1), 1)»",
        "«torch.randn(n) * 2 + torch.rand(n)»",
        "s = 1.0 / np.sqrt(n)\n«torch.randn(n) * s»",
        "«torch.cat([torch.zeros(1), torch.ones(1)], 0)»",
        "«Variable(x)»",
        "«torch.rand(3) > 0»",
        "x = torch.rand(3)\n«x.data»",
        CHOICE + "«Tensor(np.random.normal(0, 1, (2, n)))»",
        CHOICE + "«Tensor(*shape, n).fill_(1.0)»",
        "def f():\n    x = torch.zeros(3)\n    x[0] = 1\n    return g(«x»)",
        "def f():\n    x = torch.zeros(3)\n    print(x.size(), x + 1)\n    return g(«x»)",
        "def f():\n    x = torch.zeros(3)\n    x += 1\n    return g(«x»)",
        "def f():\n    y = torch.zeros(3)\n    x = y\n    return g(«x»)",
        "def f(c):\n    x = torch.zeros(3)\n    if c:\n        x = x.cuda()\n    return g(«x»)",
        "def f(c):\n    x = torch.zeros(3)\n    if c:\n        x = g(«x»)\n    return x",
        "def f(c):\n    for i in c:\n        x = torch.zeros(3)\n        keep.append(g(«x»))",
        "for i in c:\n    x = torch.zeros(3)\n    keep.append(x)\n    x = torch.ones(3)\n    x = g(«x»)",
        "x = torch.zeros(3)\nx = g(«x»)",
        "def make(n):\n    x = torch.zeros(n)\n    for i in range(n):\n        x[i] = i\n    return x\ny = g(«make(3)»)",
        COMPOSED + "for x, y in DataLoader(datasets.MNIST('.', transform=transform), batch_size=2):\n    x = g(«x»)",
        "a = torch.rand(3, 2)\nfor i, (x,) in enumerate(DataLoader(TensorDataset(a))):\n    x = g(«x»)",
        "for x in data:\n    y = torch.zeros(3)\n    z = g(«y»)\n    z.sum().backward()",
    ],
)
def test_is_own(text: str) -> None:
    assert answer(text) == ""


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("def f(x):\n    g(«x»)", "may be no tensor"),
        ("def f(x: torch.Tensor):\n    g(«x»)", GRAPH),
        ("x = torch.zeros(3)\ny = g(«x»)", NAMED),  # others may import it
        ("def f():\n    x = torch.zeros(3)\n    y = g(«x»)\n    return x", NAMED),
        ("def f():\n    x = torch.zeros(3)\n    return g(«x», x)", NAMED),
        ("def f(c):\n    x = torch.zeros(3)\n    for i in c:\n        g(«x»)", NAMED),
        ("def f():\n    y = torch.zeros(3)\n    x = y\n    g(«x»)\n    return y", NAMED),
        ("def f():\n    x = y = torch.zeros(3)\n    g(«x»)", GRAPH),
        ("def f():\n    x = torch.zeros(3)\n    h = lambda: x\n    g(«x»)", GRAPH),
        ("def f():\n    x = torch.zeros(3)\n    h(x)\n    g(«x»)", GRAPH),
        ("def f():\n    x = torch.zeros(3)\n    x[0] = w\n    g(«x»)", GRAPH),
        ("def f():\n    x = torch.zeros(3)\n    x += w\n    g(«x»)", GRAPH),
        ("def f():\n    x = torch.zeros(3)\n    x[0].copy_(w)\n    g(«x»)", GRAPH),
        ("def f():\n    x = torch.zeros(3)\n    row = x[0]\n    row.copy_(w)\n    g(«x»)", GRAPH),
        ("def f():\n    x = torch.zeros(3)\n    x.requires_grad = True\n    g(«x»)", GRAPH),
        ("def f():\n    x = torch.zeros(3)\n    self.x = x\n    g(«x»)", GRAPH),
        ("def f(x, n):\n    x = x if n else [n]\n    g(«torch.Tensor(x)»)", GRAPH),
        ("def f(x, n):\n    if n:\n        x = [n]\n    g(«torch.Tensor(x)»)", GRAPH),
        ("def f(x: torch.Tensor, n):\n    g(«x.repeat(n)»)", GRAPH),
        ("def f(x: torch.Tensor, y):\n    g(«x.type_as(y)»)", GRAPH),
        ("«torch.zeros(3, requires_grad=True)»", GRAPH),
        ("«torch.zeros(3, requires_grad=flag)»", GRAPH),
        ("«Variable(x, flag)»", GRAPH),
        ("«Variable(x, requires_grad=True)»", GRAPH),
        ("«torch.FloatTensor(x)»", GRAPH),
        ("«torch.FloatTensor(x.sizes())»", GRAPH),
        ("class Box:\n    def size(self):\n        return w\n«torch.FloatTensor(Box().size())»", GRAPH),
        ("«torch.zeros(3).fill_(w)»", GRAPH),
        ("«torch.randn(3, out=buffer)»", GRAPH),
        ("«torch.zeros(4).view(2, 2)»", VIEW),
        ("«torch.unsqueeze(torch.zeros(4), 0)»", VIEW),
        ("for x, y in DataLoader(datasets.MNIST('.', transform=own), batch_size=2):\n    x = g(«x»)", GRAPH),
        ("a = nn.Parameter(w)\nfor (x,) in DataLoader(TensorDataset(a)):\n    x = g(«x»)", GRAPH),
    ],
)
def test_may_be_anybodys(text: str, doubt: str) -> None:
    assert doubt in answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "«torch.zeros(3) * x»",
        "«torch.zeros(3).type()»",
        "«torch.zeros(3) is y»",
        "from names import *\nif c:\n    x = torch.zeros(3)\ny = g(«x»)",
        "if c:\n    x = Variable(«x»)",
        "for x, y in DataLoader(data):\n    g(«x»)",
        "for x, y in DataLoader(datasets.MNIST('.'), collate_fn=own):\n    g(«x»)",
        "def make(n):\n    if n:\n        return torch.zeros(n)\n«make(3)»",
        "def make(n):\n    yield torch.zeros(n)\n    return torch.ones(n)\n«make(3)»",
        "@decorated\ndef make(n):\n    return torch.zeros(n)\n«make(3)»",
        "class Field(torch.Tensor): pass\ndef f(x: torch.Tensor):\n    g(«x»)",
        "y = x.as_subclass(Field)\ndef f(x: torch.Tensor):\n    g(«x»)",
    ],
)
def test_may_be_no_plain_tensor(text: str) -> None:
    assert answer(text, "is_plain")


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    x = torch.zeros(3)\n    y = g(«x»)\n    return x",
        "«torch.zeros(4).view(2, 2)»",
        "x = torch.rand(3)\ny = g(«x»)",
    ],
)
def test_is_bare_though_not_own(text: str) -> None:
    assert answer(text) and not answer(text, "is_bare")


# --- run on torch ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", sorted(own_tensors._VIEWING))
def test_views_are_other_objects(method: str) -> None:
    x = torch.rand(2, 2)
    given: list[tuple[Any, ...]] = [(), (0,), (2, 2), (-1,), (0, 1), (0, 0), (0, 0, 1)]
    found = 0
    for each in given:
        try:
            assert getattr(x, method)(*each) is not x
            found += 1
        except (RuntimeError, TypeError, IndexError):
            continue
    assert found


@pytest.mark.parametrize("name", sorted(name for name in own_tensors._CLASSES if ".cuda." not in name))
def test_constructors_keep_the_graph_of_a_tensor_and_no_other(name: str) -> None:
    made = getattr(torch, name.removeprefix("torch."))
    assert not made(2, 3).requires_grad and not made([1, 0]).requires_grad
    one = torch.ones(2).to(made(1).dtype)
    assert made(one) is not one and made(one).data_ptr() == one.data_ptr()
    if name in own_tensors._INTEGER_CLASSES:
        with pytest.raises(RuntimeError):
            one.requires_grad_()


def test_variable_gives_a_plain_tensor_or_raises() -> None:
    field = type("Field", (torch.Tensor,), {})
    for given in (torch.ones(2), torch.nn.Parameter(torch.ones(2)) * 2, torch.ones(2).as_subclass(field), None):
        made = torch.autograd.Variable(given)
        assert type(made) is torch.Tensor and made is not given and not made.requires_grad
    for given in ([1.0], 2, "x", {}):
        with pytest.raises(TypeError):
            torch.autograd.Variable(given)


def test_variable_detaches() -> None:
    x = (torch.ones(3, requires_grad=True) * 2)[1:]
    wrapped, detached = torch.autograd.Variable(x), x.detach()
    with torch.no_grad():
        x.add_(1)
    for each in (wrapped, detached):
        assert each is not x and each.grad_fn is None and each._base is None and not each.requires_grad
        assert each._version == x._version and each.equal(x)
