"""What changes tensors in place: of each snippet, the changes and what they change."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.memory.inplace import InplaceChanges

HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def changes(snippet: str) -> list[tuple[str, str]]:
    """The code that makes each change, and what is changed."""
    found = Semantics(ast.parse(HEADER + snippet)).of(InplaceChanges).all
    return [(ast.unparse(change.node), ast.unparse(change.target)) for change in found]


@pytest.mark.parametrize(
    ("snippet", "node", "target"),
    [
        ("y *= 2", "y *= 2", "y"),
        ("y[0] += 1", "y[0] += 1", "y"),
        ("y[mask] = 0", "y[mask]", "y"),
        ("y.view(-1)[1:] = 0", "y.view(-1)[1:]", "y"),
        ("self.y[0][1] = 0", "self.y[0][1]", "self.y"),
        ("z = y.mul_(2)", "y.mul_(2)", "y"),
        ("y[0].zero_()", "y[0].zero_()", "y"),
        ("z = F.relu(y, inplace=True)", "F.relu(y, inplace=True)", "y"),
        ("act = nn.ReLU(True)\nz = act(y)", "act(y)", "y"),
        ("act = nn.ReLU(inplace=True) if fast else None\nz = act(y[0])", "act(y[0])", "y"),
    ],
)
def test_changes_in_place(snippet: str, node: str, target: str) -> None:
    assert changes(snippet) == [(node, target)]


@pytest.mark.parametrize(
    "snippet",
    [
        "y = y * 2",
        "y @= x",  # makes a new tensor
        "y[mask].zero_()",  # a mask makes a copy
        "y[index_tensor].add_(1)",
        "y.requires_grad_()",
        "y.squeeze_(0)",
        "z = F.relu(y)",
        "z = F.relu(y, inplace=False)",
        "z = unknown(y, inplace=True)",
        "act = nn.ReLU()\nz = act(y)",
        "act = nn.ReLU(True)\nif slow:\n    act = nn.ReLU()\nz = act(y)",
        "act = nn.Dropout(True)\nz = act(y)",  # that is its rate
    ],
)
def test_what_changes_nothing_in_place(snippet: str) -> None:
    assert changes(snippet) == []


def test_changes_are_in_the_order_of_the_text() -> None:
    assert [target for _, target in changes("a.zero_()\nb += 1\nc[0] = d.mul_(2)\n")] == ["a", "b", "c", "d"]


def test_modules_that_work_in_place_are_attributes_of_self_as_well() -> None:
    snippet = """
class Net(nn.Module):
    def __init__(self):
        self.act = nn.ELU(1.0, True)
    def forward(self, x):
        return self.act(x)
"""
    (change,) = Semantics(ast.parse(HEADER + snippet)).of(InplaceChanges).all
    assert change.module is not None and ast.unparse(change.module) == "self.act"
    assert [(ast.unparse(each.call), ast.unparse(each.flag)) for each in change.flagged] == [("nn.ELU(1.0, True)", "True")]
