"""Which gradients are there once they are retained, or taken of the leaf, and why others may not be."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.graphs.wanted_gradients import WantedGradients

HEADER = "import torch\nfrom torch import nn\n\nw = torch.ones(2, requires_grad=True)\nnet = nn.Linear(2, 2)\n"


def read(body: str, header: str = HEADER) -> tuple[WantedGradients, ast.Attribute]:
    semantics, [node] = marked(header + body)
    assert isinstance(node, ast.Attribute)
    return semantics.of(WantedGradients), node


def retained(body: str, header: str = HEADER) -> Fact:
    """Whether the marked gradient is there once the tensor is retained."""
    found, node = read(body, header)
    return found.retained(node)


def of_leaf(body: str) -> Fact:
    """Whether the marked gradient is there as an item of the leaf's."""
    found, node = read(body)
    return found.of_leaf(node)


@pytest.mark.parametrize(
    "body",
    [
        "b = w * 2\nb.sum().backward()\nprint(«b.grad»)",
        "b = torch.tanh(net(x))\nloss = b.sum()\nloss.backward()\nprint(f'{«b.grad»}')",
        "b = (w @ x).pow(2)\nb.sum().backward()\nn = «b.grad».norm()",
        "kept = []\nfor x in data:\n    b = net(x)\n    b.mean().backward()\n    kept.append((x, «b.grad»))",
        "b = w * 2\nc = torch.cat([b, w])\nc.sum().backward()\nprint([p.grad for p in net.parameters()], «b.grad»)",
        "b = w * 2\nc = b.view(w.shape).view(-1)\nc.sum().backward()\ng = torch.autograd.grad(c, b)\nshow(b)\nprint(«b.grad»)",
    ],
)
def test_retained(body: str) -> None:
    assert retained(body).is_certain


@pytest.mark.parametrize(
    ("body", "doubt"),
    [
        ("b = w * 2\nb.sum().backward()\nfor t in [w, b]:\n    print(t.grad)\nprint(«b.grad»)", "`b` is handed on"),
        ("b = w * 2\nb.sum().backward()\nnn.utils.clip_grad_norm_([w, b], 1)\nprint(«b.grad»)", "`b` is handed on"),
        ("b = w.view(torch.int32)\n(w * b).sum().backward()\nprint(«b.grad»)", "`b` may have no graph"),
        ("b = helper(w)\nb.sum().backward()\nprint(«b.grad»)", "`b` may have no graph"),
        ("b = w * 2\nif x:\n    b.sum().backward()\nprint(«b.grad»)", "no backward pass runs for certain"),
        ("for p in net.parameters():\n    p.requires_grad = False\nb = w * 2\nb.sum().backward()\nprint(«b.grad»)", "away"),
        ("with context:\n    b = w * 2\n    b.sum().backward()\n    print(«b.grad»)", "autograd may be off"),
        ("b = w * 2\nb.sum().backward()\ng = «b.grad»\nif g is None:\n    g = 1", "may reckon with None"),
        ("b = w * 2\nb.sum().backward()\ng = «b.grad» or w.grad", "may reckon with None"),
        ("b = w * 2\nb.sum().backward()\ntry:\n    n = «b.grad».norm()\nexcept AttributeError:\n    n = 0", "awaits errors"),
        ("kept = []\nb = w * 2\nb.sum().backward()\nkept.append(«b.grad»)\nif kept[0] is None:\n    pass", "reckon with None"),
    ],
)
def test_may_not_be_there(body: str, doubt: str) -> None:
    assert doubt in retained(body).doubt


def test_imported_code_may_freeze() -> None:
    body = "b = w * 2\nb.sum().backward()\nprint(«b.grad»)"
    assert "code that is imported may freeze" in retained(body, f"from regime import start\n{HEADER}").doubt


def test_items_of_leaves() -> None:
    assert of_leaf("loss = (w * 2).sum()\nloss.backward()\nprint(«w[0].grad»)").is_certain
    assert of_leaf("print(«w[0].grad»)\n(w * 2).sum().backward()").doubt == "`w.grad` may be None as well"
    assert of_leaf("net(x).sum().backward()\nprint(«w[0].grad»)").doubt == "`w.grad` may be None as well"
    assert of_leaf("w.sum().backward()\nw.grad = None\nprint(«w[0].grad»)").doubt == "`w.grad` may be None as well"
    assert of_leaf("b = w * 2\nb.sum().backward()\nprint(«b[0].grad»)").doubt == "`b` is no leaf either"
