"""Options that a user may expect to go together, or not to: what is done, refused, and suggested."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from command import torchlint_

TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"
RIGHT = TYPO.replace("requres", "requires")
REBIND = "import torch\nw = torch.nn.Linear(2, 2).weight\nw.data = torch.ones(2, 2)\n"
"""A finding of TPL003, with an unsafe fix."""

KEPT = """\
import torch
from torch import nn


def train(model, loader, optimizer):
    criterion = nn.MSELoss()
    losses = []
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    print([float(loss) for loss in losses])
"""
"""A finding of TPL004."""


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(TYPO)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--add-noqa", "--fix"), "--add-noqa and --fix cannot be used together"),
        (("--add-noqa", "--fix-only"), "--add-noqa and --fix-only cannot be used together"),
        (("--add-noqa", "--diff"), "--add-noqa and --diff cannot be used together"),
        (("--add-noqa", "--ignore-noqa"), "--add-noqa and --ignore-noqa cannot be used together"),
        (("--write-baseline", "b.json", "--fix"), "--write-baseline and --fix cannot be used together"),
        (("--stdin-filename", "b.py", "--watch"), "--stdin-filename and --watch cannot be used together"),
        (("--stdin-filename", "b.py", "a.py"), "standard input (`-`) cannot be linted together with other paths"),
        (("-", "--watch"), "standard input (`-`) cannot be linted together with other paths"),
        (("--verbose",), "unrecognized argument: --verbose"),
        (("--ingore-noqa",), "unrecognized argument: --ingore-noqa; did you mean `--ignore-noqa`?"),
        (("--exit_zero",), "unrecognized argument: --exit_zero; did you mean `--exit-zero`?"),
        (("--fixonly",), "unrecognized argument: --fixonly; did you mean `--fix-only`?"),
        (("--noqa",), "unrecognized argument: --noqa"),
        (("--format", "json", "a.py"), "unrecognized argument: --format; did you mean `--output-format`?"),
        (("--select", "", "a.py"), "argument --select: no code is given, and nothing would be looked for"),
        (("--select", " ,", "a.py"), "argument --select: no code is given, and nothing would be looked for"),
        (
            ("--statistics", "--output-format", "sarif", "a.py"),
            "--statistics cannot be written as sarif; choose full, concise, grouped or json",
        ),
        (
            ("--select", "TPL001 TPL002", "a.py"),
            "unknown rule code `TPL001 TPL002`; put a comma between `TPL001` and `TPL002`",
        ),
        (
            ("--ignore", "TPL1 data-mutation", "a.py"),
            "unknown rule code `TPL1 data-mutation`; put a comma between `TPL1` and `data-mutation`",
        ),
    ],
)
def test_refused(arguments: tuple[str, ...], message: str) -> None:
    result = torchlint_(*arguments, given=TYPO)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == f"torchlint: error: {message}"
    assert Path("a.py").read_text() == TYPO


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        *(("rules", "rule"), ("lint", "check"), ("explain", "rule"), ("servr", "server"), ("help", "--help")),
        *(("TPL004", "rule TPL004"), ("ACM001", "rule ACM001")),
    ],
)
def test_a_command_that_there_is_not_leads_to_one_that_there_is(word: str, meant: str) -> None:
    result = torchlint_(word, ".")
    said = f"torchlint: error: {word}: no such file or directory, and no command; did you mean `torchlint {meant}`?\n"
    assert (result.returncode, result.stderr) == (2, said)


@pytest.mark.parametrize("word", ["src", "test", "clean", "rules.py", "./lint"])
def test_a_path_that_there_is_not_is_one(word: str) -> None:
    assert torchlint_(word).stderr.splitlines()[0] == f"{word.removeprefix('./')}: error: No such file or directory"


def test_a_folder_that_is_called_as_a_command_might_be_is_linted() -> None:
    Path("rules").mkdir()
    Path("rules/b.py").write_text(TYPO)
    assert torchlint_("rules", "--output-format", "concise").stdout.startswith("rules/b.py:3:1: TPL005")


def test_a_name_for_standard_input_asks_for_standard_input() -> None:
    result = torchlint_("--stdin-filename", "x.py", "--output-format", "concise", given=TYPO)
    assert result.stdout.startswith("x.py:3:1: TPL005") and "a.py" not in result.stdout
    assert torchlint_("--stdin-filename", "x.py", "--fix", given=TYPO).stdout == RIGHT


def test_no_report_has_a_file_named_by_a_hyphen() -> None:
    for name in ("concise", "json", "sarif", "github", "gitlab", "junit"):
        report = torchlint_("-", "--output-format", name, given=TYPO).stdout
        assert "TPL005" in report and '"-"' not in report and not report.startswith("-:")
    [entry] = json.loads(torchlint_("-", "--output-format", "json", given=TYPO).stdout)
    assert entry["filename"] == "<stdin>"


def test_ignore_noqa() -> None:
    silent = TYPO.replace("False", "False  # noqa")
    Path("a.py").write_text(silent)
    for _ in range(2):  # the cache tells them apart
        assert torchlint_("a.py").returncode == 0
        assert "TPL005" in torchlint_("--ignore-noqa", "a.py").stdout
    assert "TPL005" in torchlint_("--ignore-noqa", "-", given=silent).stdout
    torchlint_("--fix", "a.py")
    assert Path("a.py").read_text() == silent
    torchlint_("--fix", "--ignore-noqa", "a.py")
    assert Path("a.py").read_text() == silent.replace("requres", "requires")


def test_fix_only() -> None:
    Path("b.py").write_text(REBIND)
    result = torchlint_("--fix-only", ".")
    assert (result.returncode, result.stdout, result.stderr) == (0, "Fixed 1 error.\n", "")
    assert (Path("a.py").read_text(), Path("b.py").read_text()) == (RIGHT, REBIND)
    result = torchlint_("--fix-only", ".", "--output-format", "json")
    assert (result.returncode, result.stdout) == (0, "[]\n")
    Path("c.py").write_text("p.requres_grad = (\n")
    assert torchlint_("--fix-only", ".").returncode == 2


def test_accumulate_with() -> None:
    for given, written in (("detach", "loss.detach()"), ("item", "loss.item()")):
        Path("a.py").write_text(KEPT)
        torchlint_("--fix", "--accumulate-with", given)
        assert f"append({written})\n" in Path("a.py").read_text()


def test_what_one_rule_writes_another_selected_one_does_not_report() -> None:
    text = KEPT.replace("model(x), y", "model(x.cuda()), y.cuda()")
    for arguments in (("--select", "TPL004,TPL402"), ("--extend-select", "sync-in-loop")):
        Path("a.py").write_text(text)
        result = torchlint_("--fix", *arguments, "a.py")
        assert "append(loss.detach())\n" in Path("a.py").read_text()
        assert result.returncode == 0, result.stdout
    Path("a.py").write_text(text)
    result = torchlint_("--fix", "--select", "TPL004,TPL402", "--accumulate-with", "item", "--output-format", "concise")
    assert result.stdout.startswith("a.py:13:23: TPL402 ")  # as it was asked for


def test_forced_colours() -> None:
    for value in ("0", "false"):
        assert "\x1b" not in torchlint_("a.py", FORCE_COLOR=value).stdout
    assert "\x1b[" in torchlint_("a.py", FORCE_COLOR="1").stdout


def test_sarif_describes_the_rules() -> None:
    [run] = json.loads(torchlint_("a.py", "--output-format", "sarif").stdout)["runs"]
    [rule] = run["tool"]["driver"]["rules"]
    assert rule["fullDescription"]["text"].startswith("Finds misspelt `requires_grad`")
    assert "## Why is this bad" in rule["help"]["markdown"] and rule["help"]["text"]
    assert rule["properties"]["precision"] == "high"


@pytest.mark.parametrize("shell", ["fish", "powershell"])
def test_completion_of_more_shells(shell: str) -> None:
    result = torchlint_("generate-shell-completion", shell)
    assert (result.returncode, result.stderr) == (0, "")
    assert "unsafe-fixes" in result.stdout and "data-mutation" in result.stdout
    if shell == "fish" and any(os.access(f"{folder}/fish", os.X_OK) for folder in os.environ["PATH"].split(":")):
        subprocess.run(["fish", "--no-execute"], input=result.stdout, text=True, check=True)
