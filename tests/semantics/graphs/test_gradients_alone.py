"""Values computed of gradients without a graph: of each snippet, whether the marked value is one."""

from __future__ import annotations

from textwrap import dedent

import pytest

from marked import marked
from torchlint.semantics.graphs.likely.gradients_alone import GradientsAlone

BEFORE = """
import torch

def flat(y, x, retain_graph=False, create_graph=False):
    if create_graph:
        retain_graph = True
    g = torch.autograd.grad(y, x, retain_graph=retain_graph, create_graph=create_graph)
    return torch.cat([t.view(-1) for t in g])

def kept(y, x, create_graph=True):
    return torch.autograd.grad(y, x, create_graph=create_graph)[0]

class Agent:
    def __init__(self, args, model):
        self.damping = args.damping
        self.model = model
        self.loss = model(args.x).sum()

    def product(self, kl, x):
        first = flat(kl, self.model.parameters(), create_graph=True)
        return flat(torch.dot(first, x), self.model.parameters(), retain_graph=True) + x * self.damping

    def solve(self, kl, g):
        x, r, p = torch.zeros_like(g), g.clone(), g.clone()
        old = torch.sum(r * r)
        for i in range(10):
            ap = self.product(kl, p)
            alpha = old / (torch.sum(p * ap) + 1e-8)
            x += alpha * p
            r -= alpha * ap
            new = torch.sum(r * r)
            p = r + new / old * p
            old = new
        return x

    def asked(self, y, how):
        return torch.autograd.grad(y, self.model.parameters(), create_graph=how)[0]

    def step(self, y, kl, weights, batch):
        g = flat(y, weights, retain_graph=True)
        b = self.solve(kl, g)
"""


def are_alone(body: str) -> bool:
    """Whether the marked value of a method is made of such gradients alone."""
    semantics, (node,) = marked(BEFORE + "".join(f"        {line}\n" for line in dedent(body).splitlines()))
    return semantics.of(GradientsAlone).are(node)


@pytest.mark.parametrize(
    "value",
    [
        "g",
        "b",
        "self.product(kl, b)",
        "b * self.damping + 1",
        "-b.view(-1)[0]",
        "torch.stack([g, b])",
        "kept(y, weights, create_graph=False)",
        "kept(y, weights, False)",
        "torch.autograd.grad(y, weights)[0]",
        "self.asked(y, False)",
        "torch.zeros(3) + g",
        "flat(y, weights, create_graph=False)",
    ],
)
def test_what_is_computed_of_gradients_has_no_graph(value: str) -> None:
    assert are_alone(f"«{value}»")
    assert are_alone(f"kept_value = {value}\n«kept_value»")


@pytest.mark.parametrize(
    "value",
    [
        "flat(y, weights, create_graph=True)",
        "flat(y, weights, False, True)",
        "flat(y, weights, create_graph=batch)",
        "flat(y, weights, **batch)",
        "kept(y, weights)",
        "self.asked(y, True)",
        "self.asked(y, batch)",
        "torch.autograd.grad(y, weights, None, True, True)[0]",
        "g * self.loss",
        "g * self.model(batch)",
        "g * self.model.weight",
        "g * y",
        "torch.zeros(3)",
        "batch",
        "torch.zeros(3, requires_grad=batch) * g",
        "torch.nn.Parameter(g)",
        "self.other(g)",
    ],
)
def test_what_else_goes_in_may_have_one(value: str) -> None:
    assert not are_alone(f"«{value}»")
    assert not are_alone(f"kept_value = {value}\n«kept_value»")


@pytest.mark.parametrize(
    "change",
    ["b.requires_grad_()", "b.requires_grad = True", "b.add_(y)", "b[0] = y", "b += y", "b = y if batch else b", "b = b * y"],
)
def test_a_value_may_be_given_a_graph_later(change: str) -> None:
    assert not are_alone(f"{change}\n«b»")


def test_what_torch_says() -> None:
    torch = pytest.importorskip("torch")
    weight = torch.ones(2, requires_grad=True)
    loss = (weight**3).sum()
    assert not torch.autograd.grad(loss, weight, retain_graph=True)[0].requires_grad
    assert torch.autograd.grad(loss, weight, create_graph=True)[0].requires_grad
