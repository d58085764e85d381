"""`torchlint --bug-report`: what it takes to see what somebody saw, and nothing of theirs."""

from __future__ import annotations

import getpass
import os
import platform
import re
import socket
from importlib.metadata import version
from pathlib import Path

import pytest

import torchlint
from command import torchlint_

SECRET = "zebra"
"""What stands wherever somebody's own names may stand."""

CONFIGURATION = f"""\
required-version = ">=1.0.0rc1"
extend = "{SECRET}-base.toml"
select = ["TPL0", "ALL", "data-access", "strict"]
ignore = ["TPL002"]
extend-select = ["TPL402"]
per-file-ignores = {{ "{SECRET}/*.py" = ["TPL001"], "tests/{SECRET}.py" = ["TPL"] }}
unfixable = ["TPL101"]
exclude = ["{SECRET}"]
extend-exclude = ["{SECRET}", "{SECRET}2"]
include = ["{SECRET}.py"]
respect-gitignore = false
max-file-size = "2MB"
timeout-per-file = 7
target-torch = "1.13"
accumulate-with = "detach"
output-format = "concise"
exit-nonzero-on = "error"
cache-dir = "{SECRET}-cache"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / SECRET
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def report(*arguments: str) -> list[str]:
    run = torchlint_("--bug-report", *arguments, TORCHLINT_TOKEN=SECRET)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout.splitlines()


def test_versions(folder: Path) -> None:
    lines = report()
    assert lines[0] == f"torchlint {torchlint.__version__}"
    python = f"Python {platform.python_version()} ({platform.python_implementation()})"
    assert lines[1].startswith(f"{python} on {platform.system()} {platform.machine()}, ")
    assert lines[2].startswith(f"libcst {version('libcst')}, pathspec {version('pathspec')}, rich {version('rich')}, ")


def test_without_configuration(folder: Path) -> None:
    assert report("--isolated")[-1] == "settings: all as they are by default"


def test_every_setting_is_there_and_no_name_of_theirs(folder: Path) -> None:
    (folder / "torchlint.toml").write_text(CONFIGURATION)
    (folder / f"{SECRET}-base.toml").write_text('fixable = ["TPL0", "TPL1"]\n')
    (folder / f"{SECRET}.py").write_text(f"import torch\n\n{SECRET} = torch.ones(2).data\n")
    lines = report(f"{SECRET}.py", "--ignore", "TPL005")
    start = lines.index("settings:")
    assert lines[start + 1 :] == [
        '  select = ["TPL0", "ALL", "data-access", "strict"]',
        '  ignore = ["TPL002"]',
        '  extend-select = ["TPL402"]',
        '  ignore = ["TPL005"]',
        '  required-version = ">=1.0.0rc1"',
        "  extend: given",
        "  per-file-ignores: 2 given",
        '  fixable = ["TPL0", "TPL1"]',
        '  unfixable = ["TPL101"]',
        "  exclude: 1 given",
        "  extend-exclude: 2 given",
        "  include: 1 given",
        "  respect-gitignore = false",
        "  max-file-size = 2000000",
        "  timeout-per-file = 7",
        '  target-torch = "1.13"',
        '  accumulate-with = "detach"',
        '  output-format = "concise"',
        '  exit-nonzero-on = "error"',
        "  cache-dir: given",
    ]
    text = "\n".join(lines)
    assert SECRET not in text
    for private in (str(folder), str(Path.home()), socket.gethostname()):
        assert private not in text
    assert not re.search(rf"\b{re.escape(getpass.getuser())}\b", text)
    assert os.sep not in text


@pytest.mark.parametrize(
    ("text", "kind"),
    [(f'select = ["{SECRET}"]', "ConfigError"), (f'{SECRET} = "{SECRET}"', "ConfigError"), ("[", "ConfigError")],
)
def test_a_configuration_that_is_refused_is_not_repeated(folder: Path, text: str, kind: str) -> None:
    (folder / "torchlint.toml").write_text(text)
    lines = report()
    assert lines[0] == f"torchlint {torchlint.__version__}"
    assert lines[-1] == f"settings: refused ({kind}); torchlint says why when it is run without --bug-report"
    assert SECRET not in "\n".join(lines)


def test_a_code_on_the_command_line_that_no_rule_has(folder: Path) -> None:
    lines = report("--select", SECRET.upper())
    assert lines[-1].startswith("settings: refused (SelectionError)")
    assert SECRET.upper() not in "\n".join(lines)


def test_rules_of_plugins_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlint.config.bug_report import text
    from torchlint.config.settings import Selection, Settings
    from torchlint.rules import own_rules

    settings = Settings(str(folder), selections=(Selection(("TPL0",)),), unfixable=("ZEB", "TPL101", "striped"))
    monkeypatch.setattr(Settings, "known", own_rules())
    monkeypatch.setattr(Settings, "rules", own_rules()[:3])
    lines = text(lambda: settings).splitlines()
    assert lines[-2:] == ['  select = ["TPL0"]', '  unfixable = ["TPL101"] and 2 of plugins']


@pytest.mark.parametrize(
    ("installed", "shown"),
    [
        ("2.13.0", "2.13.0"),
        ("2.13.0+cpu", "2.13.0+cpu"),
        ("2.9.1+cu128", "2.9.1+cu128"),
        ("2.1.0+zebra.7", "2.1.0+(another build)"),
    ],
)
def test_a_build_of_torch_that_is_somebodys_own(installed: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlint.config import bug_report

    monkeypatch.setattr(bug_report, "version", lambda package: installed)
    assert bug_report._version("torch") == shown
