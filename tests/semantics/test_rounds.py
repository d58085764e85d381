"""Whether a round of a loop makes the graph of its loss anew and uses it up: of each snippet, that of the first backward."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.rounds import RoundGraphs
from torchlint.semantics.steps.training_steps import TrainingSteps

BEFORE = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from fancy import unknown

def scaled(x):
    return 2 * x

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)

class Keeping(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.outputs = []

    def forward(self, x):
        self.outputs.append(self.layer(x))
        return self.outputs[-1]

w = torch.zeros(3, requires_grad=True)
kept = w.exp()
layer, plain, keeping = nn.Linear(2, 2), Plain(), Keeping()
nested = nn.Sequential(Keeping())
for x, y in loader:
"""


def is_used_up(body: str) -> bool:
    meaning = Semantics(ast.parse(BEFORE + textwrap.indent(textwrap.dedent(body), "    ")))
    backward = meaning.of(TrainingSteps).backwards[0]
    loop = next(meaning.tree.loops(backward.call))
    return meaning.of(RoundGraphs).is_used_up(backward.loss, backward.call, loop)


@pytest.mark.parametrize(
    "body",
    [
        "(w * x).sum().backward()",
        "z = x['input']\nif flag:\n    z = z.cuda()\nF.mse_loss(plain(z), y.float()).backward()",
        "loss = F.mse_loss(w * x, y)\nloss.backward()\nprint(loss.item())",
        "out = plain(x)\nloss = F.mse_loss(out, y)\nloss.backward()\nhits = (out.argmax(1) == y).sum()\nprint(hits)",
        "loss = scaled(w * x).sum()\nloss += (w ** 2).sum()\nloss.backward()",
        "out = nn.LSTM(2, 2)(x)\nloss = out[0].sum()\nlosses.append(float(loss))\nloss.backward()",
        "loss = (w * x).sum()\nloss.backward()\nwith torch.no_grad():\n    kept_elsewhere(loss)",
        "loss = (w * x).sum()\nscaler.scale(loss).backward()",
    ],
)
def test_a_graph_that_is_made_and_used_up_in_the_round(body: str) -> None:
    assert is_used_up(body)


@pytest.mark.parametrize(
    "body",
    [
        "(w * x + kept).sum().backward()",
        "loss = (w * x).sum()\nloss.backward()\nloss.backward()",
        "out = layer(x)\nout.sum().backward()\nout.norm().backward()",
        "out = layer(x)\nloss = out.sum()\nother = out.norm()\nloss.backward()\nother.backward()",
        "loss = (w * x).sum()\nlosses.append(loss)\nloss.backward()",
        "out = layer(x)\nout.sum().backward()\nunknown(out)",
        "unknown(w * x).backward()",
        "keeping(x).sum().backward()",
        "nested(x).sum().backward()",
        "h = layer(h)\nh.sum().backward()",
        "loss = (w * x).sum()\nloss.backward()\ntorch.autograd.grad(loss, w)",
        "loss = (w * x).sum()\nself.loss = loss\nloss.backward()",
        "for loss in losses:\n    loss.backward()",
    ],
)
def test_a_graph_that_may_be_used_again(body: str) -> None:
    assert not is_used_up(body)


def used_up(text: str) -> str | None:
    """What the call that the last line of a snippet starts with back-propagates and uses up, as it is spelled."""
    meaning = Semantics(ast.parse(textwrap.dedent(text)))
    call = max((node for node in meaning.tree.of_type(ast.Call)), key=lambda node: (node.lineno, -node.col_offset))
    found = meaning.of(RoundGraphs).used_up(call)
    return ast.unparse(found) if found is not None else None


def test_a_backward_in_a_loop_uses_up_its_loss() -> None:
    assert used_up(BEFORE + "    loss = (w * x).sum()\n    loss.backward()") == "loss"
    assert used_up(BEFORE + "    loss = (w * x).sum()\n    scaler.scale(loss).backward()") == "loss"
    assert used_up(BEFORE + "    loss = (w * x).sum()\n    torch.autograd.backward(loss)") == "loss"


def test_no_loop_no_backward_and_later_uses_are_other_answers() -> None:
    assert used_up("import torch\nw = torch.zeros(3, requires_grad=True)\nw.sum().backward()") is None
    assert used_up(BEFORE + "    loss = (w * x).sum()\n    loss.item()") is None
    assert used_up(BEFORE + "    loss = (w * x + kept).sum()\n    loss.backward()") is None
