"""Runs over a project: the same findings however they are asked for, and none from the cache that another file has outdated."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from torchlint.cli.main import main
from torchlint.engine import runner
from torchlint.engine.examination import Outcome

MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = {part}
"""
USER = """\
import torch
from models.net import Net


def predict(x):
    model = Net()
    model.load_state_dict(torch.load("model.pt", weights_only=True))
    with torch.no_grad():
        return model(x)
"""
OTHER = "import torch\nfrom models.other import thing\n\nx = torch.ones(3)\nx.requres_grad = True\nthing(x)\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixty files: one that uses a model, and others that use another file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "models" / "__init__.py").write_text("")
    (tmp_path / "models" / "net.py").write_text(MODEL.format(part="nn.Dropout(0.5)"))
    (tmp_path / "models" / "other.py").write_text("def thing(x):\n    return x\n")
    (tmp_path / "use.py").write_text(USER)
    for number in range(60):
        (tmp_path / f"other{number}.py").write_text(OTHER)
    for path in tmp_path.rglob("*.py"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return tmp_path


def run(*arguments: str) -> list[tuple[str, str]]:
    """The findings of TPL504 and TPL005 in the folder, by file."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        main(["check", "--select", "TPL504,TPL005", "--output-format", "json", *arguments])
    return sorted((os.path.basename(each["filename"]), each["code"]) for each in json.loads(out.getvalue()))


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are looked at, and not taken from the cache."""
    seen: list[str] = []
    examine = runner.examine

    def noted(data: bytes, path: str, *rest: object) -> Outcome:
        seen.append(os.path.basename(path))
        return examine(data, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "examine", noted)
    return seen


TYPOS = [(f"other{number}.py", "TPL005") for number in range(60)]
EVERYTHING = sorted([*TYPOS, ("use.py", "TPL504")])


def test_the_cache_forgets_what_rests_on_a_file_that_changed_and_nothing_else(project: Path, looked_at: list[str]) -> None:
    assert run("-j1") == EVERYTHING
    assert len(looked_at) >= 61
    looked_at.clear()
    assert run("-j1") == EVERYTHING
    assert looked_at == []

    net = project / "models" / "net.py"
    net.write_text(MODEL.format(part="nn.Dropout(0.5)") + "\n\n# more words\n")
    assert run("-j1") == EVERYTHING
    assert set(looked_at) <= {"net.py"}  # its importer does not depend on comments
    looked_at.clear()

    net.write_text(MODEL.format(part="nn.Linear(2, 2)"))
    assert run("-j1") == sorted(TYPOS)
    assert set(looked_at) - {"net.py"} == {"use.py"}
    looked_at.clear()

    net.unlink()
    assert run("-j1") == sorted(TYPOS)
    net.write_text(MODEL.format(part="nn.Dropout(0.5)"))
    assert run("-j1") == EVERYTHING


def test_a_file_that_comes_between_is_seen(project: Path) -> None:
    assert run("-j1") == EVERYTHING
    package = project / "models" / "net"
    package.mkdir()
    (package / "__init__.py").write_text(MODEL.format(part="nn.Linear(2, 2)"))  # a package comes before a module
    assert run("-j1") == sorted(TYPOS)


def test_as_many_processes_as_there_are_find_the_same(project: Path) -> None:
    (project / "large.py").write_text("import torch\n" + "x = 1\n" * 40_000)
    assert run("-j2", "--no-cache") == run("-j1", "--no-cache") == EVERYTHING
    assert run("-j2") == run("-j1") == EVERYTHING  # what the workers were told is kept


def test_one_file_is_linted_as_it_is_among_all(project: Path) -> None:
    assert run("--no-cache", "use.py") == [("use.py", "TPL504")]
    assert run("--no-cache", "--project-root", str(project), str(project / "use.py")) == [("use.py", "TPL504")]


def test_without_a_project_each_file_is_alone(project: Path) -> None:
    assert run() == EVERYTHING
    assert run("--no-project") == sorted(TYPOS)
    assert run("--project-root", "models") == sorted(TYPOS)
    assert run() == EVERYTHING


def test_the_plugin_for_flake8_and_the_server_find_the_same(project: Path) -> None:
    import ast

    from torchlint.flake8_plugin import Plugin
    from torchlint.server.jobs import Buffer, Desk, Lint, Looked
    from torchlint.server.settings import Chosen

    plugin = Plugin(ast.parse(USER), str(project / "use.py"), USER.splitlines(keepends=True))
    assert "TPL504" in {text.split()[0] for _, _, text, _ in plugin.run()}
    desk = Desk()
    buffer = Buffer(str(project / "use.py"), USER, Chosen())
    looked = desk.do(Lint(buffer))
    assert isinstance(looked, Looked)
    assert "TPL504" in {each.code for each in looked.diagnostics}
    (project / "models" / "net.py").write_text(MODEL.format(part="nn.Linear(2, 2)"))
    looked = desk.do(Lint(buffer))
    assert isinstance(looked, Looked)
    assert "TPL504" not in {each.code for each in looked.diagnostics}
