"""Settings in layers: base files, settings of the command line, and which version of torchlint a file is for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from command import torchlint_
from torchlint.config.versions import fits

TYPO = "import torch\np = torch.ones(1, requires_grad=True)\np.requres_grad = False\n"
"""A finding of TPL005."""
READ = "import torch\nx = torch.ones(1, requires_grad=True)\nstore(x.data + 1)\n"
"""A finding of TPL002."""


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(str(tmp_path / "project/a.py"), TYPO + READ)
    monkeypatch.chdir(tmp_path / "project")


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def codes(*arguments: str) -> list[str]:
    result = torchlint_("--output-format", "json", "--no-cache", *arguments)
    assert result.stderr == ""
    return [found["code"] for found in json.loads(result.stdout)]


def refused(*arguments: str) -> str:
    result = torchlint_("--no-cache", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    return result.stderr.rstrip("\n")


# --- files that extend others ----------------------------------------------------------------------------------------


def test_a_base_holds_as_far_as_nothing_else_is_said() -> None:
    write("../base.toml", 'ignore = ["TPL002"]\ntarget-torch = "1.13"\nextend-exclude = ["old"]\n')
    write("old/a.py", TYPO)
    write("new/a.py", TYPO)
    write("torchlint.toml", 'extend = "../base.toml"\n')
    assert codes() == ["TPL005", "TPL005"]
    write("torchlint.toml", 'extend = "../base.toml"\nextend-exclude = ["new"]\ntarget-torch = "2.0"\n')
    assert codes() == ["TPL005"]
    shown = torchlint_("--show-settings").stdout
    assert '\ntarget-torch = "2.0"\n' in shown and '\nextend-exclude = ["old", "new"]\n' in shown
    write("torchlint.toml", 'extend = "../base.toml"\nselect = ["TPL002"]\n')
    assert codes("a.py") == ["TPL002"]


def test_a_base_may_extend_another_and_be_a_pyproject() -> None:
    write("../one.toml", 'select = ["TPL005"]\n')
    write("../deep/pyproject.toml", '[tool.torchlint]\nextend = "../one.toml"\nextend-select = ["TPL002"]\n')
    write("torchlint.toml", 'extend = "../deep/pyproject.toml"\n')
    assert codes() == ["TPL005", "TPL002"]
    write("torchlint.toml", 'extend = "../deep/pyproject.toml"\nignore = ["TPL002"]\n')
    assert codes() == ["TPL005"]


def test_mistakes_of_bases() -> None:
    unread = "cannot read the configuration that torchlint.toml extends"
    write("torchlint.toml", 'extend = "../base.toml"\n')
    assert refused() == f"../base.toml: error: {unread}: No such file or directory"
    write("../base.toml", "slect = []\n")
    assert refused() == "../base.toml: error: `slect`: no such key; did you mean `select`?"
    write("../base.toml", 'extend = "project/torchlint.toml"\n')
    assert refused() == '../base.toml: error: `extend`: "project/torchlint.toml": it leads back to a file that extends it'
    write("torchlint.toml", 'extend = "torchlint.toml"\n')
    assert refused() == 'torchlint.toml: error: `extend`: "torchlint.toml": it leads back to a file that extends it'
    write("torchlint.toml", 'extend = "/dev/zero"\n')
    assert refused() == f"/dev/zero: error: {unread}: not a regular file"
    os.mkfifo("pipe.toml")
    write("torchlint.toml", 'extend = "pipe.toml"\n')
    assert refused() == f"pipe.toml: error: {unread}: not a regular file"


def test_a_cache_of_a_base_is_below_the_file_that_extends_it() -> None:
    write("../base.toml", 'cache-dir = "kept"\n')
    write("torchlint.toml", 'extend = "../base.toml"\n')
    torchlint_()
    assert sorted(os.listdir()) == ["a.py", "kept", "torchlint.toml"]


# --- settings of the command line ------------------------------------------------------------------------------------


def test_settings_of_the_command_line_are_between_files_and_options() -> None:
    write("torchlint.toml", 'select = ["TPL005"]\nignore = ["TPL002"]\n')
    assert codes() == ["TPL005"]
    assert codes("--config", 'select = ["TPL002"]') == ["TPL002"]
    assert codes("--config", 'select=["TPL002"]', "--config", 'per-file-ignores = {"a.py" = ["data-access"]}') == []
    assert codes("--config", 'select = ["TPL002"]', "--select", "TPL005") == ["TPL005"]
    assert codes("--config", 'output-format="concise"') == ["TPL005"]  # the option is json
    assert torchlint_("--config", 'output-format="concise"').stdout.startswith("a.py:3:1: TPL005")


def test_a_file_and_settings() -> None:
    write("other.toml", 'select = ["TPL002"]\n')
    assert codes("--config", "other.toml") == ["TPL002"]
    assert codes("--config", "other.toml", "--config", 'extend-select = ["TPL005"]') == ["TPL005", "TPL002"]
    assert codes("--isolated", "--config", 'ignore = ["TPL002"]') == ["TPL005"]
    message = "`--config` names one file at most, and none beside `--isolated`"
    assert refused("--config", "other.toml", "--config", "more.toml") == f"more.toml: error: {message}"
    assert refused("--config", "other.toml", "--isolated") == f"other.toml: error: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slect = []", "--config: error: `slect`: no such key; did you mean `select`?"),
        ('select = "TPL001"', '--config: error: `select`: expected a list of strings, found "TPL001"'),
        ('select = ["TPL1O1"]', "torchlint: error: unknown rule code `TPL1O1`; did you mean `TPL101`?"),
        ("accumulate-with=detach", "--config:1:17: error: not TOML: Invalid value"),
        ('extend = "x.toml"', "--config: error: `extend`: stands in a file, which `--config FILE` names"),
        (
            'cache-dir = ".."',
            "--config: error: `cache-dir`: expected a folder below that of this file, torchlint's own or new,"
            ' found "..": it leads elsewhere; `--cache-dir` may name any folder',
        ),
        ("nope.toml", "nope.toml: error: cannot read the configuration: No such file or directory"),
    ],
)
def test_mistakes_of_the_command_line(text: str, message: str) -> None:
    assert refused("--config", text) == message


# --- versions --------------------------------------------------------------------------------------------------------


def test_a_file_for_another_version_is_told_so_whatever_else_it_holds() -> None:
    write("torchlint.toml", 'new-key = 1\nrequired-version = ">=9"\n')
    assert refused() == "torchlint.toml: error: `required-version`: this is torchlint 1.0.0rc1, and >=9 is asked for"
    write("torchlint.toml", 'required-version = ">=1.0.0rc1,<2"\nselect = ["TPL005"]\n')
    assert codes() == ["TPL005"]
    write("torchlint.toml", 'required-version = "new"\n')
    assert refused() == (
        "torchlint.toml: error: `required-version`: not a version, or conditions for one such as `>=0.1,<1`: 'new'"
    )


@pytest.mark.parametrize(
    ("required", "expected"),
    [
        ("1.4.2", True),
        ("==1.4.2", True),
        ("1.4", False),
        ("==1.4.*", True),
        ("!=1.4.*", False),
        ("!=1.4.3", True),
        (">=1.4", True),
        (">1.4.2", False),
        ("<=1.4.2.0", True),
        ("<2, >=1.10", False),
        ("~=1.4", True),
        ("~=1.3.0", False),
        ("~=1.4.1", True),
    ],
)
def test_conditions(required: str, expected: bool) -> None:
    assert fits("1.4.2", required) is expected


@pytest.mark.parametrize(
    ("required", "expected"),
    [
        ("1.0.0rc1", True),
        ("==1.0rc1", True),
        ("==1.0.*", True),
        ("==1.0.0", False),
        (">=1.0", False),
        ("<1.0", False),
        ("<=1", True),
        (">=0.9,<2", True),
        (">1.0b2", True),
        (">1.0rc1", False),
        ("<1.0rc2", True),
        ("~=1.0", False),
        ("~=1.0rc1", True),
        ("!=1.0rc1", False),
    ],
)
def test_conditions_for_a_candidate(required: str, expected: bool) -> None:
    assert fits("1.0.0rc1", required) is expected


# --- what is no TOML -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["select = [", 'target-torch = "1.13"\nselect = [\n  "TPL001",\n', "select ="])
def test_a_text_that_ends_too_soon_has_a_place(text: str) -> None:
    write("torchlint.toml", text)
    lines = text.rstrip().split("\n")
    place = f"torchlint.toml:{len(lines)}:{len(lines[-1]) + 1}"
    assert refused().startswith(f"{place}: error: not TOML: the text ends where a value should stand, or before")
