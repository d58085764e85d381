"""Losses that are unpacked from what no file shows who gives: numbers, where a file of the project makes such by their name."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint

SOLVER = """
    import torch

    class Solver:
        def __init__(self, model, loss_func):
            self.model, self.loss_func = model, loss_func()

        def train(self, loader, optimizer):
            criterion = self.loss_func
            kept = []
            for x, y in loader:
                optimizer.zero_grad()
                loss, seg_loss = criterion(self.model(x), y)
                loss.backward()
                optimizer.step()
                kept.append(seg_loss)
            print(sum(kept))
"""
NUMBERS = """
    import torch.nn.functional as F

    def both():
        def wrap(output, y, weight=None):
            seg_loss = F.cross_entropy(output, y)
            loss = seg_loss * 2
            if weight is not None:
                seg_loss = seg_loss.item()
                return loss, seg_loss
            return loss
        return wrap
"""


@pytest.mark.parametrize(
    ("losses", "count"),
    [
        (NUMBERS, 0),
        (NUMBERS.replace("seg_loss = seg_loss.item()", "seg_loss = seg_loss.detach().cpu().item()  # to be shown"), 0),
        (NUMBERS.replace("seg_loss = seg_loss.item()", "pass").replace("loss, seg_loss", "loss, float(seg_loss)"), 0),
        (NUMBERS.replace("seg_loss = seg_loss.item()", "pass"), 1),
        (NUMBERS.replace("return loss, seg_loss", "return loss"), 1),
        (NUMBERS.replace("seg_loss", "class_loss"), 1),
        (NUMBERS.replace("def wrap", "def validate"), 1),
        (NUMBERS.replace("seg_loss = seg_loss.item()", "shown = seg_loss.item()"), 1),
        (NUMBERS.replace("                return loss", "        def other(loss, seg_loss):\n            return loss"), 1),
    ],
)  # fmt: skip
def test_a_loss_of_unknown_functions(losses: str, count: int, tmp_path: Path) -> None:
    assert _count(SOLVER, losses, tmp_path) == count


def test_a_function_in_sight_decides(tmp_path: Path) -> None:
    own = dedent(SOLVER).replace("criterion(self.model(x), y)", "both(self.model(x), y)")
    own = own.replace("loss.backward()", "(loss + seg_loss).backward()") + dedent("""
        def both(output, y):
            loss = torch.nn.functional.cross_entropy(output, y)
            return loss * 2, loss
    """)
    assert _count(own, NUMBERS, tmp_path) == 1


def _count(solver: str, losses: str, folder: Path) -> int:
    (folder / "pyproject.toml").write_text("[project]\n")
    (folder / "losses.py").write_text(dedent(losses))
    (folder / "solver.py").write_text(dedent(solver))
    return len(lint(dedent(solver), filename=str(folder / "solver.py"), select=["TPL004"], project_root=str(folder)))
