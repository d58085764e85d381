"""The arithmetic over bugs that commits fixed, and the file that names them; the run over the repositories is made by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EVALUATION = Path(__file__).parent
sys.path.insert(0, str(EVALUATION))

from code_bases import DownloadError, two_versions  # noqa: E402
from historical import Fix, Outcome, Shares, moved, outcome_of, read_fixes, report  # noqa: E402
from labels import LabelError, Place  # noqa: E402

LEAK = b"""\
import torch

def train(model, loader, optimizer):
    total = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss
    return total / len(loader)
"""
MENDED = b"import math\n\n" + LEAK.replace(b"total += loss", b"total += loss.item()")


def fix(place: str = "10", codes: str = "TPL004", *, decidable: bool = True, flagged: bool = True, cleared: bool = True) -> Fix:
    first = Outcome(flagged, cleared)
    return Fix("a/b", "0" * 40, "train.py", Place.parse(place), tuple(codes.split("|")), decidable, first, "a sum of losses")


# --- one bug ---------------------------------------------------------------------------------------------------------


def test_bug_is_flagged_before_and_cleared_after() -> None:
    assert outcome_of(fix(), LEAK, MENDED) == Outcome(flagged=True, cleared=True)


def test_bug_that_is_still_there_is_not_cleared() -> None:
    assert outcome_of(fix(), LEAK, b"import math\n\n" + LEAK) == Outcome(flagged=True, cleared=False)


def test_another_line_or_rule_does_not_count() -> None:
    assert not outcome_of(fix("9"), LEAK, MENDED).flagged
    assert not outcome_of(fix(codes="TPL015"), LEAK, MENDED).flagged
    assert outcome_of(fix(codes="TPL015|TPL004"), LEAK, MENDED).flagged


def test_file_that_is_no_python_has_no_finding() -> None:
    assert outcome_of(fix(), b'print "loss"\n' + LEAK, MENDED) == Outcome(flagged=False, cleared=True)


# --- where a place went ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "after", "expected"),
    [
        pytest.param("2", ["new", "a", "b", "c"], "3", id="moved down"),
        pytest.param("2", ["a", "B", "c"], "2", id="replaced"),
        pytest.param("1-3", ["a", "b", "x", "y", "c"], "1-5", id="lines put between"),
        pytest.param("2", ["a", "B", "B2", "c"], "2-3", id="one line made two"),
        pytest.param("3", ["a", "b", "c"], "3", id="nothing changed"),
    ],
)
def test_place_moves_with_the_lines(place: str, after: list[str], expected: str) -> None:
    assert str(moved(Place.parse(place), ["a", "b", "c"], after)) == expected


# --- shares ----------------------------------------------------------------------------------------------------------


def test_only_what_was_flagged_can_be_cleared() -> None:
    shares = Shares()
    for outcome in (Outcome(True, True), Outcome(True, False), Outcome(False, True), Outcome(False, True)):
        shares.add(outcome)
    assert (shares.bugs, shares.flagged, shares.cleared) == (4, 2, 1)
    assert str(shares) == "2 of 4 flagged (50.0 %), 1 of these cleared by the fix"
    assert str(Shares()) == "0 of 0 flagged (–), 0 of these cleared by the fix"


def test_report_counts_what_is_decidable_and_names_what_is_missed() -> None:
    fixes = [fix(), fix("3", flagged=False), fix("4", "TPL301"), fix("5", decidable=False, flagged=False)]
    outcomes = [Outcome(True, True), Outcome(False, True), Outcome(True, False), Outcome(False, True)]
    assert report(fixes, outcomes).splitlines() == [
        "  rule  bugs  first contact  now  still reported after the fix",
        "TPL004     2              1    1                             0",
        "TPL301     1              1    1                             1",
        "decidable in the file: 2 of 3 flagged (66.6 %), 1 of these cleared by the fix",
        "    at first contact: 2 of 3 flagged (66.6 %), 2 of these cleared by the fix",
        "all: 2 of 4 flagged (50.0 %), 1 of these cleared by the fix",
        "missed: a/b@00000000 train.py:3 TPL004: a sum of losses",
        "still reported: a/b@00000000 train.py:4 TPL301: a sum of losses",
    ]


# --- the two versions of a file --------------------------------------------------------------------------------------


def test_both_versions_come_from_a_folder_with_git_repositories(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for text in (LEAK, MENDED):
        (folder / "train.py").write_bytes(text)
        subprocess.run([*git, "add", "train.py"], check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", "x"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    address = f"{tmp_path}/{{owner}}/{{name}}"
    assert two_versions(address, "a/b", head, "train.py") == (LEAK, MENDED)
    with pytest.raises(DownloadError, match=r"cannot get gone\.py"):
        two_versions(address, "a/b", head, "gone.py")


# --- the file --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fixes() -> list[Fix]:
    return read_fixes(EVALUATION / "historical.tsv")


def test_bugs_are_many_of_many_rules_and_repositories(fixes: list[Fix]) -> None:
    decidable = [each for each in fixes if each.decidable]
    assert len(decidable) >= 40
    assert len({each.codes[0] for each in decidable}) >= 15
    assert len({each.repository for each in decidable}) >= 20


def test_each_bug_is_named_once_by_a_whole_commit_and_without_code(fixes: list[Fix]) -> None:
    assert len({(each.repository, each.commit, each.file, each.place, each.codes) for each in fixes}) == len(fixes)
    for each in fixes:
        assert len(each.commit) == 40
        assert set(each.commit) <= set("0123456789abcdef")
        assert each.repository.count("/") == 1
        assert each.file.endswith(".py")
        assert 0 < len(each.what) <= 100


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a/b\tc\tf.py\t1\tTPL004\tmaybe\tyes\tyes\tx", "decidable is `yes` or `no`, not 'maybe'"),
        ("a/b\tc\tf.py\t1\tTPL004\tyes\t\tyes\tx", "flagged is `yes` or `no`, not ''"),
        ("a/b\tc\tf.py\t0\tTPL004\tyes\tyes\tyes\tx", "not a place: '0'"),
        ("a/b\tc\tf.py\t1\t4\tyes\tyes\tyes\tx", "not a code: '4'"),
        ("a/b\tc", "2 columns where there are 9"),
    ],
)
def test_broken_line_is_named(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "historical.tsv"
    path.write_text("repository\tcommit\tfile\tplace\tcode\tdecidable\tflagged\tcleared\twhat\n" + row + "\n", encoding="utf-8")
    with pytest.raises(LabelError) as caught:
        read_fixes(path)
    assert str(caught.value) == f"historical.tsv:2: {message}"
