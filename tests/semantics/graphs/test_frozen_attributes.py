"""Which attributes of modules are leaves that a class asks to have no gradient."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.graphs.frozen.attributes import FrozenAttributes

_CLASS = """\
import torch.nn as nn

class Masked(nn.Module):
    def __init__(self, n, option):
        super().__init__()
        self.mask = nn.Parameter(torch.ones(n))
        {asked}

    def forward(self, x):
        return x * «self.mask»
"""


def are_frozen(asked: str) -> bool:
    semantics, [node] = marked(_CLASS.format(asked=asked))
    return semantics.of(FrozenAttributes).are(node)


@pytest.mark.parametrize("asked", ["self.mask.requires_grad = False", "self.mask.requires_grad_(False)"])
def test_they_are_frozen(asked: str) -> None:
    assert are_frozen(asked)


@pytest.mark.parametrize(
    "asked",
    [
        "pass",
        "self.mask.requires_grad = True",
        "self.mask.requires_grad = option",
        "self.mask.requires_grad_()",
        "self.mask.requires_grad = False\n        self.mask.requires_grad_(option)",
        "self.other.requires_grad = False",
        "print(self.mask.requires_grad)",
    ],
)
def test_they_may_be_trained(asked: str) -> None:
    assert not are_frozen(asked)
