"""The same findings wherever they are asked for: for one file, five or all, from standard input, in flake8, in notebooks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command import environment, torchlint_

MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Dropout(0.5)
"""
USER = """\
import torch

from models.net import Net


def predict(x):
    model = Net()
    model.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=True))
    with torch.no_grad():
        return model(x)
"""
FOUND = "use.py:8:5: TPL504"
PLACE = re.compile(r"\S+\.(py|ipynb)\S*( \d\S*)? TPL\d+")
CHOICE = ("--select", "TPL504", "--output-format", "concise")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model in a package, one file that uses it, and four that have nothing to do with it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").write_text("")
    (tmp_path / "models" / "net.py").write_text(MODEL)
    (tmp_path / "use.py").write_text(USER)
    for number in range(4):
        (tmp_path / f"other{number}.py").write_text("import torch\n\nx = torch.ones(3)\n")
    return tmp_path


def lines(*arguments: str, given: str | None = None) -> list[str]:
    """The places and codes that the command prints."""
    finished = torchlint_("check", *CHOICE, *arguments, given=given)
    assert finished.stderr == ""
    return [found[0] for line in finished.stdout.splitlines() if (found := PLACE.match(line))]


@pytest.mark.parametrize(
    "arguments",
    [
        (".",),
        ("use.py",),
        ("other0.py", "other1.py", "use.py", "other2.py", "other3.py"),
        ("-j", "2", "--no-cache", "."),
        ("models", "use.py"),
    ],
    ids=" ".join,
)
def test_the_command_for_some_files_and_for_all(arguments: tuple[str, ...]) -> None:
    assert lines(*arguments) == [FOUND]
    assert lines(*arguments) == [FOUND], "from the cache"
    assert lines("--no-project", *arguments) == []


def test_a_hook_that_is_given_files_of_a_folder_below(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pre-commit gives the files that changed, from the root of the repository; other programs do so from elsewhere."""
    (project / "tools").mkdir()
    monkeypatch.chdir(project / "tools")
    assert [Path(line).name for line in lines(str(project / "use.py"), str(project / "other0.py"))] == [Path(FOUND).name]


def test_standard_input_is_the_file_that_it_is_said_to_be(project: Path) -> None:
    typed = USER.replace("predict", "guess")
    assert lines("--stdin-filename", "use.py", "-", given=typed) == [FOUND]
    assert lines("--stdin-filename", str(project / "new.py"), "-", given=typed) == [f"{project / 'new.py'}:8:5: TPL504"]
    assert lines("--stdin-filename", "models/use.py", "-", given=typed.replace("models.net", ".net")) == ["models/" + FOUND]
    assert lines("-", given=typed) == []
    assert lines("--no-project", "--stdin-filename", "use.py", "-", given=typed) == []


def test_flake8_finds_the_same(project: Path) -> None:
    def flake8(*arguments: str) -> list[str]:
        command = [sys.executable, "-m", "flake8", "--isolated", "--select", "TPL504", *arguments]
        finished = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
        assert finished.stderr == ""
        return [" ".join(line.removeprefix("./").split()[:2]) for line in finished.stdout.splitlines()]

    assert flake8("use.py") == [FOUND]
    assert flake8("-j", "2", ".") == [FOUND]
    assert flake8("--torchlint-no-project", "use.py") == []


def test_notebooks_import_modules_of_the_project(project: Path) -> None:
    cells = USER.split("\n\n\n")
    notebook = {
        "cells": [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (project / "use.ipynb").write_text(json.dumps(notebook))
    assert lines("use.ipynb") == ["use.ipynb:cell 2:3:5: TPL504"]
    assert lines("--no-project", "use.ipynb") == []
