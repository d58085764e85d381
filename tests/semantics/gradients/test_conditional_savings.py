"""Changes in place of what is saved in a branch: the branch may never be taken where the change counts."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.gradients.saved.changes import SavedChanges

BLOCK = """
import torch
import torch.nn.functional as F
from torch import nn
class Block(nn.Module):
    def __init__(self, gates):
        super().__init__()
        self.gates, self.first, self.second = gates, nn.Linear(3, 3), nn.Linear(3, 3)
    def forward(self, x):
        {body}
        return out
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("out = F.relu(self.first(x))\n        out += x", [False]),
        ("if self.gates[0]:\n            out = F.relu(self.first(x))\n            out += x", [False]),
        ("out = F.relu(self.first(x))\n        if self.gates[0]:\n            out += x", [False]),
        ("out = x\n        if self.gates[0]:\n            out = F.relu(self.first(x))\n        out += x", [True]),
        (
            "out = x\n        if self.gates[0]:\n            out = F.relu(self.first(x))\n"
            "        if self.gates[1]:\n            out = self.second(out)\n        out += x",
            [True],
        ),
        ("with torch.autocast('cpu'):\n            out = F.relu(self.first(x))\n        out += x", [False]),
    ],
)
def test_whether_both_are_run(body: str, expected: list[bool]) -> None:
    found = Semantics(ast.parse(BLOCK.format(body=body))).of(SavedChanges).at.values()
    assert [each.is_conditional for each in found] == expected
