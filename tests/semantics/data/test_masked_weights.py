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
        self.fc_mask = nn.Linear(3, 3)
        self.read_mask = nn.Linear(3, 3)
        self.read = lambda x: x * self.read_mask.weight

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
        "«self.beta.data» = self.mask * self.beta",
        "«self.beta.data» = torch.mul(self.beta, self.mask)",
        "«self.beta.data» = self.beta.data.mul(self.mask)",
        "«self.fc.weight.data» = torch.mul(self.fc.weight, self.fc_mask.weight)\n        x = self.fc(x)",
        "«self.fc.weight.data» = self.fc_mask.weight.data * self.fc.weight.data\n        x = self.fc(x)",
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
        "«self.beta.data» = torch.mul(self.beta, other)",
        "«self.beta.data» = torch.add(self.beta, self.mask)",
        "«self.beta.data» = torch.mul(self.fc.weight, self.fc_mask.weight)",
        "«self.beta.data» = torch.mul(self.beta, self.fc.weight)",
        "«self.beta.data.clamp_»(0.0, other)",
        "x = x * self.beta\n        «self.beta.data.clamp_»(0.0, 1.0)",
        "x = self.fc(x)\n        «self.fc.weight.data.clamp_»(0, 1)",
        "«other.weight.data.clamp_»(0, 1)",
        "«self.beta.data.mul_»(0.9)",
    ],
)
def test_they_may_change(body: str) -> None:
    assert not is_masked(body)


def is_pruned(body: str, name: str = "prune") -> bool:
    semantics, [node] = marked(_CLASS.format(name=name, body=body))
    return semantics.of(MaskedWeights).are_pruned_by(node)


@pytest.mark.parametrize(
    "body",
    [
        "«self.fc_mask.weight.data» = torch.mul(torch.gt(self.fc.weight.abs(), other).float(), self.fc_mask.weight)",
        "«self.fc_mask.weight.data» = self.fc_mask.weight.data * (self.fc.weight.data.abs() > other).float()",
        "«self.fc_mask.weight.data» = self.fc_mask.weight.mul(self.fc.weight.abs().ge(other).type_as(x))",
        "for _ in x:\n            «self.mask.data» = (self.beta > 0) * self.mask",
    ],
)
def test_a_mask_loses_values_between_the_steps(body: str) -> None:
    assert is_pruned(body)
    assert not is_pruned(body, "forward")


@pytest.mark.parametrize(
    "body",
    [
        "«self.fc_mask.weight.data» = other",  # of any size
        "«self.fc_mask.weight.data» = (other > 0).float()",
        "«self.fc_mask.weight.data» = self.fc_mask.weight * other",
        "«self.fc.weight.data» = self.fc.weight * (self.fc.weight.abs() > other).float()",  # a weight, which graphs have
        "«other.fc_mask.weight.data» = other.fc_mask.weight * (self.fc.weight.abs() > 0).float()",
        "«self.fc_mask.weight.data» = self.fc_mask.weight * (self.fc.weight > 0).float()\n        x.sum().backward()",
        "«self.read_mask.weight.data» = self.read_mask.weight * (self.fc.weight > 0).float()",  # a graph has it
    ],
)
def test_a_mask_may_be_in_a_graph_or_not_fit(body: str) -> None:
    assert not is_pruned(body)
