"""Scores that are compared with one half, where another file of the project may have the model that gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

LOOP = """
import torch.nn as nn

class Loop:
    def __init__(self, model: nn.Module, rows):
        self.model = model
        self.rows = rows
        self.loss = nn.BCEWithLogitsLoss()

    def run(self):
        for x, y in self.rows:
            scores = self.model(x)
            self.loss(scores.squeeze(), y).backward()
            print((scores.squeeze() >= 0.5).float().mean())
"""
NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)
        self.last = nn.Sigmoid()

    def forward(self, x, state=None):
        gate = torch.sigmoid(x)
        scores = self.fc(x * gate)
        return {result}
"""
OWN = """
from net import Net

def check(rows):
    model = Net()
    loss = nn.BCEWithLogitsLoss()
    for x, y in rows:
        scores = model(x)
        print(loss(scores, y), scores > 0.5)
"""


def lines(folder: Path, text: str, result: str) -> list[int]:
    (folder / "net.py").write_text(NET.format(result=result))
    found = lint(text, filename=str(folder / "loop.py"), project_root=str(folder))
    return [each.location.row for each in found if each.code == "TPL602"]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("self.last(scores)", []),
        ("torch.sigmoid(scores)", []),
        ("self.last(scores), state", []),
        ("scores", [14]),
        ("scores, state", [14]),
        ("torch.relu(scores)", [14]),
    ],
)
def test_a_model_that_is_handed_in_may_be_one_of_the_project_s(tmp_path: Path, result: str, expected: list[int]) -> None:
    assert lines(tmp_path, LOOP, result) == expected


def test_a_model_that_the_file_makes_is_known(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(NET.format(result="self.last(scores)"))
    assert lines(tmp_path, LOOP.partition("class Loop")[0] + OWN, "scores") == [12]


def test_where_no_project_is_known_the_loss_is_believed() -> None:
    assert [each.code for each in lint(LOOP)] == ["TPL602"]
