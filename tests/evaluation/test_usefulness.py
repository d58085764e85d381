"""First contact: drawing findings, reading labels, and the arithmetic of three labels."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

EVALUATION = Path(__file__).parent
sys.path.insert(0, str(EVALUATION))
sys.path.insert(0, str(EVALUATION / "first_contact"))

from first_findings import AFTER, BEFORE, UNKNOWN, FirstFinding, Repositories, RunError, run  # noqa: E402
from first_report import first_contact, section, with_section  # noqa: E402
from known import Known, Recall, read_known  # noqa: E402
from labels import CodeBase, LabelError, Occurrence, Place  # noqa: E402
from readings import Contact, Reading, read_contact, write_contact  # noqa: E402
from shares import Agreement, Labels, as_true, as_useful, interval, judged_pairs, verdict  # noqa: E402
from sheets import dealt, drawn, edited, for_second_reader, read_answers  # noqa: E402
from usefulness import main  # noqa: E402

ROOT = Path(__file__).parents[2]


def finding(number: int, repo: str = "o/net", code: str = "TPL002", strict: str = "no") -> FirstFinding:
    return FirstFinding(f"F{number:05}", repo, "a.py", "", number, 1, code, "says", "", "", strict)


# --- shares ----------------------------------------------------------------------------------------------------------


def test_shares_are_of_what_is_judged() -> None:
    labels = Labels.of(["useful"] * 6 + ["noise"] * 3 + ["false"] + ["unjudged"] * 5)
    assert (labels.judged, labels.true, labels.useful_share, labels.true_share) == (10, 9, 0.6, 0.9)


def test_nothing_has_no_share() -> None:
    assert (Labels().useful_share, Labels().true_share, interval(0, 0)) == (None, None, None)


@pytest.mark.parametrize(
    ("by_age", "expected"),
    [
        ({BEFORE: Labels(useful=19)}, "few"),
        ({BEFORE: Labels(unjudged=30)}, "none"),
        ({BEFORE: Labels(useful=16, noise=4)}, "stays"),
        ({BEFORE: Labels(useful=15, noise=5)}, "below: all, before 2019"),
        ({BEFORE: Labels(useful=20, noise=10), AFTER: Labels(useful=60)}, "below: before 2019"),
        ({BEFORE: Labels(noise=5), AFTER: Labels(useful=60)}, "stays"),  # five say nothing
        ({BEFORE: Labels(useful=49, false=1), AFTER: Labels(useful=50)}, "stays"),  # 98 % and 99 % true
        ({BEFORE: Labels(useful=48, false=2), AFTER: Labels(useful=200)}, "below: before 2019"),  # 96 % true
    ],
)
def test_rule_stays_on_if_useful_and_true_enough(by_age: dict[str, Labels], expected: str) -> None:
    assert verdict(by_age) == expected


def test_interval_is_wilsons() -> None:
    """For 8 of 10: (0.8 + 0.19208 ± 1.96 · √(0.016 + 0.009604)) / 1.38416."""
    low, high = interval(8, 10) or (0, 0)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)


# --- agreement -------------------------------------------------------------------------------------------------------

PAIRS = [
    *[("useful", "useful")] * 5,
    *[("useful", "noise")] * 2,
    ("noise", "useful"),
    *[("noise", "noise")] * 4,
    ("noise", "false"),
    ("useful", "false"),
    *[("false", "false")] * 2,
    *[("false", "noise")] * 4,
]
"""The first reader says 8, 6, 6; the second 6, 10, 4; they agree on 5 + 4 + 2 of 20."""


def test_agreement_of_three_labels() -> None:
    """By chance: (8·6 + 6·10 + 6·4) / 20 = 6.6 of 20; kappa is (11 − 6.6) / (20 − 6.6)."""
    agreement = Agreement.of(PAIRS)
    assert (agreement.both, agreement.same, agreement.plain) == (20, 11, 0.55)
    assert agreement.expected == pytest.approx(6.6)
    assert agreement.kappa == pytest.approx(0.32836, abs=1e-5)


def test_agreement_of_two_labels() -> None:
    """True against false: 14 and 6, 16 and 4; they agree on 12 + 2; by chance on (14·16 + 6·4) / 20 = 12.4."""
    agreement = Agreement.of(as_true(PAIRS))
    assert (agreement.both, agreement.same, agreement.plain) == (20, 14, 0.7)
    assert agreement.kappa == pytest.approx(1.6 / 7.6)


def test_agreement_on_what_is_useful() -> None:
    """Useful or not: 8 and 12, 6 and 14; they agree on 5 + 11; by chance on (8·6 + 12·14) / 20 = 10.8."""
    agreement = Agreement.of(as_useful(PAIRS))
    assert agreement.same == 16
    assert agreement.kappa == pytest.approx(5.2 / 9.2)


def test_agreement_that_chance_alone_gives_has_no_kappa() -> None:
    assert Agreement.of([("useful", "useful")] * 3).kappa is None
    assert (Agreement.of([]).plain, Agreement.of([]).kappa) == (None, None)


def test_disagreement_throughout_is_below_chance() -> None:
    assert Agreement.of([("useful", "noise"), ("noise", "useful")]).kappa == -1


def test_what_one_reader_leaves_unjudged_is_no_pair() -> None:
    assert judged_pairs([("useful", "unjudged"), ("noise", "false"), ("unjudged", "useful")]) == [("noise", "false")]


# --- drawing ---------------------------------------------------------------------------------------------------------


def test_draw_is_the_same_each_time_and_has_no_finding_twice() -> None:
    findings = [finding(number) for number in range(1, 101)]
    first, again, other = drawn(findings, 30, 1), drawn(reversed(findings), 30, 1), drawn(findings, 30, 2)
    assert first == again != other
    assert len({each.id for each in first}) == 30


def test_draw_takes_all_where_there_are_few() -> None:
    assert sorted(each.id for each in drawn([finding(2), finding(1)], 30, 1)) == ["F00001", "F00002"]


def test_cap_is_for_each_repository() -> None:
    large = [finding(number, "o/large") for number in range(1, 101)]
    small = [finding(number, "o/small") for number in range(101, 104)]
    assert Counter(each.repo for each in drawn(large + small, 50, 1, cap=10)) == {"o/large": 10, "o/small": 3}


def test_sheets_are_disjoint_and_hold_everything() -> None:
    findings = drawn([finding(number) for number in range(1, 32)], 31, 1)
    sheets = dealt(findings, 3)
    assert [len(sheet) for sheet in sheets] == [11, 10, 10]
    assert sorted(each.id for sheet in sheets for each in sheet) == sorted(each.id for each in findings)
    assert all(sheet == sorted(sheet, key=lambda each: each.line) for sheet in sheets)


def test_second_reader_has_some_of_the_same_in_another_order() -> None:
    findings = [finding(number, f"o/{number % 7}") for number in range(1, 61)]
    second = for_second_reader(findings, 40, 1)
    assert len({each.id for each in second} & {each.id for each in findings}) == len(second) == 40
    assert second != sorted(second, key=lambda each: each.place)


def test_fix_is_shown_as_it_would_be_made() -> None:
    edits = [
        {"location": {"row": 1, "column": 5}, "end_location": {"row": 1, "column": 6}, "content": "z"},
        {"location": {"row": 2, "column": 1}, "end_location": {"row": 3, "column": 1}, "content": ""},
        {"location": {"row": 1, "column": 1}, "end_location": {"row": 1, "column": 1}, "content": "import a\n"},
    ]
    assert edited(["x = y", "b", "c"], edits) == ["import a", "x = z", "c"]


def test_what_is_put_in_where_something_is_replaced_stands_before_it() -> None:
    place = {"row": 1, "column": 4}
    edits = [
        {"location": place, "end_location": place, "content": ")"},
        {"location": place, "end_location": {"row": 2, "column": 1}, "content": "\n\n"},
    ]
    assert edited(["f(x", "y"], edits) == edited(["f(x", "y"], edits[::-1]) == ["f(x)", "", "y"]


# --- answers ---------------------------------------------------------------------------------------------------------


def test_answers_are_read_as_people_write_them(tmp_path: Path) -> None:
    file = tmp_path / "sheet1.tsv"
    rows = [
        "id\tlabel\tnote",
        "F1\tuseful\traises, on torch 2",
        "F2, noise, a test",
        "F3 f  no tensor",
        "F4\t\t",
        "",
        "F5\t?",
        "F6 U",
    ]
    file.write_text("\n".join(rows), encoding="utf-8")
    assert read_answers(file, [f"F{number}" for number in range(1, 8)]) == {
        "F1": ("useful", "raises, on torch 2"),
        "F2": ("noise", "a test"),
        "F3": ("false", "no tensor"),
        "F5": ("unjudged", ""),
        "F6": ("useful", ""),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [("F9\tuseful", "not drawn"), ("F1\tmaybe", "a label is"), ("F1\tuseful\nF1\tnoise", "two labels")],
)
def test_answer_that_cannot_be_meant_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "sheet1.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LabelError, match=rf"sheet1\.tsv:\d: .*{message}"):
        read_answers(file, ["F1"])


# --- known places ----------------------------------------------------------------------------------------------------


def test_known_places_are_found_by_default_with_all_rules_or_not(tmp_path: Path) -> None:
    table = tmp_path / "occurrences.tsv"
    rows = [
        "repo\tpath\tline\tcode\tdecidable\tworth\tdefault\twhy",
        "o/net\ta.py\t1\tTPL002\tyes\tuseful\ton\tfound",
        "o/net\ta.py\t2-4\tTPL001|TPL002\tyes\tuseful\ton\tfound within",
        "o/net\ta.py\t9\tTPL402\tyes\tnoise\topt\tfound with all rules",
        "o/net\ta.py\t9\tTPL402\tyes\tnoise\topt\ta second one, which is not found",
        "o/net\ta.py\t5\tTPL002\tno\tuseful\ton\tnobody can tell",
        "o/other\ta.py\t1\tTPL002\tyes\tuseful\ton\tnot in this repository",
    ]
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    known = read_known(table, [finding(1), finding(3), finding(9, code="TPL402", strict="yes")])
    assert [each.found for each in known] == [True, True, False, False, False, False]
    assert [each.found_with_all for each in known] == [True, True, True, False, False, False]
    assert [each.is_useful for each in known] == [True, True, False, False, True, True]
    recall = Recall.of(known)
    assert (recall.known, recall.found, recall.found_with_all, recall.undecidable) == (5, 2, 3, 1)
    assert (recall.share, recall.share_with_all) == (0.4, 0.6)


# --- from repositories to a report -----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two repositories, one of them with a notebook and a file that is not Python."""
    old, new = tmp_path / "repos" / "o+old", tmp_path / "repos" / "o+new"
    old.mkdir(parents=True)
    new.mkdir()
    (old / "train.py").write_text(
        "from torch.autograd import Variable\nimport torch\nx = Variable(torch.ones(2))\n", encoding="utf-8"
    )
    (old / "broken.py").write_text("import torch\nprint torch.ones(2).data\n", encoding="utf-8")
    cell = {"cell_type": "code", "source": ["import torch\n", "y = torch.ones(2).data\n"], "metadata": {}, "outputs": []}
    notebook = {"cells": [{"cell_type": "markdown", "source": "text", "metadata": {}}, cell], "metadata": {}, "nbformat": 4}
    (new / "a.ipynb").write_text(json.dumps({**notebook, "nbformat_minor": 5}), encoding="utf-8")
    (new / "torch.py").write_text("raise SystemExit('nothing of a repository is run')\n", encoding="utf-8")
    table = "repo\tcommit\tnewest\no/old\tabc\t2018\no/new\tdef\t2024\n"
    (tmp_path / "repos.tsv").write_text(table, encoding="utf-8")
    return tmp_path


def test_first_contact_from_run_to_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out"
    repositories = ["--repositories", str(folder / "repos.tsv"), "--checkout", str(ROOT), "--jobs", "1"]
    assert main(["run", str(folder / "repos"), *repositories, "--out", str(out)]) == 0
    assert "2 repositories, 4 files, 1 that could not be read" in capsys.readouterr().out
    rows = [line.split("\t") for line in (out / "findings.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    assert ["o/old", "train.py", "", "3", "5", "TPL101"] in [row[1:7] for row in rows]
    assert main(["draw", str(out), "--sheets", "1", "--second", "1"]) == 0
    sheet = (out / "sheet1.txt").read_text(encoding="utf-8")
    assert f"{folder / 'repos' / 'o+old' / 'train.py'}:3:5  (2018)" in sheet
    assert "    -x = Variable(torch.ones(2))\n    +x = torch.ones(2)\n" in sheet
    assert ">>    3 | x = Variable(torch.ones(2))\n" in sheet
    id = next(row[0] for row in rows if row[6] == "TPL101")
    (out / "sheet1.tsv").write_text(f"id\tlabel\tnote\n{id}\tuseful\tthe wrapper goes\n", encoding="utf-8")
    assert main(["score", str(out)]) == 0
    assert "| before 2019 | 1 | 1 | 0 | 0 | 0 | 100 % (20.7 to 100.0) |" in capsys.readouterr().out
    assert main(["draw", str(out)]) == 2
    assert "have answers already" in capsys.readouterr().err


def test_findings_are_not_written_into_the_repository(folder: Path) -> None:
    repositories = Repositories.read(folder / "repos", folder / "repos.tsv", None)
    with pytest.raises(RunError, match="in the repository"):
        run(repositories, ROOT, ROOT / "docs" / "out", 1)


def test_age_is_that_of_the_file_before_that_of_the_repository(folder: Path) -> None:
    years = folder / "years.tsv"
    years.write_text("repo\tpath\tyear\no/new\ta.ipynb\t2018\n", encoding="utf-8")
    repositories = Repositories.read(folder / "repos", folder / "repos.tsv", years)
    assert [repositories.age("o/new", path) for path in ("a.ipynb", "torch.py")] == [BEFORE, AFTER]
    assert repositories.age("o/old", "train.py") == BEFORE
    assert repositories.age("o/unknown", "train.py") == UNKNOWN


# --- what is kept, and shown -----------------------------------------------------------------------------------------


def contact() -> Contact:
    """25 findings of one rule, 22 of them read: of 20 old ones 15 useful, of 2 newer ones 1; one of each is false."""
    findings = [finding(number) for number in range(1, 26)]
    said = [*["useful"] * 15, *["noise"] * 4, "false", "useful", "false"]
    readings = [
        Reading(each, 2018 if number <= 20 else 2024, label, "useful" if number <= 10 else None, None, "a note")
        for number, (each, label) in enumerate(zip(findings, said, strict=False), 1)
    ]
    readings[15] = Reading(findings[15], 2018, "useful", "noise", "noise", "x.data")
    occurrence = Occurrence(CodeBase("o/net", ""), "a.py", Place.parse("2-3"), ("TPL001", "TPL002"), True)
    known = [Known(occurrence, True, True, True, True), Known(occurrence, False, False)]
    about = {"torchlint": "abc", "seed": 13, "cap": None}
    return Contact("2026-11", about, {"o/net": 1}, findings, readings, known, [("o/net", "a.py")])


def test_section_shows_shares_by_rule_and_age_and_what_is_below() -> None:
    shown = section(contact())
    assert "| all | 22 | 16 | 4 | 2 | 0 | 72.7 % (51.8 to 86.8) | 90.9 % (72.2 to 97.5) |" in shown
    row = "| TPL002 | 25 | 22 | 16 | 4 | 2 | 0 | 72.7 % | 90.9 % | 15 of 20, 75.0 %, 1 false | 1 of 2, 50.0 %, 1 false |"
    assert f"{row} below: all, before 2019 |" in shown
    assert "Below 80 % useful or 98 % true: TPL002 (below: all, before 2019)." in shown
    assert "| useful, noise, false | 11 | 10 | 90.9 % | 0.00 |" in shown  # the first said `useful` eleven times of eleven
    assert "| all | 2 | 1 | 50.0 % | 1 | 50.0 % | 0 |" in shown
    assert "- `o/net a.py:20:1 TPL002`" in shown


def test_what_is_kept_is_read_as_it_was_and_holds_no_code(tmp_path: Path) -> None:
    (tmp_path / "o+net").mkdir()
    repositories = Repositories(tmp_path, {"o/net": "abc"}, {("o/net", ""): 2024, **{("o/net", "a.py"): 2018}})
    whole = contact()
    old = [Reading(each.finding, 2018, each.first, each.second, each.settled, each.notes) for each in whole.readings]
    whole = Contact(whole.name, whole.about, whole.files, whole.findings, old, whole.known, whole.scripts)
    write_contact(whole, repositories, tmp_path / "2026-11")
    assert section(read_contact(tmp_path / "2026-11")) == section(whole)
    kept = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "2026-11").iterdir())
    assert "says" not in kept
    assert "x.data" not in kept


def test_page_shows_what_is_kept_about_first_contacts() -> None:
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert with_section(page) == page
    assert "\n".join(first_contact()) in page


def test_section_is_put_where_it_was() -> None:
    changed = with_section("# A\n\n## First contact\n\nold\n\n## Next\n\ntext\n")
    assert changed.startswith("# A\n\n## First contact\n\nWhat torchlint reported")
    assert changed.endswith(" |\n\n## Next\n\ntext\n")
    assert "old" not in changed.splitlines()
    with pytest.raises(LabelError, match="First contact"):
        with_section("# A\n")
