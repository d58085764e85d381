"""Which weights are computed anew before each forward."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.data.recomputed import RecomputedWeights

START = "import torch.nn as nn\nfrom torch.nn.utils import weight_norm\n"
BLOCK = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(3, 3, 1))
        self.head = nn.Conv1d(3, 3, 1)
        «{}».data.normal_(0, 0.01)
"""


def is_recomputed(text: str) -> bool:
    semantics, [node] = marked(START + text)
    return semantics.of(RecomputedWeights).is_recomputed(node)


def test_what_is_under_weight_norm() -> None:
    assert is_recomputed(BLOCK.format("self.conv.weight"))


def test_an_argument_where_the_file_puts_layers_under_weight_norm() -> None:
    assert is_recomputed("def init(m):\n    «m.weight».data.normal_()\nnet = weight_norm(nn.Linear(3, 3))")


@pytest.mark.parametrize(
    "text",
    [
        BLOCK.format("self.head.weight"),
        BLOCK.format("self.conv.bias"),
        "def init(m):\n    «m.weight».data.normal_()",
        "net = nn.Linear(3, 3)\nweight_norm(nn.Linear(3, 3))\n«net.weight».data.normal_()",
    ],
)
def test_what_is_not(text: str) -> None:
    assert not is_recomputed(text)
