"""Losses that are given to objects of other files which add them up, with their graphs (TPL004)."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from torchlint.api import lint

METERS = """
import torch

class Meter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum = 0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    def add(self, value):
        self.sum = self.sum + value

class Numbers(Meter):
    def update(self, value, n=1):
        self.sum += float(value) * n

class Last:
    def update(self, value):
        self.value = value

    def count(self, value):
        self.n += 1
"""
TRAIN = """
import torch
from torch import nn
import meters
from meters import *

class Trainer:
    def __init__(self):
        self.meter = Meter()

    def train(self, loader):
        net = nn.Linear(2, 2)
        o = torch.optim.SGD(net.parameters(), lr=0.1)
        table = {{}}
        table["loss"] = Meter()
{made}
        for x, y in loader:
{start}
            o.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            o.step()
{given}
"""


def found(folder: Path, given: str, made: str = "meter = Meter()", start: str = "pass") -> list[str]:
    """What is found in the training, at what is given to the meter."""
    (folder / "meters.py").write_text(METERS)
    text, name = (
        TRAIN.format(given=indent(given, " " * 12), made=indent(made, " " * 8), start=indent(start, " " * 12)),
        "train.py",
    )
    assert lint(text, filename=str(folder / name), select=("TPL004",)) == []
    found = lint(text, filename=str(folder / name), select=("TPL004",), project_root=str(folder))
    assert all(each.fix is not None and each.fix.applicability.value == "unsafe" for each in found)
    return [text.splitlines()[each.location.row - 1].strip() for each in found]


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("meter.update(loss, len(x))", "meter = Meter()"),
        ("meter.update(loss * 2)", "meter = meters.Meter()"),
        ("meter.add(loss)", "meter = Meter()"),
        ("self.meter.update(loss)", ""),
        ("table['loss'].update(loss)", ""),
        ("held['loss'].update(loss)", "held = {'loss': Meter(), 'time': Numbers()}"),
        ("held[name].update(loss)", "held = {name: Meter() for name in names}"),
        ("held[name].update(loss)", "held = {'a': Meter(), 'b': Meter()}"),
        ("held[name].update(loss)", "held = collections.defaultdict(Meter)"),
    ],
)
def test_a_loss_is_added_up(tmp_path: Path, given: str, made: str) -> None:
    assert found(tmp_path, given, made) == [given]


@pytest.mark.parametrize(
    ("given", "made", "start"),
    [
        ("meter.update(loss.item(), 4)", "meter = Meter()", ""),
        ("meter.update(loss.detach())", "meter = Meter()", ""),
        ("meter.update(loss.data)", "meter = Meter()", ""),
        ("meter.update(loss)", "meter = Numbers()", ""),
        ("meter.update(loss)", "meter = Last()", ""),
        ("meter.count(loss)", "meter = Last()", ""),
        ("meter.update(loss)", "meter = unknown()", ""),
        ("meter.update(loss)", "meter = Meter() if x else Numbers()", ""),
        ("meter.update(loss)", "", "meter = Meter()"),
        ("meter.update(loss)", "meter = Meter()", "meter.reset()"),
        ("meter.update(y)", "meter = Meter()", ""),
        ("held['loss'].update(loss)", "held = {'loss': Numbers(), 'time': Meter()}", ""),
        ("held[name].update(loss)", "held = {'loss': Numbers(), 'time': Meter()}", ""),
        ("held['loss'].update(loss)", "held = {'loss': Meter()}\nheld['loss'] = Numbers()", ""),
        ("held['loss'].update(loss)", "held = made()", ""),
        ("held[0].update(loss)", "held = [Meter()]", ""),
        ("loss = loss.item()\nmeter.update(loss)", "meter = Meter()", ""),
        ("meter.update(loss)\nmeter.sum.backward()", "meter = Meter()", ""),
        ("with torch.no_grad():\n    value = net(x).mean()\n    meter.update(value)", "meter = Meter()", ""),
    ],
)
def test_nothing_is_kept(tmp_path: Path, given: str, made: str, start: str) -> None:
    assert found(tmp_path, given, made or "pass", start or "pass") == []


LOSSES = """
import torch
import torch.nn.functional as F
from torch import nn

class Edges(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, out, image):
        n = out.size(0)
        {body}
        return torch.sqrt(F.conv2d(out, torch.ones(1, 1, 3, 3)) - image).mean()
"""
SUMMED = """
import torch
from torch import nn
from losses import Edges

def train(net, loader, optimizer):
    edges = Edges()
    total = 0
    for x, grey, y in loader:
        out = net(x)
        edge_loss = edges(out, grey)
        loss = nn.functional.cross_entropy(out, y) + edge_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += edge_loss
    return total
"""


@pytest.mark.parametrize(
    ("init", "body", "expected"),
    [
        ("self.weight = 1", "out = out.argmax(1).float().view(n, 1)", []),
        ("self.weight = 1", "out = torch.argmax(out, dim=1).float()", []),
        ("self.weight = 1", "out = out.detach()", []),
        ("self.weight = 1", "out = out.float()", ["TPL004"]),
        ("self.weight = 1", "best = out.argmax(1)", ["TPL004"]),
        ("self.weight = 1", "if n > 1:\n            out = out.argmax(1)", ["TPL004"]),
        ("self.layer = nn.Conv2d(1, 1, 3)", "out = self.layer(out.argmax(1).float())", ["TPL004"]),
    ],
)
def test_losses_of_what_was_picked_have_no_graph(tmp_path: Path, init: str, body: str, expected: list[str]) -> None:
    (tmp_path / "losses.py").write_text(LOSSES.format(init=init, body=body))
    found = lint(SUMMED, filename=str(tmp_path / "main.py"), project_root=str(tmp_path), select=["TPL004"])
    assert [each.code for each in found] == expected
