"""What a rule's fixture folder has to show, and what is said where it does not: of a good one, spoilt in one way each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from torchlint.cli.main import main
from torchlint.diagnostic import Applicability
from torchlint.proof.fixtures import Expected, RuleTest, expectations, folder_of
from torchlint.rules import all_rules

[RULE] = [rule for rule in all_rules() if rule.code == "TPL502"]
FIXTURES = Path(__file__).parents[2] / "fixtures"

PAGE = "its page has all sections, and its examples are what it says"
REPORTS = "it reports the marked places of bad.py"
SILENCE = "it leaves good.py alone"
FIXES = "its fixes make fixed.py of bad.py"
HAZARD = "its hazard shows, and is gone after its fix"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the folder of a rule, which is good."""
    return Path(shutil.copytree(FIXTURES / folder_of(RULE), tmp_path / folder_of(RULE)))


def problems(folder: Path, device: str | None = None) -> dict[str, tuple[str, ...]]:
    """What is wrong with a folder, by what it was asked to show."""
    outcomes = RuleTest(RULE, folder).outcomes(device)
    return {outcome.what: outcome.problems for outcome in outcomes if outcome.problems}


def spoil(file: Path, old: str, new: str) -> int:
    """Changes the first of such texts in a file; returns the line where it was."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


# --- markers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x.data  # TPL001", [Expected(1, None, Applicability.SAFE)]),
        ("x.data  # TPL001 (unsafe)", [Expected(1, None, Applicability.UNSAFE)]),
        ("x.data  # TPL001 (no fix)", [Expected(1, None, None)]),
        ("x.data  # TPL001 -> 14", [Expected(1, 14, Applicability.SAFE)]),
        ("x.data  # TPL001 -> 14 (unsafe)", [Expected(1, 14, Applicability.UNSAFE)]),
        ("# next line: TPL001", [Expected(2, None, Applicability.SAFE)]),
        (
            "x.data  # TPL001, TPL001 (no fix), TPL002",
            [Expected(1, None, Applicability.SAFE), Expected(1, None, None)],
        ),
        ("x.data  # TPL002", []),
        ("x.data  # see TPL001 for more", []),
        ("x.data  # why: # TPL001", [Expected(1, None, Applicability.SAFE)]),
    ],
)
def test_what_the_markers_ask_for(line: str, expected: list[Expected]) -> None:
    assert expectations(f"{line}\n", "TPL001") == expected


# --- folders ---------------------------------------------------------------------------------------------------------


def test_a_good_folder(folder: Path) -> None:
    assert problems(folder) == {}
    whats = [outcome.what for outcome in RuleTest(RULE, folder).outcomes(None)]
    assert {PAGE, REPORTS, SILENCE, FIXES, HAZARD} <= set(whats)


def marked_lines(folder: Path) -> list[str]:
    return [line for line in (folder / "bad.py").read_text(encoding="utf-8").split("\n") if line.endswith("# TPL502 (unsafe)")]


def test_a_missing_mark(folder: Path) -> None:
    line = marked_lines(folder)[0]
    row = spoil(folder / "bad.py", line, line.replace("# TPL502 (unsafe)", "# none"))
    assert problems(folder)[REPORTS] == (f"line {row}: unsafe fix: found, not wanted",)


def test_a_mark_where_nothing_is_found(folder: Path) -> None:
    (folder / "bad.py").write_text((folder / "bad.py").read_text(encoding="utf-8") + "x = 1  # TPL502\n", encoding="utf-8")
    row = (folder / "bad.py").read_text(encoding="utf-8").count("\n")
    assert problems(folder)[REPORTS] == (f"line {row}: safe fix: wanted, not found",)


def test_another_safety(folder: Path) -> None:
    line = marked_lines(folder)[0]
    row = spoil(folder / "bad.py", line, line.removesuffix(" (unsafe)"))
    assert problems(folder)[REPORTS] == (
        f"line {row}: safe fix: wanted, not found",
        f"line {row}: unsafe fix: found, not wanted",
    )


def test_another_end(folder: Path) -> None:
    line = marked_lines(folder)[0]
    row = spoil(folder / "bad.py", line, line.replace("TPL502", "TPL502 -> 1"))
    [problem] = problems(folder)[REPORTS]
    assert problem.startswith(f"bad.py:{row}: the finding ends in front of column")
    assert problem.endswith("not of 1")


def test_no_mark_at_all(folder: Path) -> None:
    for name in ("bad.py", "fixed.py"):
        (folder / name).write_text("x = 1\n", encoding="utf-8")
    assert problems(folder) == {REPORTS: ("no line of bad.py is marked",)}


def test_another_fixed_text(folder: Path) -> None:
    with (folder / "fixed.py").open("a", encoding="utf-8") as file:
        file.write("more = 1\n")
    found = problems(folder)
    assert list(found) == [FIXES]
    assert "-more = 1" in found[FIXES]


def test_a_finding_in_what_is_good(folder: Path) -> None:
    row = (folder / "good.py").read_text(encoding="utf-8").count("\n") + 2
    with (folder / "good.py").open("a", encoding="utf-8") as file:
        file.write("import torch\nmodel = torch.load('x', weights_only=False)\n")
    found = problems(folder)
    assert list(found) == [SILENCE]
    assert found[SILENCE][0].startswith(f"good.py:{row}:")


def test_a_file_that_is_no_python(folder: Path) -> None:
    (folder / "good.py").write_text("x = (\n", encoding="utf-8")
    assert [each for said in problems(folder).values() for each in said if "good.py" in each]


def test_no_hazard(folder: Path) -> None:
    (folder / "hazard.py").unlink()
    assert problems(folder) == {HAZARD: ("there is no hazard.py",)}


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("def observe(device):\n    return {}\n", "not flagged"),
        ("import nonesuch\n", "failed hazard.py:1: ModuleNotFoundError: No module named 'nonesuch'"),
        (
            "import torch\n\n\ndef observe(device):\n    return {}\n\n\ndef hazard(seen):\n    return False\n\n\n"
            "def load(path):\n    return torch.load(path, weights_only=False)\n",
            "no damage",
        ),
    ],
)
def test_a_hazard_that_is_not_shown(folder: Path, program: str, problem: str) -> None:
    pytest.importorskip("torch")
    (folder / "hazard.py").write_text(program, encoding="utf-8")
    assert problems(folder, "cpu") == {f"{HAZARD} (cpu)": (problem,)}


def test_a_hazard_for_another_device_is_skipped(folder: Path) -> None:
    (folder / "hazard.py").write_text("NEEDS = 'cuda'\n", encoding="utf-8")
    assert [outcome.skipped for outcome in RuleTest(RULE, folder).outcomes("cpu")][-1] == "skipped: needs cuda"


# --- the command -----------------------------------------------------------------------------------------------------


def command(*arguments: str) -> int:
    """The exit code of the command with these arguments."""
    return main(["test-rule", *arguments])


def test_the_command_on_a_good_folder_and_a_spoilt_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "hazard.py").write_text("NEEDS = 'cuda'\n", encoding="utf-8")
    assert command("TPL502", "--fixtures", str(folder.parent)) == 0
    out = capsys.readouterr().out
    assert f"  {FIXES}: ok\n" in out
    with (folder / "fixed.py").open("a", encoding="utf-8") as file:
        file.write("more = 1\n")
    assert command("TPL502", "--fixtures", str(folder.parent)) == 1
    out = capsys.readouterr().out
    assert f"  {REPORTS}: ok\n" in out
    assert f"  {FIXES}: FAILED\n" in out
    assert "    -more = 1\n" in out


@pytest.mark.parametrize("name", ["bad.py", "fixed.py", "good.py"])
def test_the_command_where_a_file_is_missing(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).unlink()
    assert command("TPL502", "--fixtures", str(folder.parent)) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"torchlint test-rule: {folder / name}: no such file: TPL502 has nothing to be tested with\n")


def test_the_command_for_a_rule_that_is_not_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("TPL999", "--fixtures", str(tmp_path)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "TPL999" in err
