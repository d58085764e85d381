"""Losses that are told what to do by ``size_average`` and ``reduce``."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.apis.loss_flags import LossFlags

IMPORTS = """\
import functools
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.modules.loss import _Loss
"""


def flags(snippet: str) -> list[tuple[str, str]]:
    """The flags that the calls of a snippet give, each with its value."""
    semantics, _ = marked(IMPORTS + snippet)
    given = semantics.of(LossFlags).given.values()
    return [(flag.name, ast.unparse(flag.value)) for loss in given for flag in loss.flags]


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("nn.MSELoss(size_average=False)", [("size_average", "False")]),
        ("nn.MSELoss(reduce=False, size_average=flag)", [("reduce", "False"), ("size_average", "flag")]),
        ("nn.MSELoss(False)", [("size_average", "False")]),
        ("nn.CrossEntropyLoss(weight, flag, -1, True)", [("size_average", "flag"), ("reduce", "True")]),
        ("nn.CrossEntropyLoss(self.weight, self.averaged)", [("size_average", "self.averaged")]),
        ("F.nll_loss(x, y, None, False)", [("size_average", "False")]),
        ("F.nll_loss(x, y, *rest, size_average=None, reduce=flag)", [("size_average", "None"), ("reduce", "flag")]),
        ("functools.partial(F.mse_loss, size_average=False)", [("size_average", "False")]),
        ("functools.partial(nn.MSELoss, False)", [("size_average", "False")]),
        ("class Own(_Loss):\n    def __init__(self): super().__init__(False)", [("size_average", "False")]),
        ("class Own(nn.MSELoss):\n    def __init__(self): nn.MSELoss.__init__(self, False)", [("size_average", "False")]),
        ("make = nn.L1Loss\nmake(False)", [("size_average", "False")]),
    ],
)
def test_finds_flags_by_name_and_place(snippet: str, expected: list[tuple[str, str]]) -> None:
    assert flags(snippet) == expected


@pytest.mark.parametrize(
    "snippet",
    [
        "nn.MSELoss()",
        "nn.MSELoss(reduction='sum')",
        "nn.MSELoss(size_average=None)",
        "nn.MSELoss(*flags)",
        "out = nn.Linear(2, 2)(x)\nnn.MSELoss(out, y)",
        "nn.CrossEntropyLoss(self.scores, self.targets)",
        "nn.MSELoss(scores, torch.zeros(3))",
        "nn.CrossEntropyLoss(weight)",
        "F.mse_loss(x, y)",
        "F.softmax(x, size_average=False)",
        "class Own(nn.Module):\n    def __init__(self): super().__init__(False)",
        "def mse_loss(x, y, size_average): ...\nmse_loss(x, y, False)",
        "from .losses import MSELoss\nMSELoss(size_average=False)",
    ],
)
def test_finds_no_flags(snippet: str) -> None:
    assert flags(snippet) == []


@pytest.mark.parametrize(
    ("parameters", "may_be_none"), [("flag=None", True), ("flag=True", False), ("flag", False), ("other, *, flag=None", True)]
)
def test_tells_what_may_be_none(parameters: str, may_be_none: bool) -> None:
    semantics, _ = marked(f"{IMPORTS}def f({parameters}): nn.MSELoss(size_average=flag)")
    [loss] = semantics.of(LossFlags).given.values()
    assert [flag.may_be_none for flag in loss.flags] == [may_be_none]


@pytest.mark.parametrize(
    ("snippet", "is_plain"),
    [
        ("criterion = nn.MSELoss()\n«criterion»", True),
        ("class Own(nn.MSELoss): pass\ncriterion = Own()\n«criterion»", False),
        ("criterion = nn.Linear(1, 1)\n«criterion»", False),
        ("«criterion»", False),
    ],
)
def test_knows_torchs_own_losses(snippet: str, is_plain: bool) -> None:
    semantics, [node] = marked(IMPORTS + snippet)
    assert semantics.of(LossFlags).is_plain_loss(node) == is_plain
