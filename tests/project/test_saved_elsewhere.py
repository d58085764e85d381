"""Models that are saved whole, of classes of another file (TPL503)."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

PARTS = """
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)

class Learner:
    def to(self, device): ...
    def train(self): ...
    def parameters(self): ...
"""
SAVING = """
import torch
from parts import Net, Learner
from package import Unknown

def main(cfg, loader, step):
    model = {}(cfg)
    model.to(cfg.device)
    model.train()
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        step(model, x, optimizer)
    torch.save(model, cfg.path)
"""


@pytest.mark.parametrize(("name", "expected"), [("Net", 1), ("Unknown", 1), ("Learner", 0)])
def test_what_a_class_of_another_file_makes(tmp_path: Path, name: str, expected: int) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    found = lint(SAVING.format(name), filename=str(tmp_path / "train.py"), project_root=str(tmp_path))
    assert [each.code for each in found].count("TPL503") == expected


GIVEN = """
import torch
from parts import Net, Learner
from package import Unknown

def main(model: {}, loader, step, path):
    model.train(True)
    for x in loader:
        step(model, x)
    torch.save(model, path)
"""


@pytest.mark.parametrize(("name", "expected"), [("Net", 1), ("Unknown", 0), ("Learner", 0)])
def test_what_an_annotation_says(tmp_path: Path, name: str, expected: int) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    found = lint(GIVEN.format(name), filename=str(tmp_path / "train.py"), project_root=str(tmp_path))
    assert [each.code for each in found].count("TPL503") == expected
