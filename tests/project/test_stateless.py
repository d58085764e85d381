"""Graphs that are made anew in each round by modules and functions of other files, which keep nothing (TPL012)."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from torchlint.api import lint

TRAIN = """
import torch
from parts import *

def main(loader):
    net = Net()
    o = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        o.zero_grad()
        out = net(x)
        loss = score(out, y)
        loss.backward(retain_graph=True)
        o.step()
        {last}
"""
PARTS = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
{block}
    def forward(self, x):
        return self.fc(x)

class Net(nn.Module):
    def __init__(self, n=8):
        super().__init__()
        self.width = n
        self.blocks = self.make(n)
{init}
    def make(self, n):
        self.width = n
        return nn.Sequential(*[Block(n) for _ in range(2)])

    def forward(self, x):
{forward}
        return torch.relu(self.blocks(x))
{method}
def score(a, b):
{score}
    return torch.nn.functional.mse_loss(a, b)

def after(a):
    return torch.autograd.grad(a.sum(), a)
"""


def found(folder: Path, last: str = "print(loss)", **parts: str) -> list[str]:
    """The codes of what is found in the script, with some lines more in the file of its parts."""
    places = {"block": 2, "init": 2, "forward": 2, "method": 1, "score": 1}
    lines = {name: indent(dedent(parts.get(name, "")), "    " * depth) for name, depth in places.items()}
    (folder / "parts.py").write_text(PARTS.format(**lines))
    text, name = TRAIN.format(last=last), str(folder / "train.py")
    (folder / "train.py").write_text(text)
    assert lint(text, filename=name, select=("TPL012",)) == []
    return [each.code for each in lint(text, filename=name, select=("TPL012",), project_root=str(folder))]


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"init": "self.bn = nn.BatchNorm1d(n)"},
        {"forward": "parts = []\nparts.append(x)\nx = torch.stack(parts)[0]"},
        {"last": "total = loss.item()"},
        {"last": "print(score(out.detach(), y))"},
    ],
)
def test_what_keeps_nothing_needs_no_graph_again(tmp_path: Path, parts: dict[str, str]) -> None:
    assert found(tmp_path, **parts) == ["TPL012"]


@pytest.mark.parametrize(
    "parts",
    [
        {"forward": "self.last = x"},
        {"forward": "self.states.append(x)"},
        {"forward": "self.states[0] = x"},
        {"forward": "self.state.copy_(x)"},
        {"forward": "x = self.step(x)", "method": "def step(self, x):\n    self.h = x\n    return x\n"},
        {"forward": "setattr(self, 'h', x)"},
        {"method": "def start(self, h):\n    self.h = h\n"},
        {"method": "def __call__(self, x):\n    self.h = x\n    return x\n"},
        {"block": "self.register_forward_hook(keep)"},
        {"block": "self.other = self.fc(torch.ones(n))"},
        {"block": "self.other = self.fc.weight * 2"},
        {"block": "self.other = unknown(n)"},
        {"init": "self.out = n\nself.part = Unknown()"},
        {"score": "global last\nlast = a"},
        {"score": "a.sum().backward()"},
        {"last": "after(out)"},
        {"last": "after(loss)"},
        {"last": "loss.backward()"},
        {"last": "kept.append(loss)"},
        {"last": "x = net.blocks(out); x.sum().backward()"},
    ],
)
def test_what_may_keep_something(tmp_path: Path, parts: dict[str, str]) -> None:
    assert found(tmp_path, **parts) == []
