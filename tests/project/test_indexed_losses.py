"""Losses that are indexed, where a model of another file gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x, y):
        criterion = nn.CrossEntropyLoss()
        loss = {start}
        for part in x:
            loss += criterion(part, y)
            loss += criterion(part, y)
        return loss, x
"""
TRAIN = """
from net import Net

def train(x, y):
    model = Net().to("cpu")
    loss, _ = model(x, y)
    loss.backward()
    print({shown})
"""


@pytest.mark.parametrize(
    ("start", "shown", "expected"),
    [
        ("torch.FloatTensor([0.0]).to(x.device)", "loss[0]", []),
        ("torch.zeros(1)", "loss[0]", []),
        ("criterion(x, y)", "loss[0]", ["TPL102"]),
        ("criterion(x, y)", "loss.data[0]", ["TPL102"]),
    ],
)
def test_what_the_sum_starts_with_decides(tmp_path: Path, start: str, shown: str, expected: list[str]) -> None:
    (tmp_path / "net.py").write_text(NET.format(start=start))
    found = lint(TRAIN.format(shown=shown), filename=str(tmp_path / "train.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


STEP = """
import torch
def valid(model, criterion, loader):
    for x, y in loader:
        loss = criterion(model(x), y)
        print(loss.data[0])
"""
MAIN = """
from torch import nn
from step import valid
valid(nn.Linear(3, 3), nn.NLLLoss({flags}), [])
"""


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("", ["TPL102"]), ("reduction='mean'", ["TPL102"]), ("reduction='none'", []), ("ignore_index=0, reduce=False", [])],
)
def test_a_criterion_of_another_file_may_give_a_loss_for_each_item(tmp_path: Path, flags: str, expected: list[str]) -> None:
    (tmp_path / "main.py").write_text(MAIN.format(flags=flags))
    found = lint(STEP, filename=str(tmp_path / "step.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected
