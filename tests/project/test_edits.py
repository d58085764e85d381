"""A short form of the random edits of random projects, and that they would tell of a cache that forgets to look."""

from __future__ import annotations

from pathlib import Path

import pytest
from edits import walk

from torchlint.engine import runner


@pytest.fixture(autouse=True)
def _however_small_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_SMALL_JOB", 0)


def test_what_the_cache_knows_is_what_a_fresh_run_finds(tmp_path: Path) -> None:
    seen = walk(tmp_path, steps=40, seed=3)
    assert seen.steps == 40
    assert seen.findings > 40
    assert seen.by_others > 0


def test_results_that_another_file_outdated_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "still_hold", lambda *asked: True)
    with pytest.raises(AssertionError, match=r"^step \d+, "):
        walk(tmp_path, steps=100, seed=3)
