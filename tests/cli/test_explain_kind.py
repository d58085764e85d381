"""`torchlint explain-kind`: what is known of an expression, and why."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TRAINING = """\
import torch

criterion = torch.nn.MSELoss()


def train(model, batches):
    for x, y in batches:
        loss = criterion(model(x), y)
        loss.backward()
        with torch.no_grad():
            print(loss)
"""


def explain(place: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(TRAINING)
    command = [sys.executable, "-m", "torchlint", "explain-kind", place]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_shows_kind_reason_and_bindings(tmp_path: Path) -> None:
    result = explain("train.py:11:19", tmp_path)
    assert result.stdout.splitlines() == [
        "loss: tensor (carries graph) without dimensions",
        "  because: the result of a `torch.nn.MSELoss`",
        "  bound on line 8: tensor (carries graph) without dimensions",
        "  joined the graph on line 8: criterion(model(x), y)",
        "  autograd is off here",
        "  flows into what is back-propagated",
    ]
    assert result.returncode == 0


STEPS = """\
import torch

net = torch.nn.Linear(4, 1)
out = net(torch.randn(2, 4))
total = 0.0
for _ in range(3):
    loss = out.mean() * 2
    total += loss
print(total)
print(out.detach())
"""


def test_follows_a_value_to_where_it_joined_the_graph(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(STEPS)
    command = [sys.executable, "-m", "torchlint", "explain-kind"]
    lines = [
        subprocess.run([*command, f"steps.py:{place}"], capture_output=True, text=True, cwd=tmp_path).stdout.splitlines()
        for place in ("9:7", "7:5", "10:17", "4:13")
    ]
    joined = [[line.strip() for line in found if "joined" in line] for found in lines]
    here = "joined the graph on line 4: net(torch.randn(2, 4))"
    assert joined == [[here], [here], [], []]


def test_shows_what_a_name_refers_to(tmp_path: Path) -> None:
    assert "  refers to: torch.nn.MSELoss" in explain("train.py:3:25", tmp_path).stdout.splitlines()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("train.py", "torchlint: error: not of the form FILE:ROW:COLUMN: train.py"),
        ("train.py:4:1", "torchlint: error: train.py:4:1: no expression is there"),
        ("train.py:99:1", "torchlint: error: train.py has no line 99"),
        ("missing.py:1:1", "torchlint: error: missing.py: No such file or directory"),
    ],
)
def test_refuses_places_that_are_none(place: str, message: str, tmp_path: Path) -> None:
    result = explain(place, tmp_path)
    assert (result.returncode, result.stderr.strip(), result.stdout) == (2, message, "")


MODELS = """\
from torch import nn
from torch.nn import Linear as Layer


class Net(nn.Module):
    pass


def build(name):
    return Net()
"""
USER = """\
from models import Layer, Net, build

net = build("a")
other = Net()
layer = Layer(2, 2)
"""


@pytest.mark.parametrize(
    ("place", "kind", "detail"),
    [
        ("use.py:3:1", "net: module Net", ""),
        ("use.py:3:7", "", "defined in models.py: the function `build`"),
        ("use.py:4:9", "", "defined in models.py: the class `Net`"),
        ("use.py:5:1", "layer: module torch.nn.Linear", ""),
        ("use.py:5:9", "", "stands for: torch.nn.Linear"),
    ],
)
def test_what_other_files_say_is_told(tmp_path: Path, place: str, kind: str, detail: str) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "use.py").write_text(USER)

    def told(*arguments: str) -> list[str]:
        command = [sys.executable, "-m", "torchlint", "explain-kind", *arguments, place]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout.splitlines()

    lines = told()
    assert kind in ("", lines[0])
    assert detail in ("", *(line.strip() for line in lines[1:]))
    assert told("--project-root", str(tmp_path)) == lines
    alone = told("--no-project")
    assert alone[0] != kind
    assert not [line for line in alone if "defined in" in line or "stands for" in line]
