"""Losses and models that come from other files: what the loss expects, and what the model's forward ends in."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint

MODELS = """
    import torch.nn.functional as F
    from torch import nn

    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.softmax = nn.Softmax(dim=1)

    class Probabilities(Head):
        def forward(self, x):
            return self.softmax(self.fc(x))

    class Derived(Probabilities):
        pass

    class Logits(Head):
        def forward(self, x):
            return self.fc(x)

    class Pair(Head):
        def forward(self, x):
            scores = self.fc(x)
            return scores, F.softmax(scores, dim=1)

    class Either(Head):
        def forward(self, x, raw=False):
            scores = self.fc(x)
            return scores if raw else F.softmax(scores, dim=1)

    class Called(Probabilities):
        def __call__(self, x):
            return self.fc(x)

    def build(name):
        return Probabilities()
"""


def messages(folder: Path, files: dict[str, str], file: str) -> list[str]:
    """What TPL308 and TPL605 say of one of some files beside the models."""
    for name, text in {"models.py": MODELS, **files}.items():
        (folder / name).write_text(dedent(text))
    found = lint(dedent(files[file]), filename=str(folder / file), select=["TPL308", "TPL605"], project_root=str(folder))
    return [f"{each.code} {each.message}" for each in found]


TRAIN = """
    import torch
    from models import {made}

    def train(x, y):
        model = {made}({given})
        criterion = torch.nn.{loss}()
        {out} = model(x)
        return criterion({used}, y)
"""


@pytest.mark.parametrize(
    ("made", "loss", "out", "used", "said"),
    [
        (
            "Probabilities",
            "CrossEntropyLoss",
            "out",
            "out",
            "TPL308 `criterion` (`CrossEntropyLoss`) applies log-softmax to `out`",
        ),
        ("Derived", "CrossEntropyLoss", "out", "out", "TPL308"),
        ("Probabilities", "NLLLoss", "out", "out", "TPL308"),
        ("Logits", "NLLLoss", "out", "out", "TPL308"),
        ("Logits", "BCELoss", "out", "out", "TPL605"),
        ("Pair", "CrossEntropyLoss", "a, b", "b", "TPL308"),
        ("build", "CrossEntropyLoss", "out", "out", "TPL308"),
        ("Probabilities", "CrossEntropyLoss", "out", "out.log()", ""),
        ("Pair", "CrossEntropyLoss", "a, b", "a", ""),
        ("Logits", "CrossEntropyLoss", "out", "out", ""),
        ("Either", "CrossEntropyLoss", "out", "out", ""),
        ("Called", "CrossEntropyLoss", "out", "out", ""),
        ("Missing", "CrossEntropyLoss", "out", "out", ""),
    ],
)
def test_what_a_forward_in_another_file_gives(tmp_path: Path, made: str, loss: str, out: str, used: str, said: str) -> None:
    given = '"a"' if made == "build" else ""
    found = messages(tmp_path, {"train.py": TRAIN.format(made=made, loss=loss, out=out, used=used, given=given)}, "train.py")
    assert [each.startswith(said) for each in found] == [True] * bool(said)
    assert not said or "models.py:" in found[0]


ENGINE = """
    def train(model, criterion, x, y):
        out = model(x)
        return criterion(out, y)
"""
MAIN = """
    import torch
    from engine import train
    from models import Probabilities, Logits

    def main(x, y, model):
        train(Probabilities(), torch.nn.CrossEntropyLoss(), x, y)
        {more}
"""


@pytest.mark.parametrize(
    ("more", "count"),
    [
        ("", 1),
        ("train(Probabilities(), torch.nn.CrossEntropyLoss(), y, x)", 1),
        ("train(Logits(), torch.nn.CrossEntropyLoss(), x, y)", 0),
        ("train(model, torch.nn.CrossEntropyLoss(), x, y)", 0),
        ("train(Probabilities(), torch.nn.NLLLoss(), x, y)", 0),
    ],
)
def test_the_model_and_the_loss_that_a_caller_gives(tmp_path: Path, more: str, count: int) -> None:
    """With several callers, no model of one is put together with the loss of another."""
    assert len(messages(tmp_path, {"engine.py": ENGINE, "main.py": MAIN.format(more=more)}, "engine.py")) == count
