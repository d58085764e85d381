"""Errors and warnings: which finding is which, where that is said, and when a run fails."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import torchlint
from command import torchlint_

READ = "import torch\nx = torch.ones(1, requires_grad=True)\nstore(x.data + 1)\n"
"""A warning of TPL002, with a safe fix."""
BEGUN = """import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        start = torch.zeros(2, 2, requires_grad=True)
        start.data.zero_()
        self.start = torch.nn.Parameter(start)
"""
"""A finding of TPL001 that does no harm: a warning of a rule whose findings are errors; its fix is safe."""
TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"
"""An error of TPL005, with a safe fix."""


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("read.py").write_text(READ)
    Path("typo.py").write_text(TYPO)


def output(name: str) -> str:
    result = torchlint_("--output-format", name)
    assert (result.returncode, result.stderr) == (1, "")
    return result.stdout


def test_formats_for_programs_have_the_severity() -> None:
    assert [found["severity"] for found in json.loads(output("json"))] == ["warning", "error"]
    assert [line.partition(" ")[0] for line in output("github").splitlines()] == ["::warning", "::error"]
    assert [found["severity"] for found in json.loads(output("gitlab"))] == ["minor", "major"]
    assert [each.get("type") for each in ElementTree.fromstring(output("junit")).iter("failure")] == ["warning", "error"]
    [run] = json.loads(output("sarif"))["runs"]
    assert [result["level"] for result in run["results"]] == ["warning", "error"]
    assert [rule["defaultConfiguration"]["level"] for rule in run["tool"]["driver"]["rules"]] == ["warning", "error"]


def test_cached_findings_keep_it() -> None:
    first, second = output("json"), output("json")
    assert first == second
    assert [found["severity"] for found in json.loads(second)] == ["warning", "error"]


@pytest.mark.parametrize("name", ["full", "concise", "grouped"])
def test_formats_for_people_count_both(name: str) -> None:
    assert output(name).splitlines()[-2:] == ["Found 1 error and 1 warning.", "[*] 2 fixable with the `--fix` option."]
    coloured = torchlint_("--color", "always", "--output-format", name).stdout
    assert "\x1b[1;33mTPL002\x1b[0m" in coloured and "\x1b[1;31mTPL005\x1b[0m" in coloured


def test_what_is_fixed_is_counted_so_too() -> None:
    assert torchlint_("--diff").stderr == "Would fix 1 error and 1 warning.\n"
    assert torchlint_("--fix", "read.py").stdout == "Found 1 warning (1 fixed, 0 remaining).\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("read.py",), 1),
        (("--exit-nonzero-on", "warning", "read.py"), 1),
        (("--exit-nonzero-on", "error", "read.py"), 0),
        (("--exit-nonzero-on", "error", "typo.py"), 1),
        (("--exit-nonzero-on", "error", "read.py", "typo.py"), 1),
        (("--exit-nonzero-on", "error", "--exit-zero", "typo.py"), 0),
        (("--exit-nonzero-on", "error", "--diff", "read.py"), 0),
        (("--exit-nonzero-on", "error", "--diff", "typo.py"), 1),
        (("--exit-nonzero-on", "error", "nowhere.py"), 2),
        (("--exit-nonzero-on", "note", "read.py"), 2),
    ],
)
def test_when_a_run_fails(arguments: tuple[str, ...], code: int) -> None:
    assert torchlint_(*arguments).returncode == code


def test_the_configuration_says_when_a_run_fails() -> None:
    Path("torchlint.toml").write_text('exit-nonzero-on = "error"\n')
    assert torchlint_("read.py").returncode == 0
    assert torchlint_("--exit-nonzero-on", "warning", "read.py").returncode == 1
    Path("torchlint.toml").write_text('exit-nonzero-on = "errors"\n')
    result = torchlint_("read.py")
    assert result.stderr == (
        'torchlint.toml: error: `exit-nonzero-on`: "errors" is none of error, warning; did you mean `error`?\n'
    )
    assert result.returncode == 2


def test_a_finding_that_does_no_harm_is_a_warning_of_a_rule_for_errors() -> None:
    Path("begun.py").write_text(BEGUN)
    for _ in range(2):  # the second one is from the cache
        [found] = json.loads(torchlint_("--output-format", "json", "begun.py").stdout)
        assert (found["code"], found["severity"]) == ("TPL001", "warning")
    [run] = json.loads(torchlint_("--output-format", "sarif", "begun.py").stdout)["runs"]
    assert [result["level"] for result in run["results"]] == ["warning"]
    assert [rule["defaultConfiguration"]["level"] for rule in run["tool"]["driver"]["rules"]] == ["error"]
    assert torchlint_("begun.py").stdout.splitlines()[-2] == "Found 1 warning."
    assert torchlint_("--exit-nonzero-on", "error", "begun.py").returncode == 0
    assert "\x1b[1;33mTPL001\x1b[0m" in torchlint_("--color", "always", "--statistics", "begun.py").stdout


HEAD = """import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable
from torch.utils.data import DataLoader
loader = DataLoader(data)
criterion = nn.MSELoss()
"""


@pytest.mark.parametrize(
    ("line", "code", "severity"),
    [
        ("y = Variable(torch.ones(2))", "TPL101", "warning"),
        ("y = Variable(np.ones(2))", "TPL101", "error"),  # raises
        ("y = Variable(nn.Linear(1, 1)(x))", "TPL101", "error"),  # cuts the graph
        ("y = type(x) == Variable", "TPL101", "error"),  # is never true
        ("loss = F.softmax(x)", "TPL106", "warning"),
        ("x = next(iter(loader)).multinomial()", "TPL106", "error"),
        ("x = iter(loader).next()", "TPL106", "error"),
        ("loss = criterion(x, y)\nloss.backward(retain_variables=True)", "TPL106", "error"),
        ("loss = F.nll_loss2d(x, y)", "TPL106", "error"),
        ("criterion.size_average = False", "TPL106", "error"),  # does nothing
        ("x = nn.Linear(2, 2)\nnn.init.xavier_uniform(x.weight)", "TPL106", "warning"),
    ],
)
def test_what_raises_or_does_something_else_is_an_error_of_a_rule_for_old_spellings(
    line: str, code: str, severity: str
) -> None:
    found = torchlint.lint(f"{HEAD}{line}\n", select=[code])
    assert [each.severity for each in found if each.location.row > HEAD.count("\n")] == [severity]


def test_it_is_one_when_it_is_fixed() -> None:
    Path("begun.py").write_text(BEGUN)
    shown = torchlint_("--diff", "--exit-nonzero-on", "error", "begun.py")
    assert (shown.stderr, shown.returncode) == ("Would fix 1 warning.\n", 0)
    assert torchlint_("--fix", "begun.py").stdout == "Found 1 warning (1 fixed, 0 remaining).\n"


def test_statistics_of_both_are_shown_as_errors() -> None:
    Path("both.py").write_text(BEGUN + "def step(net, loss):\n    net.fc.weight.data -= 1\n    loss.backward()\n")
    shown = torchlint_("--color", "always", "--statistics", "both.py").stdout
    assert "Found 1 error and 1 warning." in shown and "\x1b[1;31mTPL001\x1b[0m" in shown
