"""Findings that are to stay: comments that are added, comments that silence nothing, and baselines."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from command import torchlint_
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules.selection import select_rules
from torchlint.text.noqa import with_noqa
from torchlint.text.source import Source

TYPO = "import torch\np = torch.ones(1, requires_grad=True)\np.requres_grad = False\n"
READ = "x = torch.ones(1, requires_grad=True)\nstore(x.data + 1)\n"


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(**texts: str) -> None:
    for name, text in texts.items():
        Path(f"{name}.py").write_text(text)


# --- adding comments -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("store(x.data + 1)\n", "store(x.data + 1)  # noqa: TPL002\n"),
        ("store(x.data + 1)", "store(x.data + 1)  # noqa: TPL002"),
        ("store(x.data + 1)  # why\r\n", "store(x.data + 1)  # why  # noqa: TPL002\r\n"),
        ("store(x.data + 1)  # noqa: E501\n", "store(x.data + 1)  # noqa: E501, TPL002\n"),
        ("store(x.data + 1)  # noqa: E501 long\n", "store(x.data + 1)  # noqa: E501, TPL002 long\n"),
        ("store(x.data + 1, x.data)   \n", "store(x.data + 1, x.data)  # noqa: TPL002\n"),
        ("p.requres_grad = x.data\n", "p.requres_grad = x.data  # noqa: TPL002, TPL005\n"),
        ('s = f"""\n{x.data}\n"""\n', 's = f"""\n{x.data}\n"""  # noqa: TPL002\n'),
        ("s = x.data + \\\n    1\n", "s = x.data + \\\n    1  # noqa: TPL002\n"),
        ("f(x.data,\n  1)\n", "f(x.data,  # noqa: TPL002\n  1)\n"),
        ("store(x.data + 1)  # why\xa0\n", "store(x.data + 1)  # why\xa0  # noqa: TPL002\n"),
        ("store(x.data + 1)  # why\u2028\r\n", "store(x.data + 1)  # why\u2028  # noqa: TPL002\r\n"),
        ("store(x.data + 1)\x0c\n", "store(x.data + 1)\x0c  # noqa: TPL002\n"),
        ("store(x.data + 1)  # noqa: E501,\nE1 = 2\n", "store(x.data + 1)  # noqa: E501, TPL002,\nE1 = 2\n"),
    ],
)
def test_a_comment_is_added_where_it_silences(before: str, after: str) -> None:
    head = "import torch\np = x = torch.ones(1)\n"
    rules = select_rules(["TPL002", "TPL005"])
    source = Source(head + before)
    assert with_noqa(source, lint(source, rules)) == head + after
    assert lint(Source(head + after), rules) == []


def test_add_noqa_writes_the_files_and_leaves_nothing_to_report() -> None:
    make(a=TYPO + READ, b="x = 1\n")
    result = torchlint_("--add-noqa")
    assert (result.stdout, result.stderr, result.returncode) == ("", "Added 2 noqa comments.\n", 0)
    assert Path("a.py").read_text().count("# noqa: TPL00") == 2
    assert torchlint_().returncode == 0
    assert torchlint_("--add-noqa").stderr == "Added 0 noqa comments.\n"


def test_add_noqa_is_for_the_selected_rules() -> None:
    make(a=TYPO + READ)
    torchlint_("--add-noqa", "--select", "TPL002")
    assert "requres_grad = False\n" in Path("a.py").read_text()
    assert "store(x.data + 1)  # noqa: TPL002\n" in Path("a.py").read_text()


def test_add_noqa_on_standard_input() -> None:
    assert torchlint_("--add-noqa", "-", given=TYPO).stdout == TYPO.rstrip() + "  # noqa: TPL005\n"


@pytest.mark.parametrize(
    "line", ['store(x.data + 1, "# noqa: E501")', "store(x.data + 1, '''# noqa: E501\n''')  # noqa: TPL002"]
)
def test_a_line_whose_comment_would_not_count_is_left_alone_and_reported(line: str) -> None:
    text = f"import torch\nx = torch.ones(1, requires_grad=True)\n{line}\nstore(x.data + 1)\n"
    Path("a.py").write_text(text)
    result = torchlint_("--add-noqa")
    assert result.stderr.splitlines() == [
        "a.py:3:7: error: cannot add a comment for TPL002: what stands in a string there counts as the line's noqa comment",
        "1 file could not be linted in full: a.py.",
        "Added 1 noqa comment.",
    ]
    assert result.returncode == 2
    assert Path("a.py").read_text() == text.replace("store(x.data + 1)\n", "store(x.data + 1)  # noqa: TPL002\n")


# --- comments that silence nothing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = 1  # noqa: TPL001\nX1 = 3\n", "y = 1\nX1 = 3\n"),
        ("y = 1  # noqa: TPL001\rX1 = 3\r", "y = 1\rX1 = 3\r"),
        ("y = 1  # noqa: TPL001,\nX1 = 3\n", "y = 1\nX1 = 3\n"),
        ("y = 1  # noqa: TPL001,", "y = 1"),
        ("y = 1  # noqa:\nTPL1 = 3\n", "y = 1  # noqa:\nTPL1 = 3\n"),
        ("# torchlint: noqa: TPL001\nX1 = 3\n", "X1 = 3\n"),
        ("if y:\n    # torchlint: noqa: TPL001 why\n    y = 1\n", "if y:\n    # why\n    y = 1\n"),
        ("y = 1  # noqa: E501, TPL001, TPL002\n", "y = 1  # noqa: E501\n"),
        ("y = 1  # noqa: TPL001, E501, TPL002, TPL003, why\n", "y = 1  # noqa: E501, why\n"),
    ],
)
def test_codes_are_taken_from_the_comment_and_from_nothing_else(before: str, after: str) -> None:
    found = lint(Source(before), select_rules(["TPL900"]))
    for one, other in pairwise(edit for each in found if each.fix for edit in each.fix.edits):
        assert one.end_location <= other.location
    assert fix(Source(before), select_rules(["TPL900"])).text == after


@pytest.mark.parametrize(
    "text",
    [
        'y = "# noqa: TPL002"\n',
        'y = f"# noqa: TPL002 {y}"\n',
        '"""Silenced by `# noqa: TPL002`."""\n',
        'y = """\n# torchlint: noqa: TPL001\n"""\n',
    ],
)
def test_what_reads_like_a_comment_in_a_string_is_none(text: str) -> None:
    assert lint(Source(text), select_rules(["TPL900"])) == []


def test_unused_comments_are_found_when_asked_for_and_taken_away() -> None:
    make(a="import torch\np = torch.ones(1)  # noqa: TPL002\n")
    assert torchlint_("a.py").returncode == 0
    result = torchlint_("--extend-select", "TPL900", "a.py")
    assert result.stdout.startswith("a.py:2:28: TPL900 [*] `TPL002` silences nothing here")
    torchlint_("--extend-select", "TPL900", "--fix", "a.py")
    assert Path("a.py").read_text() == "import torch\np = torch.ones(1)\n"


def test_a_comment_is_judged_by_rules_that_are_not_selected_too() -> None:
    make(a="import torch\nx = torch.ones(1, requires_grad=True)\nstore(x.data + 1)  # noqa: TPL002\n")
    assert torchlint_("--select", "TPL900", "a.py").returncode == 0
    assert torchlint_("--select", "TPL900", "--ignore", "TPL002", "a.py").returncode == 0


def test_a_comment_for_the_whole_file() -> None:
    make(a="# torchlint: noqa: TPL002\nimport torch\nx = torch.ones(1, requires_grad=True)\nstore(x.data + 1)\n")
    assert torchlint_("--extend-select", "TPL900", "a.py").returncode == 0
    make(a="# torchlint: noqa: TPL002\nimport torch\nx = torch.ones(1)\n")
    torchlint_("--extend-select", "TPL900", "--fix", "a.py")
    assert Path("a.py").read_text() == "import torch\nx = torch.ones(1)\n"


# --- baselines -------------------------------------------------------------------------------------------------------


def codes(*arguments: str) -> list[str]:
    return [found["code"] for found in json.loads(torchlint_("--output-format", "json", *arguments).stdout)]


def test_what_is_in_the_baseline_is_not_reported() -> None:
    make(a=TYPO + READ)
    result = torchlint_("--write-baseline", "known.json")
    assert (result.stdout, result.stderr, result.returncode) == ("", "Wrote 2 findings to known.json.\n", 0)
    assert json.loads(Path("known.json").read_text()) == {
        "version": 1,
        "findings": {"a.py": {"TPL002": {"store(x.data + 1)": 1}, "TPL005": {"p.requres_grad = False": 1}}},
    }
    assert torchlint_("--baseline", "known.json").returncode == 0


def test_known_findings_may_move_and_new_ones_are_reported() -> None:
    make(a=TYPO + READ)
    torchlint_("--write-baseline", "known.json")
    make(a="import os\n\n\n" + TYPO + "if p:\n    " + READ.replace("\n", "\n    ").rstrip() + "\n")
    assert codes("--baseline", "known.json") == []
    make(a=TYPO + READ + "store(x.data + 1)\ny = x.data\n")
    assert codes("--baseline", "known.json") == ["TPL002", "TPL002"]
    make(b=READ)
    assert codes("--baseline", "known.json", "b.py") == ["TPL002"]


def test_known_findings_are_not_fixed_nor_given_comments() -> None:
    make(a=TYPO)
    torchlint_("--write-baseline", "known.json")
    make(a=TYPO + READ)
    torchlint_("--baseline", "known.json", "--fix")
    assert Path("a.py").read_text() == TYPO + READ.replace("x.data", "x.detach()")
    make(a=TYPO + READ)
    assert torchlint_("--baseline", "known.json", "--add-noqa").stderr == "Added 1 noqa comment.\n"
    assert Path("a.py").read_text() == TYPO + READ.replace("store(x.data + 1)\n", "store(x.data + 1)  # noqa: TPL002\n")


def test_a_baseline_is_about_files_from_its_own_folder_on(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("src").mkdir()
    Path("src/a.py").write_text(TYPO)
    torchlint_("--write-baseline", "known.json")
    monkeypatch.chdir("src")
    assert codes("--baseline", "../known.json") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "known.json: error: cannot read the baseline: No such file or directory\n"),
        ("{", "known.json: error: not a baseline: "),
        ("[]", "known.json: error: not a baseline of torchlint\n"),
        ('{"version": 2, "findings": {}}', "known.json: error: a baseline of version 2, which this torchlint does not know\n"),
        ('{"version": 1, "findings": {"a.py": 3}}', "known.json: error: not a baseline of torchlint\n"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_one_line(content: str | None, message: str) -> None:
    if content is not None:
        Path("known.json").write_text(content)
    result = torchlint_("--baseline", "known.json")
    assert result.stderr.startswith(message)
    assert (result.stderr.count("\n"), result.returncode) == (1, 2)


def test_a_baseline_that_cannot_be_written_is_one_line() -> None:
    make(a=TYPO)
    result = torchlint_("--write-baseline", "nowhere/known.json")
    assert result.stderr == "nowhere/known.json: error: cannot write the baseline: No such file or directory\n"
    assert result.returncode == 2
