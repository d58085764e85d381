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


GIVEN = """
import torch
from torch import nn
{made}
class Trainer:
    def __init__(self, criterion):
        self.criterion = criterion
    def step(self, scores, y):
        loss = self.criterion(scores, y)
        return loss.data[0]
def step(criterion, scores, y):
    loss = criterion(scores, y)
    return loss.data[0]
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("", ["loss", "loss"]),
        ("criterion = nn.NLLLoss(ignore_index=0)", ["loss", "loss"]),
        ("criterion = nn.NLLLoss(reduction=how)", ["loss", "loss"]),
        ("criterion = nn.NLLLoss(reduce=False)", []),
        ("def make():\n    criterion = nn.NLLLoss(reduction='none').cuda()\n    return None, criterion", []),
        ("criterion = nn.NLLLoss()\nsingle = nn.NLLLoss(reduction='none')", ["loss", "loss"]),
        ("valid_criterion = nn.NLLLoss()\ncriterion = nn.NLLLoss(reduction='none')", []),
        ("criterion = nn.NLLLoss(reduce=False)\nstep(nn.NLLLoss(), 1, 2)\nTrainer(nn.NLLLoss())", ["loss", "loss"]),
        ("from losses import NLLLoss\ncriterion = NLLLoss(reduce=False)", ["loss", "loss"]),
    ],
)
def test_a_criterion_that_is_handed_in_may_give_a_loss_for_each_item(made: str, expected: list[str]) -> None:
    assert indexed(GIVEN.format(made=made)) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", []),
        ("from models import *\n", []),  # which gives functions
        ("from models import loss\n", ["loss"]),
        ("def give():\n    global loss\n    loss = step()\n", ["loss"]),
        ("loss = step()\n", ["loss"]),
        ("if again:\n    loss = step()\n", ["loss"]),
    ],
)
def test_what_nothing_gives_a_value_raises_before_it_is_indexed(before: str, expected: list[str]) -> None:
    assert indexed(f"import torch\n{before}try:\n    print(loss.data[0])\nexcept Exception:\n    pass\n") == expected


def test_a_part_of_a_program_has_its_values_from_elsewhere() -> None:
    assert indexed("total += loss.data[0]\n") == ["loss"]
