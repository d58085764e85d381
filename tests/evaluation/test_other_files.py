"""What tells of occurrences that the file was once said not to tell of: the table, and how it is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from judgement import Finding, judge
from labels import CodeBase, LabelError, Occurrence, Place, Teller, read_occurrences, read_tellers
from other_files import found_of, rows

EVALUATION = Path(__file__).resolve().parent
NET = CodeBase("net", "1.0")


def occurrence(place: str, tells: str) -> Occurrence:
    return Occurrence(NET, "a.py", Place.parse(place), ("TPL002",), tells == "file", tells == "project")


def test_what_tells_agrees_with_the_occurrences() -> None:
    known = Counter(read_occurrences(EVALUATION / "occurrences.tsv"))
    told = read_tellers(EVALUATION / "other_files.tsv")
    tellers = Counter(each.occurrence for each in told if each.tells != "none")
    assert tellers <= known
    assert not {each.occurrence for each in told if each.tells == "none"} & {*known}
    assert {each for each in known if each.by_project} <= {*tellers}


def test_kinds_are_counted_each_by_itself() -> None:
    tellers = [Teller(occurrence("1", "file"), "file", ""), Teller(occurrence("2", "project"), "project", "b.py:1")]
    tellers.append(Teller(occurrence("3", "project"), "project", "b.py:2"))
    table = {row[0]: row[1:] for row in rows(tellers, [True, True, False], [True, False, False])}
    assert table["file"] == ["1", "1", "100 %", "1", "100 %"]
    assert table["project"] == ["2", "1", "50.0 %", "0", "0.0 %"]
    assert table["no"][:2] == ["0", "0"]
    assert table["all"][:2] == ["3", "2"]


def test_one_finding_on_the_same_lines_is_of_what_is_told_first() -> None:
    tellers = [Teller(occurrence("1", "no"), "no", "x"), Teller(occurrence("1", "project"), "project", "b.py:1")]
    known = [occurrence("1", "file"), *(each.occurrence for each in tellers)]
    assert found_of([Finding(NET, "a.py", 1, 1, "TPL002")], tellers, known) == [False, False]
    two = [Finding(NET, "a.py", 1, column, "TPL002") for column in (1, 9)]
    assert found_of(two, tellers, known) == [False, True]


def test_what_the_project_tells_is_not_what_the_file_tells() -> None:
    judgement = judge([Finding(NET, "a.py", 1, 1, "TPL002")], [], [occurrence("1", "project"), occurrence("2", "no")])
    tally = judgement.rules["TPL002"]
    assert (tally.occurrences, tally.undecidable_found, tally.undecidable_missed) == (0, 1, 1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("net\t1.0\ta.py\t1\tTPL002\tperhaps\tx", "what tells is"),
        ("net\t1.0\ta.py\t1\tTPL002\tproject\tb.py", "not a file and a line"),
        ("net\t1.0\ta.py\t1\tTPL002\tno\t", "unless the file does"),
        ("net\t1.0\ta.py\t1\tTPL002\tfile\tb.py:1", "unless the file does"),
    ],
)
def test_broken_row_is_named(tmp_path: Path, row: str, message: str) -> None:
    table = tmp_path / "other_files.tsv"
    table.write_text(f"package\tversion\tfile\tplace\tcode\ttells\twhere\n{row}\n", encoding="utf-8")
    with pytest.raises(LabelError, match=message):
        read_tellers(table)
