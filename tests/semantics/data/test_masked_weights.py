"""Weights that a forward masks or clamps, which leaves them what they were the last time."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.data.masked_weights import MaskedWeights

_CLASS = """\
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.beta = nn.Parameter(torch.ones(3))
        self.fc = nn.Linear(3, 3)
        self.register_buffer("mask", torch.ones(3))

    def {name}(self, x, other):
        {body}
        return x
"""


def is_masked(body: str, name: str = "forward") -> bool:
    semantics, [node] = marked(_CLASS.format(name=name, body=body))
    return semantics.of(MaskedWeights).are_masked_by(node)


@pytest.mark.parametrize(
    "body",
    [
        "«self.beta.data» *= self.mask",
        "«self.beta.data.clamp_»(0.0, self.limit)\n        x = x * self.beta",
        "«self.fc.weight.data.clamp_»(min=-1)\n        x = self.fc(x)",
        "x = self.fc(x)\n        «self.beta.data.clamp_»(0, 1)\n        x = x * self.beta",
    ],
)
def test_the_values_stay_the_same(body: str) -> None:
    assert is_masked(body)
    assert not is_masked(body, "update")


@pytest.mark.parametrize(
    "body",
    [
        "«self.beta.data» *= other",
        "«self.beta.data.clamp_»(0.0, other)",
        "x = x * self.beta\n        «self.beta.data.clamp_»(0.0, 1.0)",
        "x = self.fc(x)\n        «self.fc.weight.data.clamp_»(0, 1)",
        "«other.weight.data.clamp_»(0, 1)",
        "«self.beta.data.mul_»(0.9)",
    ],
)
def test_they_may_change(body: str) -> None:
    assert not is_masked(body)
