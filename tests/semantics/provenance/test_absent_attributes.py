"""Weights that are not there, so that code that names them can only raise."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.provenance.absent_attributes import AbsentAttributes

START = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, layers, flag, given: nn.Module):
        super().__init__()
        self.decoder = nn.Sequential(*layers)
        self.act = nn.ReLU()
        self.linear = nn.Linear(3, 3)
        self.either = nn.Sequential(*layers) if flag else nn.Linear(3, 3)
        self.loss = nn.CrossEntropyLoss(weight=torch.ones(3))
        self.given = given
        self.table = nn.ParameterDict({"weight": nn.Parameter(torch.ones(3))})
    def init_weights(self):
        «self.WEIGHT».data.zero_()
"""


def is_absent(text: str) -> bool:
    semantics, [node] = marked(text)
    return semantics.of(AbsentAttributes).is_absent(node)


@pytest.mark.parametrize("weight", ["decoder.bias", "decoder.weight", "act.weight", "decodr.weight", "linaer.bias"])
def test_what_is_not_there(weight: str) -> None:
    assert is_absent(START.replace("WEIGHT", weight))


@pytest.mark.parametrize(
    "weight",
    [
        *("linear.bias", "either.bias", "loss.weight", "given.weight", "table.weight"),
        *("decoder[0].bias", "decoder.running_mean", "encoder_of_another_class.bias"),
    ],
)
def test_what_may_be_there(weight: str) -> None:
    assert not is_absent(START.replace("WEIGHT", weight))


@pytest.mark.parametrize(
    "more",
    [
        "    def __getattr__(self, name):\n        return self.parts[name]\n",
        "    def build(self, parts):\n        for name in parts:\n            self.add_module(name, parts[name])\n",
        "def build(net):\n    net.decodr = nn.Linear(3, 3)\n",
    ],
)
def test_an_attribute_that_is_given_in_another_way(more: str) -> None:
    assert not is_absent(START.replace("WEIGHT", "decodr.weight") + more)


def test_a_class_with_a_base_from_elsewhere() -> None:
    text = START.replace("WEIGHT", "decodr.weight").replace("(nn.Module):", "(Base):")
    assert not is_absent("from .base import Base\n" + text)
