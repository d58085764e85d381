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

class Head(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.features = features
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(self.features[x])

def make(n):
    outs = []
    for _ in range(n):
        outs.append(layer(torch.ones(2)))
    return outs

def both(n):
    return make(n), make(n)

def advance(x):
    global state
    state = layer(x) + state
    return state

def advanced(x):
    return advance(x)

def extend(items, x):
    items.append(items[-1] + x)
    return items[-1]

w = torch.zeros(3, requires_grad=True)
kept = w.exp()
state, memory = torch.zeros(2), torch.zeros(2)
rows, recurrent = [torch.zeros(2), torch.zeros(2)], nn.LSTM(2, 2)
headed = Head(unknown(kept))
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
        "x.sum().backward()",
        "F.mse_loss(x, y).backward()",
        "total = torch.zeros(3)\nfor part in x:\n    total += w * part\n    total.sum().backward()",
        "rows[0] = layer(rows[0])\nF.mse_loss(rows[0], y).backward()",
        "memory.add_(layer(x))\nmemory.sum().backward()",
        "out, rows[1] = recurrent(x, rows[1])\nout.sum().backward()",
        "a = b = layer(x)\na.sum().backward()\nb.norm().backward()",
        "outs = make(2)\nout = torch.stack(outs)\nout.sum().backward()\nout.norm().backward()",
        "a, b = both(2)\na, b = torch.stack(a), torch.stack(b)\n(a + b).sum().backward()\nb.sum().backward()",
        "if flag:\n    prior = layer(y)\n(layer(x) + prior).sum().backward()",
        "out = layer(x)\nout.sum().backward()\ngradients = torch.autograd.grad(out.norm(), w)",
        "advanced(x).sum().backward()",
        "extend(rows, x * w).sum().backward()",
        "headed(x).sum().backward()",
    ],
)
def test_a_graph_that_may_be_used_again(body: str) -> None:
    assert not is_used_up(body)


def test_what_a_loader_gives_may_be_of_one_graph() -> None:
    made = "dataset = TensorDataset({}, targets)\nloader = DataLoader(dataset)\nnet = nn.Linear(2, 2)\nfor x, y in loader:\n"
    before = BEFORE.partition("for x")[0] + "from torch.utils.data import DataLoader, TensorDataset\n"
    text = f"{before}{made}    net(x).sum().backward()"
    assert used_up(text.format("inputs"))
    assert used_up(text.format("layer(inputs)")) is None


def test_a_backward_before_it_in_the_round_is_no_other() -> None:
    text = BEFORE + "    out = layer(x)\n    out.norm().backward(retain_graph=True)\n    loss = out.sum()\n    loss.backward()"
    assert used_up(text) == "loss"
    assert used_up(text + "\n    del x\n    out.norm().backward()") == "out.norm()"


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
    assert used_up(BEFORE + "    out = layer(x)\n    def closure():\n        out.sum().backward()") is None
