"""Which layers surely have weights, so that what they are given has to be where the module is."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.devices.placeless import PlacelessTensors

CLASS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, parts, flag, width):
        super().__init__()
        {}

    def forward(self, x):
        h = {}
        h[:, 0] = x[:, 0]
        x = h
        return self.layers(x)
"""


def makes_placeless(constructor: str) -> bool:
    semantics, _ = marked(CLASS.format(constructor.replace("\n", "\n        "), "«torch.zeros(2, 2)»"))
    return bool(semantics.of(PlacelessTensors).found)


@pytest.mark.parametrize(
    "constructor",
    [
        "self.layers = nn.Linear(2, 2)",
        "self.layers = nn.Sequential(nn.Linear(2, 2), nn.ReLU())",
        "self.layers = nn.Sequential(nn.ReLU(), nn.Linear(2, 2))",
        "self.layers = nn.Sequential(*[nn.Linear(2, 2), nn.ReLU()])",
        "parts = [nn.Linear(2, 2)]\nself.layers = nn.Sequential(*parts)",
        "parts = []\nfor i in range(3):\n    parts.append(nn.Linear(2, 2))\nself.layers = nn.Sequential(*parts)",
    ],
)
def test_layers_with_weights(constructor: str) -> None:
    assert makes_placeless(constructor)


@pytest.mark.parametrize(
    "constructor",
    [
        "self.layers = nn.ReLU()",
        "self.layers = nn.Sequential(nn.ReLU(), nn.Dropout())",
        "self.layers = nn.Sequential(*parts)",
        "self.layers = nn.Sequential(*[nn.ReLU()])",
        "parts = [nn.ReLU()]\nself.layers = nn.Sequential(*parts)",
        "parts = []\nif flag:\n    parts.append(nn.Linear(2, 2))\nself.layers = nn.Sequential(*parts)",
        "parts = []\nothers = []\nothers.append(nn.Linear(2, 2))\nself.layers = nn.Sequential(*parts)",
        "parts = [nn.Linear(2, 2)]\nparts = [nn.ReLU()]\nself.layers = nn.Sequential(*parts)",
        "self.layers = nn.Sequential(nn.Linear(2, 2))\nif flag:\n    self.layers = nn.Sequential(nn.ReLU())",
        "self.layers = nn.Sequential(nn.Linear(2, 2))\nif flag:\n    self.layers = width",
    ],
)
def test_layers_that_may_have_none(constructor: str) -> None:
    assert not makes_placeless(constructor)
