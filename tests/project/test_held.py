"""Results of many files hold at one look at the project; whatever changes there, and elsewhere, is noticed."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from torchlint.engine import runner
from torchlint.engine.cache import Cache, settings_key
from torchlint.engine.examination import Task
from torchlint.project import held
from torchlint.project.files import Files, still_hold
from torchlint.project.questions import is_about
from torchlint.rules import all_rules
from torchlint.rules.selection import select_rules

TICK = 20_000_000
CODES = ("TPL301",)
NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
"""
MANY = """
from torch import nn
from models.net import Net

class Many(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Net() for _ in range(3)]

    def forward(self, x):
        for layer in self.layers:
            x = x + layer.fc(x)
        return x
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of a script that asks for a class."""
    monkeypatch.setattr(held, "FEW", 0)
    monkeypatch.setattr(held, "TICK", TICK)
    folder = tmp_path / "project"
    (folder / "models").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    (folder / "models" / "net.py").write_text(NET)
    (folder / "many.py").write_text(MANY)
    return folder


def linted(project: Path) -> list[str]:
    """The codes that are found, with what earlier runs have found."""
    time.sleep(2 * TICK / 1e9)
    cache = Cache(str(project.parent / "cache"), settings_key(CODES))
    rules = select_rules(CODES, among=all_rules())
    outcomes = runner.run([str(project / "many.py")], Task(rules, project_root=""), cache=cache)
    return [each.code for outcome in outcomes for each in outcome.diagnostics]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose answers are looked at one by one."""
    seen: list[str] = []

    def noted(files: Files, file: str, answers: Iterable[tuple[str, str]], root: str = "") -> bool:
        seen.append(os.path.basename(file))
        return still_hold(files, file, answers, root)

    monkeypatch.setattr(held, "still_hold", noted)
    return seen


def test_what_held_is_not_asked_again(project: Path, asked: list[str]) -> None:
    first = linted(project)
    assert "TPL301" in first
    assert linted(project) == first
    assert asked == []


def test_what_was_just_changed_is_asked_for_one_by_one(
    project: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "TICK", 600_000_000_000)
    for times in (0, 1, 2):
        assert linted(project) == ["TPL301"]
        assert asked == ["many.py"] * times
    monkeypatch.setattr(held, "TICK", TICK)
    for _ in range(3):
        assert linted(project) == ["TPL301"]
        assert asked == ["many.py"] * 3


def _edit(project: Path) -> None:
    (project / "models" / "net.py").write_text(NET.replace("class Net", "class Other"))


def _same_size_and_time(project: Path) -> None:
    path = project / "models" / "net.py"
    status = path.stat()
    path.write_text(NET.replace("class Net", "class Not"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _remove(project: Path) -> None:
    (project / "models" / "net.py").unlink()


def _move_the_folder(project: Path) -> None:
    (project / "models").rename(project / "others")


def _hide(project: Path) -> None:
    """A package comes before a module of its name."""
    (project / "models" / "net").mkdir()
    (project / "models" / "net" / "__init__.py").touch()


def _start_another_project(project: Path) -> None:
    """The script is in a project that has no such package."""
    (project / "models").rename(project.parent / "models")


def _lead_elsewhere(project: Path) -> None:
    (project / "models").rename(project.parent / "elsewhere")
    (project / "models").symlink_to(project.parent / "elsewhere", target_is_directory=True)


@pytest.mark.parametrize(
    "change", [_edit, _same_size_and_time, _remove, _move_the_folder, _hide, _start_another_project, _lead_elsewhere]
)
def test_a_change_is_noticed(project: Path, asked: list[str], change: Callable[[Path], None]) -> None:
    assert "TPL301" in linted(project)
    change(project)
    assert linted(project) == linted_anew(project)
    assert linted_anew(project) == []
    assert set(asked) == {"many.py"}


def linted_anew(project: Path) -> list[str]:
    """The codes that are found without a cache."""
    rules = select_rules(CODES, among=all_rules())
    outcomes = runner.run([str(project / "many.py")], Task(rules, project_root=""))
    return [each.code for outcome in outcomes for each in outcome.diagnostics]


def test_a_file_that_was_touched_rests_on_what_it_did(project: Path) -> None:
    first = linted(project)
    os.utime(project / "many.py")
    time.sleep(0.1)
    assert linted(project) == first == ["TPL301"]
    _edit(project)
    assert linted(project) == []


@pytest.mark.parametrize("name", ["env", "Build"])
def test_what_no_stamp_stands_for_is_asked_each_time(project: Path, asked: list[str], name: str) -> None:
    shutil.move(project / "models", project / name)
    (project / "many.py").write_text(MANY.replace("from models", f"from {name}"))
    first = linted(project)
    (project / name / "net.py").write_text(NET.replace("class Net", "class Other"))
    assert linted(project) == linted_anew(project)
    assert first == ["TPL301"]
    assert set(asked) == {"many.py"}


def test_no_more_than_that_is_asked_each_time(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(project / "models", project / "Build")
    text = MANY.replace("import nn\n", "import nn\nfrom Build.net import Net as Built\n")
    (project / "many.py").write_text(text.replace("[Net() for _ in range(3)]", "[Built(), Net()]"))
    seen: list[str] = []

    def noted(files: Files, file: str, answers: Iterable[tuple[str, str]], root: str = "") -> bool:
        every = list(answers)
        seen.extend(question for question, _ in every)
        return still_hold(files, file, every, root)

    monkeypatch.setattr(held, "still_hold", noted)
    for _ in range(3):
        assert linted(project) == ["TPL301"]
    assert {"./Build", "Build/net", "Build/net.py"} <= set(seen)
    assert all("Build" in question for question in seen)


WRAPPED = """
import torch

def save(model, path, gpus):
    if gpus > 1:
        model = torch.nn.DataParallel(model)
    torch.save(model.state_dict(), path)
"""


@pytest.mark.parametrize("name", ["tools", "env"])
def test_what_files_speak_of_is_asked_once_and_noticed(
    project: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "CODES", ("TPL506",))
    (project / "many.py").write_text(WRAPPED)
    (project / name).mkdir()
    for _ in range(3):
        assert linted(project) == ["TPL506"]
    assert asked == []
    (project / name / "loading.py").write_text("state = {key.replace('module.', ''): value for key, value in state.items()}")
    assert linted(project) == []


def test_words_of_an_environment_are_not_the_projects(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "CODES", ("TPL506",))
    (project / "many.py").write_text(WRAPPED)
    (project / "env").mkdir()
    (project / "env" / "pyvenv.cfg").touch()
    (project / "env" / "loading.py").write_text("state = {key.replace('module.', ''): value for key, value in state.items()}")
    assert linted(project) == ["TPL506"]


def test_stamps(project: Path) -> None:
    assert held.stamp(str(project)) == ""  # of something that changed just now
    time.sleep(2 * TICK / 1e9)
    first = held.stamp(str(project))
    assert first
    (project / ".git").mkdir()
    (project / "weights.pt").touch()
    (project / "current").symlink_to("weights.pt")
    assert held.stamp(str(project)) == first
    (project / "data").mkdir()
    assert held.stamp(str(project)) not in ("", first)
    (project / "link").symlink_to("data")
    assert held.stamp(str(project)) == ""
    assert held.stamp(str(project / "nothing")) == ""


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ("/", ""),
        ("models/net", "models/net"),
        ("models/net.py", "models/net.py"),
        ("//\nNet\nmodels\nnet", ""),
        ("//train.py\nNet\nmodels", "train.py"),
        ("///train.py\nTensor", "train.py"),
        ("//=models/net.py", "models/net.py"),
        ("//?prefixes", ""),
        ("//?choices of devices\nsrc/tools", "src/tools"),
        ("//$train.py\n", None),
    ],
)
def test_what_is_asked_about(asked: str, path: str | None) -> None:
    assert is_about(asked) == path
