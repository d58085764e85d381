"""Gradients that a round wipes through functions of the file: the marked call, or none."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from marked import marked
from torchlint.semantics.steps.wiped_rounds import WipedRounds

TEXT = """
import torch

class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def compute(self, x):
        self.net(x).sum().backward()

    def update(self):
{update}

    def fit(self, loader):
        for x in loader:
{round}
"""


def found(update: str, round_: str = "self.compute(x)\nself.update()") -> bool:
    text = TEXT.format(update=indent(update, "        "), round=indent(round_, "            "))
    semantics, nodes = marked(text)
    assert list(semantics.of(WipedRounds).found) == nodes
    return bool(nodes)


def test_wiped_in_the_function_that_makes_the_step() -> None:
    assert found("«self.optimizer.zero_grad()»\nself.optimizer.step()")
    assert found("«self.optimizer.zero_grad()»", "self.compute(x)\nself.update()\nself.optimizer.step()")


@pytest.mark.parametrize(
    ("update", "round_"),
    [
        ("self.optimizer.step()\nself.optimizer.zero_grad()", "self.compute(x)\nself.update()"),
        ("self.optimizer.zero_grad()\nself.optimizer.step()", "self.update()\nother(self.optimizer)\nself.compute(x)"),
        ("self.optimizer.zero_grad()", "self.update()\nself.compute(x)\nself.optimizer.step()"),
        ("if self.net.training: self.optimizer.zero_grad()\nself.optimizer.step()", "self.compute(x)\nself.update()"),
        ("self.optimizer.zero_grad()\nself.compute(1)\nself.optimizer.step()", "self.compute(x)\nself.update()"),
    ],
)
def test_what_is_used_or_may_be(update: str, round_: str) -> None:
    assert not found(update, round_)


def test_an_optimizer_that_is_handed_on() -> None:
    semantics, (zero,) = marked(
        "import torch\ndef wipe(given):\n    «given.zero_grad()»\ndef train(net, optimizer, loader):\n    for x in loader:\n"
        "        net(x).sum().backward()\n        wipe(optimizer)\n        optimizer.step()\n"
    )
    assert isinstance(zero, ast.Call)
    assert list(semantics.of(WipedRounds).found) == [zero]
