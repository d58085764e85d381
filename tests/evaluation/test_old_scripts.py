"""The tables about scripts of 2017 and 2018, and what the page says of them; the runs themselves are made by hand."""

from __future__ import annotations

import csv
import re
from pathlib import Path

EVALUATION = Path(__file__).parent


def rows(name: str) -> list[dict[str, str]]:
    with (EVALUATION / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", strict=True))


def page() -> str:
    return " ".join((EVALUATION / "README.md").read_text(encoding="utf-8").split())


def test_idioms_are_counted_as_the_page_says() -> None:
    scripts = rows("old_idioms.tsv")
    before, left = (sum(int(script[column]) for script in scripts) for column in ("before", "left"))
    touched = sum(script["left"] != "0" for script in scripts)
    assert f"names {len(scripts)} scripts" in page()
    assert f"Of {before} idioms {left} are left, in {touched} of the scripts." in page()
    assert len({script["repository"] for script in scripts}) == len(scripts)


def test_each_idiom_that_is_left_has_a_reason() -> None:
    assert [script["script"] for script in rows("old_idioms.tsv") if (script["left"] != "0") != bool(script["why"])] == []


def test_runs_are_counted_as_the_page_says() -> None:
    runs = [(script["before"] == "runs", script["after"] == "runs") for script in rows("old_scripts.tsv")]
    assert f"names {len(runs)} scripts" in page()
    assert f"| raised before, run to their end after | {runs.count((False, True))} |" in page()
    assert f"| run before and after | {runs.count((True, True))} |" in page()
    assert f"| raise before and after | {runs.count((False, False))} |" in page()
    assert (True, False) not in runs


def test_each_script_that_still_fails_has_a_reason() -> None:
    assert [script["script"] for script in rows("old_scripts.tsv") if (script["after"] != "runs") != bool(script["why"])] == []


def test_commits_are_written_out() -> None:
    scripts = rows("old_idioms.tsv") + rows("old_scripts.tsv")
    assert [script for script in scripts if not re.fullmatch(r"[0-9a-f]{40}", script["commit"])] == []
