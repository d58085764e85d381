"""Losses that are indexed, though they have no dimensions, and those that have one."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.shapes.scalars import Scalars

STEP = "loss = criterion(scores, y)\nloss.backward()\nprint(loss.data[0])\n"
CLASS = """
class Trainer:
    def __init__(self):
        self.criterion = {made}
    def step(self, scores, y):
        loss = self.criterion(scores, y)
        loss.backward()
        return loss.data[0]
"""


def indexed(text: str) -> list[str]:
    found = Semantics(ast.parse(text)).of(Scalars).indexed
    return [ast.unparse(tensor) for tensor in found.values()]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ncriterion = torch.nn.CTCLoss()\n" + STEP,
        "import torch\nfrom losses import criterion\n" + STEP,
        "import torch" + CLASS.format(made="torch.nn.CTCLoss()"),
    ],
)
def test_a_loss_has_no_dimensions(text: str) -> None:
    assert indexed(text) == ["loss"]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nfrom warpctc_pytorch import CTCLoss\ncriterion = CTCLoss()\n" + STEP,
        "import torch\nimport warpctc_pytorch as wp" + CLASS.format(made="wp.CTCLoss(size_average=False)"),
        "import torch\nfrom warprnnt_pytorch import RNNTLoss" + CLASS.format(made="RNNTLoss().cuda()"),
    ],
)
def test_what_a_library_gives_with_one_dimension_can_be_indexed(text: str) -> None:
    assert indexed(text) == []
