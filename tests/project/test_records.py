"""Copies of a project's files that its runs have left beside their results: what is found there is strict."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint
from torchlint.project.topics.records import may_be_record

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.act = nn.ReLU()

    def forward(self, x):
        start = torch.zeros(3, 4).cuda()
        return self.act(self.norm(self.layer(x))) + start
"""
OLDER = MODEL.replace("nn.ReLU()", "nn.GELU()")
OTHER = MODEL.replace("self.", "self.inner_")


def shown(root: Path, place: str, text: str = MODEL, **others: str) -> list[str]:
    """What is found by default at a place of a project with another file ``models/net.py``, and perhaps more."""
    files = {"models/net.py": MODEL, "train.py": "from models.net import Net\n", place: text}
    files |= {name.replace("__", "/") + ".py": each for name, each in others.items()}
    for name, each in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(each)
    found = lint(text, filename=str(root / place), project_root=str(root))
    return [each.code for each in found if each.code == "TPL401" and not each.is_strict]


@pytest.mark.parametrize("place", ["log/first/net.py", "runs/net.py", "a/Checkpoints/b/c/net.py", "results/1/net.py"])
def test_what_runs_have_copied_is_strict(tmp_path: Path, place: str) -> None:
    assert shown(tmp_path, place) == []


def test_a_copy_may_be_a_little_older(tmp_path: Path) -> None:
    assert shown(tmp_path, "log/net.py", OLDER) == []


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("models/net.py", MODEL),  # the one that is edited
        ("copies/net.py", MODEL),  # a folder by any other name
        ("log/other.py", MODEL),  # no other file of its name
        ("log/net.py", OTHER),  # of the same name, and something else
        ("log/net.py", MODEL + OTHER),  # more than a copy
    ],
)
def test_what_is_no_copy_is_reported(tmp_path: Path, place: str, text: str) -> None:
    assert "TPL401" in shown(tmp_path, place, text)


@pytest.mark.parametrize("line", ["from log.net import Net", "import log.net", "from .log.net import Net"])
def test_what_the_project_imports_is_its_own(tmp_path: Path, line: str) -> None:
    assert shown(tmp_path, "log/net.py", evaluate=line + "\n") == ["TPL401"]


def test_copies_may_import_one_another(tmp_path: Path) -> None:
    assert shown(tmp_path, "log/net.py", log__train="from log.net import Net\n") == []


def test_a_copy_of_a_copy_has_no_original(tmp_path: Path) -> None:
    assert shown(tmp_path, "log/part.py", runs__part=MODEL) == ["TPL401"]


def test_a_folder_that_is_the_project_itself(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    assert shown(root, "parts/net.py") == ["TPL401"]


def test_the_file_alone_is_no_record() -> None:
    assert [each.is_strict for each in lint(MODEL, filename="log/net.py") if each.code == "TPL401"] == [False]


@pytest.mark.parametrize(
    ("path", "expected"), [("log/a.py", True), ("log.py", False), ("a/b.py", False), ("log/a.ipynb", False)]
)
def test_only_files_in_such_folders_are_asked_about(path: str, expected: bool) -> None:
    assert may_be_record(path) is expected
