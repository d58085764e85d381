"""Which values are batches whose last one may have a single item."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.shapes.batches import Batches

HEADER = """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
"""
MODULE = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        {}
"""
LOOP = """\
def train(net: nn.Module, data):
    for x, y in DataLoader(data{}):
        {}
"""


def is_batch(snippet: str) -> bool:
    """Whether the marked expression of a snippet is a batch."""
    semantics, (node,) = marked(HEADER + snippet)
    return semantics.of(Batches).is_batch(node)


@pytest.mark.parametrize(
    "expression",
    [
        "«x»",
        "«self.fc(x)»",
        "«F.relu(self.fc(x))»",
        "«x.mean(1)»",
        "«x[:, :1]»",
        "«x.detach().float()»",
        "«x + 1»",
        "«-x.data»",
    ],
)
def test_what_forward_is_given_is_a_batch_and_so_is_what_comes_of_it(expression: str) -> None:
    assert is_batch(MODULE.format(expression))


@pytest.mark.parametrize(
    "expression",
    ["«x[0]»", "«x.mean()»", "«x.mean(0)»", "«x.view(-1)»", "«x.size()»", "«F.mse_loss(x, x)»", "«x.transpose(0, 1)»"],
)
def test_what_loses_its_first_axis_is_none(expression: str) -> None:
    assert not is_batch(MODULE.format(expression))


@pytest.mark.parametrize("expression", ["«y»", "«net(x)»", "«net(x).cpu()»", "«torch.cat([x, y], 1)»"])
def test_items_of_a_loader_are_batches(expression: str) -> None:
    assert is_batch(LOOP.format(", batch_size=32", expression))


@pytest.mark.parametrize("size", ["", ", 1", ", batch_size=1", ", batch_size=None"])
def test_a_loader_may_give_one_item_each_time(size: str) -> None:
    assert not is_batch(LOOP.format(size, "«net(x)»"))


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x: torch.Tensor):\n    «x»",
        "def f(net: nn.Module, x):\n    «net(x)»",
        LOOP.format(", batch_size=32", "«net(x[0].unsqueeze(0))»"),
        LOOP.format(", batch_size=32", "«other»"),
        MODULE.format("x = x if self.training else other\n        «x»"),
    ],
)
def test_what_is_not_known_is_no_batch(snippet: str) -> None:
    assert not is_batch(snippet)
