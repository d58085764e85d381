"""Whether the mode of a module of another file makes a difference, as its layers and those who make them tell."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.project.files import Files
from torchlint.semantics import Semantics
from torchlint.semantics.modules.modes_elsewhere import ModesElsewhere
from torchlint.semantics.summaries.lookup import ClassElsewhere

NETS = """
import torch
import torch.nn as nn
import other

def conv(n, k=3):
    return nn.Conv2d(n, n, k)

def up(n, how):
    if how == "transposed":
        return nn.ConvTranspose2d(n, n, 2)
    layers = [nn.Upsample(scale_factor=2), conv(n, 1)]
    return nn.Sequential(*layers)

def normal(n):
    return nn.Sequential(nn.Conv2d(n, n, 3), nn.BatchNorm2d(n))

def behind(n):
    return nn.Sequential(normal(n))

def chosen(n, kind=nn.BatchNorm2d):
    return nn.Sequential(nn.Conv2d(n, n, 3), kind(n))

def chosen_by_name(n, kind):
    layer = {"batch": nn.BatchNorm2d, "none": nn.Identity}[kind]
    return layer(n)

def of_others(n):
    return other.make(n)

def with_rate(n, rate):
    return nn.TransformerLayer(n, dropout=rate)

def of_itself(n):
    return nn.Sequential(of_itself(n - 1), nn.Linear(n, n))

class Masked(nn.Conv2d):
    pass

class Dropping(nn.Dropout):
    pass

class Strange(other.Base):
    pass

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.part = {part}

    def forward(self, x):
        return self.part(x)
"""


def matters(folder: Path, part: str) -> bool | None:
    (folder / "nets.py").write_text(NETS.replace("{part}", part))
    module = ast.parse("from nets import Net\nNet\n")
    reading = Files().reading(str(folder / "main.py"), str(folder))
    semantics = Semantics(module, reading, reading.file)
    assert isinstance(module.body[-1], ast.Expr)
    found = semantics.elsewhere.target(module.body[-1].value)
    assert isinstance(found, ClassElsewhere)
    return semantics.of(ModesElsewhere).matters(found)


@pytest.mark.parametrize(
    "part",
    [
        "conv(n)",
        "up(n, 'nearest')",
        "nn.Sigmoid().cuda()",
        "conv(n).to('cuda').float()",
        "Masked(n, n, 3)",
        "of_itself(n)",
        "nn.Sequential(conv(n), up(n, 'nearest'))",
    ],
)
def test_parts_that_know_no_mode(tmp_path: Path, part: str) -> None:
    assert matters(tmp_path, part) is False


@pytest.mark.parametrize(
    "part",
    ["normal(n)", "behind(n)", "normal(n).cuda()", "chosen_by_name(n, 'batch')", "with_rate(n, 0.1)", "Dropping()"],
)
def test_parts_that_know_one(tmp_path: Path, part: str) -> None:
    assert matters(tmp_path, part) is True


@pytest.mark.parametrize("part", ["chosen(n)", "of_others(n)", "Strange(n)", "n.layer()", "other.Layer(n)", "kinds[n](n)"])
def test_parts_of_which_nothing_is_known(tmp_path: Path, part: str) -> None:
    assert matters(tmp_path, part) is None
