"""Projects as they should not be: files that vanish, thousands of modules, packages that are laid out to do harm."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.engine.examination import Outcome, Task, examine
from torchlint.project import callers, importers, on_disk
from torchlint.project.files import Files
from torchlint.project.told.outputs import Outputs
from torchlint.project.trees import Trees
from torchlint.rules import all_rules

MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Dropout(0.5)
"""
USER = """\
import torch
from {module} import Net


def train(model, loader, optimizer):
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()


def predict(x):
    model = Net()
    model.load_state_dict(torch.load("model.pt", map_location="cpu", weights_only=True))
    with torch.no_grad():
        return model(x)
"""


def write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in {"pyproject.toml": "", **texts}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


def linted(folder: Path, text: str, name: str = "main.py", known: Files | None = None) -> Outcome:
    """What comes of a file in a project; there may be no error, and it may take no more than some seconds."""
    start = time.process_time()
    task = Task(all_rules(), project_root="")
    outcome = examine(dedent(text).encode(), str(folder / name), task, known or Files())
    assert outcome.errors == ()
    assert time.process_time() - start < 10
    return outcome


def codes(outcome: Outcome) -> set[str]:
    return {each.code for each in outcome.diagnostics}


# --- files that vanish -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [on_disk, importers, callers], ids=lambda each: each.__name__.rpartition(".")[2])
@pytest.mark.parametrize("instead", ["nothing", "folder", "link to itself"])
def test_a_file_that_is_gone_when_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, instead: str
) -> None:
    write(tmp_path, {"models.py": MODEL, "run.py": "from main import train\n\ntrain(1, 2, 3)\n"})
    read: Callable[..., bytes] = module.read_file  # type: ignore[attr-defined]
    vanished: list[str] = []

    def vanishing(path: str, *rest: int) -> bytes:
        if not path.endswith("main.py") and os.path.isfile(path):
            vanished.append(os.path.basename(path))
            os.unlink(path)
            if instead == "folder":
                os.mkdir(path)
            elif instead == "link to itself":
                os.symlink(path, path)
        return read(path, *rest)

    monkeypatch.setattr(module, "read_file", vanishing)
    outcome = linted(tmp_path, USER.format(module="models"))
    assert vanished
    assert ("TPL504" in codes(outcome)) == ("models.py" not in vanished)


def test_the_project_is_gone(tmp_path: Path) -> None:
    outcome = linted(tmp_path / "never" / "there", USER.format(module="models"))
    assert "TPL504" not in codes(outcome)


# --- many ------------------------------------------------------------------------------------------------------------


def test_of_ten_thousand_modules_one_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"models/net0.py": MODEL, **{f"models/p{package}/__init__.py": "" for package in range(10)}})
    for number in range(10_000):
        with open(tmp_path / "models" / f"p{number % 10}" / f"net{number}.py", "w") as file:
            file.write("from .net0 import *\nx = 1\n")
    read: list[str] = []
    say = Trees.summary

    def said(trees: Trees, data: bytes, *, is_stub: bool) -> tuple[object, str]:
        read.append(data.decode())
        return say(trees, data, is_stub=is_stub)

    monkeypatch.setattr(Trees, "summary", said)
    outcome = linted(tmp_path, USER.format(module="models.net0"))
    assert "TPL504" in codes(outcome)
    assert read == [MODEL]
    assert len(outcome.answers) < 50


def test_in_a_project_of_too_many_files_nobody_is_asked_who_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {f"user{number}.py": "from main import train\n" for number in range(20)})
    assert len(importers.Importers(str(tmp_path)).of(["train"])) == 20
    monkeypatch.setattr(importers, "_MOST_FILES", 19)
    assert importers.Importers(str(tmp_path)).of(["train"]) == []


def test_what_is_known_of_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_disk, "_MOST_KEPT", 20)
    monkeypatch.setattr(Outputs, "most_kept", 20)
    write(tmp_path, {f"models{number}.py": MODEL for number in range(100)})
    known = Files()
    for number in range(100):
        assert "TPL504" in codes(linted(tmp_path, USER.format(module=f"models{number}"), f"main{number}.py", known))
        assert len(known._read) <= 20
        assert len(known.outputs._known) <= 20
    known.look_again()
    assert len(known._kept) <= 40


# --- layouts that do harm --------------------------------------------------------------------------------------------

STARS = "".join(f"from .m{number} import *\n" for number in range(300))
CHAIN = {f"models/m{number}.py": f"from .m{number + 1} import *\nfrom .m{number + 2} import *\n" for number in range(300)}


@pytest.mark.parametrize(
    ("texts", "module"),
    [
        ({"main.py": "from main import Net\n"}, "main"),
        ({"main.py": "from main import *\n", "models.py": "from main import *\nfrom models import *\n"}, "models"),
        ({"models/__init__.py": STARS, **CHAIN}, "models"),
        (
            {"models/__init__.py": "from . import *\nfrom .models import *\n" * 200, "models/models.py": "from . import *\n"},
            "models",
        ),
        ({"models.py": "class Net(" + ", ".join(f"Base{n}" for n in range(200)) + "): pass\n"}, "models"),
        ({"models.py": "".join(f"class C{n}(C{n + 1}): pass\n" for n in range(3_000)) + "Net = C0\n"}, "models"),
        ({"models.py": "".join(f"def f{n}(x): return f{n + 1}(x)\n" for n in range(3_000)) + "Net = f0\n"}, "models"),
        ({"models.py": "Net = " + "Net(" * 90 + ")" * 90 + "\n"}, "models"),
        ({"models.py": "Net = " + ".".join(["models"] * 5_000) + "\n"}, "models"),
        ({"models.py": MODEL + "#" * 1_100_000}, "models"),
        ({"models/__init__.py/net.py": MODEL}, "models.net"),
        ({"models/\x1b[2J.py": MODEL, "models/a\nb.py": MODEL, "models/__init__.py": ""}, "models"),
        ({"a/" * 80 + "models.py": MODEL}, "a." * 80 + "models"),
        ({"models.py": MODEL}, "." * 900 + "models"),
        ({"models.py": MODEL}, ".".join(["models"] * 900)),
    ],
)
def test_a_layout_that_does_harm_costs_nothing_but_what_is_not_known(
    tmp_path: Path, texts: dict[str, str], module: str
) -> None:
    write(tmp_path, texts)
    outcome = linted(tmp_path, USER.format(module=module))
    assert ("TPL504" in codes(outcome)) == module.startswith("a.")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
def test_folders_that_contain_themselves(tmp_path: Path) -> None:
    write(tmp_path, {"models/__init__.py": "", "models/net.py": MODEL})
    for name in ("models", "again", "net2"):
        (tmp_path / "models" / name).symlink_to(tmp_path / "models")
    (tmp_path / "all").symlink_to(tmp_path)
    outcome = linted(tmp_path, USER.format(module="all.models." + "again.models." * 10 + "net"))
    assert len(outcome.answers) < 200
    assert importers.Importers(str(tmp_path)).of(["torch"]) == []
    assert "TPL504" in codes(linted(tmp_path, USER.format(module="models.net")))
