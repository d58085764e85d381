"""The whole scripts that were run before and after the fixes, and what the page says of them; the runs are made by hand."""

from __future__ import annotations

import csv
from pathlib import Path

TABLE = Path(__file__).with_name("whole_scripts.tsv")
PAGE = Path(__file__).parents[2] / "docs" / "moving-to-torch-2.md"
SCRIPTS = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()[1:], delimiter="\t", strict=True))


def counted(said: str) -> int:
    """How many warnings a cell tells of: the number of each stands behind it."""
    return 0 if said == "none" else sum(int(each.rpartition("(")[2].rstrip(")")) for each in said.split("; "))


def test_ten_scripts_warn_before_and_not_after() -> None:
    mended = [each for each in SCRIPTS if counted(each["warned before"]) and not counted(each["warned after"])]
    ran = [each for each in mended if not each["ended before"].startswith("raises")]
    assert len({(each["repository"], each["script"]) for each in SCRIPTS}) == len(SCRIPTS) == 17
    assert (len(mended), len(ran), sum(each["fixes"] == "safe" for each in mended)) == (15, 9, 6)
    assert [each["script"] for each in ran if each["loss before"] != each["loss after"]] == []
    assert [each["script"] for each in SCRIPTS if each["ended after"].startswith("raises")] == []


def test_page_says_the_same() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for each in SCRIPTS:
        before, after = (f"{counted(each[f'warned {when}'])} warnings, {each[f'ended {when}']}" for when in ("before", "after"))
        name = each["repository"].partition("/")[2]
        assert f"| {name} | `{each['script']}` | {each['findings']} | {each['fixes']} | {before} | {after} |" in text
