"""The pre-commit hooks, run by pre-commit itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pre_commit")

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow

BAD = "import torch\n\nlayer = torch.nn.Linear(2, 2)\nfor p in layer.parameters():\n    p.requres_grad = False\n"
FIXED = BAD.replace("requres_grad", "requires_grad")


def notebook(code: str) -> str:
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1, "outputs": [], "source": code}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def git(*arguments: str, cwd: Path) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with what an environment for the hooks is built from, as it is in this checkout."""
    folder = tmp_path_factory.mktemp("hooks")
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml", ".gitignore"):
        shutil.copy(ROOT / name, folder)
    for name in ("torchlint", "fixtures", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    git("init", "--quiet", cwd=folder)
    git("add", ".", cwd=folder)
    git("commit", "--quiet", "--message", "All", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environment that it builds, one for both hooks."""
    return tmp_path_factory.mktemp("environments")


@pytest.fixture
def project(hooks: Path, tmp_path: Path) -> Path:
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "bad.txt").write_text(BAD, encoding="utf-8")
    (tmp_path / "bad.ipynb").write_text(notebook(BAD), encoding="utf-8")
    (tmp_path / "good.py").write_text(FIXED, encoding="utf-8")
    configured = {"repo": str(hooks), "rev": revision(hooks), "hooks": [{"id": "torchlint"}, {"id": "torchlint-fix"}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(json.dumps({"repos": [configured]}), encoding="utf-8")
    git("init", "--quiet", cwd=tmp_path)
    git("add", ".", cwd=tmp_path)
    return tmp_path


def revision(repository: Path) -> str:
    run = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, encoding="utf-8")
    return run.stdout.strip()


def run_hook(hook: str, project: Path, environments: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "pre_commit", "run", hook, "--color", "never", "--all-files"]
    environment = os.environ | {"PRE_COMMIT_HOME": str(environments)}
    run = subprocess.run(command, cwd=project, env=environment, capture_output=True, encoding="utf-8", check=False)
    return run.returncode, run.stdout + run.stderr


def test_torchlint_reports_and_changes_nothing(project: Path, environments: Path) -> None:
    code, output = run_hook("torchlint", project, environments)
    assert code == 1
    assert "torchlint................................................................Failed" in output
    assert "bad.py:5:5: TPL005 [*] `requres_grad` is a misspelt `requires_grad`" in output
    assert "bad.ipynb:cell 1:5:5: TPL005 [*] `requres_grad` is a misspelt `requires_grad`" in output
    assert "Found 2 errors." in output
    assert (project / "bad.py").read_text(encoding="utf-8") == BAD
    assert (project / "bad.ipynb").read_text(encoding="utf-8") == notebook(BAD)


def test_torchlint_fix_fixes_scripts_and_notebooks_only(project: Path, environments: Path) -> None:
    code, output = run_hook("torchlint-fix", project, environments)
    assert code == 1
    assert "- files were modified by this hook" in output
    assert (project / "bad.py").read_text(encoding="utf-8") == FIXED
    assert (project / "bad.ipynb").read_text(encoding="utf-8") == notebook(FIXED)
    assert (project / "bad.txt").read_text(encoding="utf-8") == BAD
    assert (project / "good.py").read_text(encoding="utf-8") == FIXED


def test_both_pass_where_there_is_nothing_to_find(project: Path, environments: Path) -> None:
    (project / "bad.py").write_text(FIXED, encoding="utf-8")
    (project / "bad.ipynb").write_text(notebook(FIXED), encoding="utf-8")
    for hook in ("torchlint", "torchlint-fix"):
        code, output = run_hook(hook, project, environments)
        assert (code, "Passed" in output) == (0, True)
