"""Terms of a loss that left their graph behind: of each snippet, the marked calls, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.gradients.lost_terms import LostTerms

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
def train(net: nn.Module, x, y, w):
  out = net(x)
  ce, reg = F.cross_entropy(out, y), out.square().mean()
"""


def lost(body: str) -> list[str]:
    semantics, nodes = marked(HEAD + "".join(f"  {line}\n" for line in body.split("\n")))
    found = semantics.of(LostTerms).found
    assert sorted(found, key=lambda call: (call.lineno, call.col_offset)) == nodes
    return [ast.unparse(found[node].value) for node in nodes if isinstance(node, ast.Call)]


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("loss = ce + «reg.item()»\nloss.backward()", ["reg"]),
        ("loss = ce + w * «reg.detach()»\nloss.backward()", ["reg"]),
        ("loss = 0.5 * «float(reg)» + ce\nloss.backward()", ["reg"]),
        ("loss = ce\nloss += «reg.item()»\nloss.backward()", ["reg"]),
        ("loss = ce + «out.mean().item()» + «reg.item()»\nloss.backward()", ["out.mean()", "reg"]),
        ("extra = ce + «reg.item()»\nloss = extra * w\nloss.backward()", ["reg"]),
    ],
)
def test_what_is_lost(body: str, values: list[str]) -> None:
    assert lost(body) == values


@pytest.mark.parametrize(
    "body",
    [
        "loss = ce + reg\nloss.backward()",
        "loss = ce + reg.item()",
        "loss = ce + reg\nloss.backward()\ntotal = loss.item() + reg.item()",
        "loss = ce * reg.item()\nloss.backward()",
        "loss = ce + reg.item() * out.sum()\nloss.backward()",
        "loss = ce / ce.detach() + reg\nloss.backward()",
        "loss = reg + ce - ce.detach()\nloss.backward()",
        "loss = ce + (ce * w - 1) + ce.detach()\nloss.backward()",
        "loss = ce + out.detach()\nloss.sum().backward()",
        "loss = ce + y.float().mean().item()\nloss.backward()",
        "k = w + reg.item()\nloss = ce - k * out.sum()\nloss.backward()",
        "reg.backward(retain_graph=True)\nloss = ce + reg.item()\nloss.backward()",
        "loss = ce + float(w)\nloss.backward()",
    ],
)
def test_what_is_not(body: str) -> None:
    assert lost(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "a_loss = w.adversarial_loss(out)\nloss = «a_loss.detach()» + ce\nloss.backward()",
        "a_loss = w.criterion(out)\nprint(a_loss.item())\nloss = ce + 0.1 * «a_loss.detach()»\nloss.backward()",
        "a_loss = w.measure(out)\nloss = a_loss.detach() + ce\nloss.backward()",
        "a_loss = w.adversarial_loss(out)\na_loss.backward(retain_graph=True)\nloss = a_loss.detach() + ce\nloss.backward()",
        "with torch.no_grad():\n    a_loss = w.adversarial_loss(out)\nloss = a_loss.detach() + ce\nloss.backward()",
    ],
)
def test_what_is_called_a_loss(body: str) -> None:
    lost(body)
