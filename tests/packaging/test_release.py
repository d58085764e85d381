"""What has to say the same thing when a version is released, and the files that hosts and indexes read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import torchlint
from command import environment
from torchlint.cli.arguments import check_parser

ROOT = Path(__file__).parents[2]
HOST = ROOT / ".github"
WORKFLOWS = sorted((HOST / "workflows").glob("*.yml"))
FORMS = sorted((HOST / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))
ACTION = HOST / "actions" / "torchlint" / "action.yml"


def read(path: Path) -> Any:
    """A YAML file."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


# --- one version -----------------------------------------------------------------------------------------------------


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    first, *_ = re.findall(r"^## (\S+)", changelog, re.MULTILINE)
    assert first == torchlint.__version__


def test_the_readme_names_this_version_to_pre_commit() -> None:
    (revision,) = re.findall(r"^ +rev: v(\S+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert revision == torchlint.__version__


def test_the_documentation_names_the_action_of_this_version() -> None:
    for path in (ROOT / "README.md", ROOT / "docs" / "usage.md"):
        named = re.findall(r"uses: torchlint/torchlint/(\S+?)@v([^\s`]+)", path.read_text(encoding="utf-8"))
        assert named == [(ACTION.parent.relative_to(ROOT).as_posix(), torchlint.__version__)]


def test_workflows_test_the_pythons_that_are_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [found[1] for each in project["classifiers"] if (found := re.fullmatch(r".*:: Python :: (3\.\d+)", each))]
    jobs = read(HOST / "workflows" / "ci.yml")["jobs"]
    assert jobs["without-torch"]["strategy"]["matrix"]["python"] == named
    versions = next(step["with"]["python-version"] for step in jobs["everything"]["steps"] if "setup-python" in str(step))
    assert sorted(versions.split()) == sorted(named)
    assert versions.split()[-1] == project["requires-python"].removeprefix(">="), "python3 is the last one"


# --- what GitHub reads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_ask_for_what_the_command_prints(path: Path) -> None:
    form = read(path)
    assert {"name", "description", "body"} <= form.keys()
    fields = {field["id"]: field for field in form["body"]}
    assert len(fields) == len(form["body"])
    assert {field["type"] for field in fields.values()} <= {"input", "textarea", "dropdown", "checkboxes", "markdown"}
    assert all(field["attributes"]["label"] for field in fields.values())
    assert "`torchlint --bug-report`" in fields["report"]["attributes"]["description"]
    assert fields["report"]["validations"] == {"required": True}


def test_there_is_a_form_for_each_kind() -> None:
    assert [path.stem for path in FORMS] == ["1-false-alarm", "2-missed-bug", "3-crash"]
    assert "--bug-report" in check_parser().format_help()


@pytest.mark.parametrize("path", [*sorted(HOST.glob("*.md")), ROOT / "docs" / "changelog.md"], ids=lambda path: path.stem)
def test_links_lead_to_files(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)", path.read_text(encoding="utf-8"))
    assert [link for link in links if link and not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_do_no_more_than_they_need(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 90
        assert job.get("permissions", {}) == ({"id-token": "write"} if name == "publish" else {})
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"] == {"persist-credentials": False}
            assert "${{" not in step.get("run", ""), "what is not ours goes through the environment, and is no part of a script"


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_actionlint_has_nothing_to_say() -> None:
    run = subprocess.run(["actionlint", *map(str, WORKFLOWS)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "")


# --- the action ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("paths", "args", "code", "shown"),
    [
        ("bad.py", "", 1, ["bad.py:4"]),
        ("good.py", "", 0, []),
        ("good.py bad.py", "", 1, ["bad.py:4"]),
        ("good.py\nbad.py\n", "", 1, ["bad.py:4"]),
        (".", "--select TPL004\n--exit-zero", 0, []),
        ("bad.py", "--exit-zero", 0, ["bad.py:4"]),
        ("$(touch made)", "", 2, []),
    ],
)
def test_the_action_lints_what_it_is_given(paths: str, args: str, code: int, shown: list[str], tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import torch\n\nw = torch.zeros(3)\nw.requres_grad = True\n")
    (tmp_path / "good.py").write_text("import torch\n\nw = torch.zeros(3)\nw.requires_grad = True\n")
    command = tmp_path / "runner" / "torchlint" / "bin" / "torchlint"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m torchlint --no-cache "$@"\n')
    command.chmod(0o755)
    script = read(ACTION)["runs"]["steps"][1]["run"]
    given = environment(PATHS=paths, ARGS=args, RUNNER_TEMP=str(tmp_path / "runner"))
    run = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=tmp_path, env=given, capture_output=True, text=True, check=False
    )
    assert run.returncode == code, run.stderr
    found = re.findall(r"^::error .*?file=([^,]+),line=(\d+)", run.stdout, re.MULTILINE)
    assert [f"{os.path.basename(file)}:{line}" for file, line in found] == shown
    assert not (tmp_path / "made").exists()
