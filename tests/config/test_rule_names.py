"""Names of rules wherever codes can stand, through the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import torchlint_

TEXT = "import torch\np = torch.ones(1, requires_grad=True)\np.requres_grad = p.data\n"
"""A finding of TPL005, requires-grad-typo, and one of TPL002, data-access, both with safe fixes."""


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(TEXT)


def codes(*arguments: str) -> list[str]:
    result = torchlint_("--output-format", "json", *arguments)
    assert result.stderr == ""
    return [found["code"] for found in json.loads(result.stdout)]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), ["TPL005", "TPL002"]),
        (("--select", "data-access"), ["TPL002"]),
        (("--select", "data-access,TPL005"), ["TPL005", "TPL002"]),
        (("--ignore", "data-access"), ["TPL005"]),
        (("--select", "TPL005", "--extend-select", "data-access"), ["TPL005", "TPL002"]),
        (("--select", "data-access", "--ignore", "TPL00"), ["TPL002"]),  # a name counts as a whole code
        (("--select", "data-access", "--ignore", "TPL002"), []),
    ],
)
def test_options(arguments: tuple[str, ...], expected: list[str]) -> None:
    assert codes(*arguments) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('select = ["data-access"]', ["TPL002"]),
        ('ignore = ["data-access"]', ["TPL005"]),
        ('per-file-ignores = {"a.py" = ["data-access"]}', ["TPL005"]),
    ],
)
def test_the_configuration(text: str, expected: list[str]) -> None:
    Path("torchlint.toml").write_text(f"{text}\n")
    assert codes() == expected


def test_which_fixes_are_applied() -> None:
    torchlint_("--fix", "--unsafe-fixes", "--unfixable", "data-access")
    assert Path("a.py").read_text() == TEXT.replace("requres", "requires")
    torchlint_("--fix", "--unsafe-fixes", "--fixable", "data-access")
    assert Path("a.py").read_text() == TEXT.replace("requres", "requires").replace(".data", ".detach()")


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# noqa: data-access", ["TPL005"]),
        ("# noqa: requires-grad-typo", ["TPL002"]),
        ("# noqa: Data-Access", ["TPL005"]),
        ("# noqa: data-access, TPL005", []),
        ("# noqa: TPL005 data-access", []),
        ("# noqa: data-access is what is wanted here", ["TPL005"]),
        ("# noqa: E501, data-mutation", ["TPL005", "TPL002"]),
        ("# noqa: the data is ours", []),  # no code: as in flake8, everything
        ("# noqa: data-accessor", []),
    ],
)
def test_comments(comment: str, expected: list[str]) -> None:
    Path("a.py").write_text(TEXT.replace("p.data\n", f"p.data  {comment}\n"))
    assert codes() == expected


def test_a_comment_for_the_whole_file() -> None:
    Path("a.py").write_text(f"# torchlint: noqa: data-access\n{TEXT}")
    assert codes() == ["TPL005"]


def test_names_that_silence_nothing_are_found_and_taken_away() -> None:
    Path("a.py").write_text(TEXT.replace("p.data\n", "p.data  # noqa: data-access, data-mutation\n"))
    result = torchlint_("--select", "unused-noqa", "--output-format", "concise")
    assert result.stdout.splitlines()[0] == (
        "a.py:3:47: TPL900 [*] `data-mutation` silences nothing here: remove it from the comment"
    )
    torchlint_("--select", "unused-noqa", "--fix")
    assert Path("a.py").read_text() == TEXT.replace("p.data\n", "p.data  # noqa: data-access\n")


def test_codes_are_added_to_a_comment_of_names() -> None:
    Path("a.py").write_text(TEXT.replace("p.data\n", "p.data  # noqa: data-access\n"))
    assert torchlint_("--add-noqa").returncode == 0
    assert Path("a.py").read_text() == TEXT.replace("p.data\n", "p.data  # noqa: data-access, TPL005\n")


def test_commands() -> None:
    assert torchlint_("rule", "data-access").stdout.startswith("# data-access (TPL002)\n")


def test_a_rule_is_proven_by_its_name() -> None:
    pytest.importorskip("torch")
    assert "TPL005 requires-grad-typo" in torchlint_("prove", "requires-grad-typo", "--device", "cpu").stdout


def test_a_wrong_name_is_told_the_nearest() -> None:
    result = torchlint_("--select", "data-acess")
    assert (result.returncode, result.stderr) == (
        2,
        "torchlint: error: unknown rule code `data-acess`; did you mean `data-access`?\n",
    )
