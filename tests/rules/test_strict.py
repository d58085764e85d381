"""Findings that few authors would act on are for those who select their rule by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import libcst as cst
import pytest

import torchlint
from command import environment, torchlint_
from torchlint.config.settings import Selection, Settings
from torchlint.engine.linter import lint
from torchlint.options import DEFAULTS, Options
from torchlint.rules.catalogue import Entry
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Syntax
from torchlint.text.source import Source

TEXT = "import torch\nx = 'a word'\ny = 'A WORD'\n"
LENIENT = Options(lenient=frozenset({"TPL998"}))


class Loud(Rule):
    """Reports strings; strictly, what is not in capitals."""

    code = "TPL998"
    name = "loud"
    triggers = (Syntax("SimpleString"),)
    needs = (("word", "WORD"),)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        self.report(node, f"`{node.value}`", strict=not node.value.isupper())


class Louder(Loud):
    """Reports the same, but where the other does."""

    code = "TPL997"
    name = "louder"
    yields_to = ("TPL998",)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        self.report(node, f"`{node.value}`")


def found(options: Options, *rules: type[Rule], text: str = TEXT) -> list[tuple[str, int]]:
    return [(each.code, each.location.row) for each in lint(Source(text), [Entry.of(rule) for rule in rules], options)]


def test_what_is_strict_is_left_out_where_the_rule_is_lenient() -> None:
    assert found(DEFAULTS, Loud) == [("TPL998", 2), ("TPL998", 3)]
    assert found(LENIENT, Loud) == [("TPL998", 3)]


def test_a_rule_does_not_yield_to_what_is_left_out() -> None:
    assert found(DEFAULTS, Loud, Louder) == [("TPL998", 2), ("TPL998", 3)]
    assert found(LENIENT, Loud, Louder) == [("TPL997", 2), ("TPL998", 3)]


@pytest.mark.parametrize(
    ("arguments", "lenient"),
    [
        ({}, True),
        ({"extend_select": ["TPL2"]}, True),
        ({"select": ["TPL105"]}, False),
        ({"select": ["legacy-constructor"]}, False),
        ({"select": ["TPL1"]}, False),
        ({"select": ["ALL"]}, False),
        ({"select": ["strict"]}, False),
        ({"extend_select": ["TPL105"]}, False),
        ({"extend_select": ["strict"]}, False),
    ],
)
def test_a_rule_is_lenient_unless_it_is_named(arguments: dict[str, list[str]], lenient: bool) -> None:
    layer = Selection(**{name: tuple(codes) for name, codes in arguments.items()})
    for selections in ((layer,), (layer, Selection()), (Selection(), layer)):
        assert ("TPL105" in Settings(".", selections=selections).options.lenient) is lenient


# --- as a user meets it: TPL105, of which most is strict ---------------------------------------------------------------

DATED = "import torch\n\nweight = torch.Tensor(3, 4)\n\n\ndef tensor_of(state):\n    return torch.HalfTensor(state).long()\n"
"""Line 3 does what it says; line 7 has two meanings."""
STRICT, TWO_MEANINGS = ("TPL105", 3), ("TPL105", 7)


def reported(folder: Path, *arguments: str, text: str = DATED) -> list[tuple[str, int]]:
    """What the command reports of a file in a folder, where a configuration may stand beside it."""
    (folder / "dated.py").write_text(text)
    finished = torchlint_("--no-cache", "--output-format", "json", *arguments, str(folder / "dated.py"))
    assert not finished.stderr, finished.stderr
    return [(each["code"], each["location"]["row"]) for each in json.loads(finished.stdout)]


def test_a_default_run_leaves_out_what_is_strict(tmp_path: Path) -> None:
    assert reported(tmp_path) == [TWO_MEANINGS]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--select", "strict"),
        ("--select", "ALL"),
        ("--select", "TPL105"),
        ("--select", "TPL1"),
        ("--select", "legacy-constructor"),
        ("--extend-select", "TPL105"),
        ("--extend-select", "strict"),
    ],
)
def test_a_run_that_names_the_rule_shows_what_is_strict(arguments: tuple[str, str], tmp_path: Path) -> None:
    assert reported(tmp_path, *arguments) == [STRICT, TWO_MEANINGS]


def test_a_run_that_names_other_rules_leaves_it_out(tmp_path: Path) -> None:
    assert reported(tmp_path, "--extend-select", "TPL402") == [TWO_MEANINGS]


def test_strict_is_selected_and_rules_are_ignored(tmp_path: Path) -> None:
    assert reported(tmp_path, "--select", "strict", "--ignore", "TPL105") == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('extend-select = ["TPL105"]', [STRICT, TWO_MEANINGS]),
        ('extend-select = ["strict"]', [STRICT, TWO_MEANINGS]),
        ('select = ["strict"]', [STRICT, TWO_MEANINGS]),
        ('extend-select = ["TPL402"]', [TWO_MEANINGS]),
        ("", [TWO_MEANINGS]),
    ],
)
def test_a_configuration_names_the_rule(line: str, found: list[tuple[str, int]], tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text(f"{line}\n")
    assert reported(tmp_path) == found


def test_a_configuration_that_is_extended_names_the_rule(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('extend-select = ["TPL105"]\n')
    (tmp_path / "torchlint.toml").write_text('extend = "base.toml"\n')
    assert reported(tmp_path) == [STRICT, TWO_MEANINGS]


def test_what_is_strict_is_not_fixed_by_default(tmp_path: Path) -> None:
    (tmp_path / "dated.py").write_text(DATED)
    torchlint_("--no-cache", "--fix", "--unsafe-fixes", str(tmp_path / "dated.py"))
    assert (tmp_path / "dated.py").read_text() == DATED.replace(
        "torch.HalfTensor(state).long()", "torch.as_tensor(state, dtype=torch.int64)"
    )


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, [7]),
        ({"select": ["TPL105"]}, [3, 7]),
        ({"select": ["strict"]}, [3, 7]),
        ({"extend_select": ["TPL105"]}, [3, 7]),
        ({"extend_select": ["TPL402"]}, [7]),
    ],
)
def test_the_library_shows_what_is_strict_where_it_is_named(arguments: dict[str, list[str]], found: list[int]) -> None:
    assert [each.location.row for each in torchlint.lint(DATED, **arguments)] == found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((), ["7:12"]),
        (("--select", "TPL"), ["3:10", "7:12"]),
        (("--select", "TPL105"), ["3:10", "7:12"]),
        (("--extend-select", "TPL105"), ["3:10", "7:12"]),
    ],
)
def test_flake8_shows_what_is_strict_where_it_is_named(arguments: tuple[str, ...], found: list[str], tmp_path: Path) -> None:
    pytest.importorskip("flake8")
    (tmp_path / "dated.py").write_text(DATED)
    command = [sys.executable, "-m", "flake8", "--isolated", "--format", "%(row)d:%(col)d", *arguments, "dated.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment(), check=False)
    assert (run.stdout.split(), run.stderr) == (found, "")


@pytest.mark.parametrize("arguments", [("--extend-select", "TPL900"), ("--select", "strict"), ("--select", "TPL900")])
def test_a_comment_that_silences_what_is_strict_is_used(arguments: tuple[str, ...], tmp_path: Path) -> None:
    text = "import torch\n\nweight = torch.Tensor(3, 4)  # noqa: TPL105\nbias = torch.zeros(3)  # noqa: TPL105\n"
    assert reported(tmp_path, *arguments, text=text) == [("TPL900", 4)]


def test_the_same_options_have_the_same_key_in_every_process() -> None:
    """The cache goes by it."""
    script = (
        "from torchlint.options import Options\nfrom torchlint.rules import all_rules\n"
        "codes = frozenset(rule.code for rule in all_rules())\nprint(Options(unfixable=codes, lenient=codes).key)"
    )
    keys = set()
    for seed in ("1", "2", "3"):
        run = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            encoding="utf-8",
            check=True,
            env=environment(PYTHONHASHSEED=seed),
        )
        keys.add(run.stdout)
    assert len(keys) == 1 and "TPL105" in keys.pop()


def test_what_only_python_2_runs_is_strict() -> None:
    text = TEXT + "import sys\nif sys.version_info[0] == 2:\n    z = 'ANOTHER WORD'\n"
    assert found(DEFAULTS, Loud, text=text) == [("TPL998", 2), ("TPL998", 3), ("TPL998", 6)]
    assert found(LENIENT, Loud, text=text) == [("TPL998", 3)]
