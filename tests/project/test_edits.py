"""A short form of the random edits of random projects, and that they would tell of a cache that forgets to look."""

from __future__ import annotations

from pathlib import Path

import pytest
from edits import SETTLED, walk

from torchlint.engine import runner
from torchlint.project import held


@pytest.fixture(autouse=True)
def _however_small_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_SMALL_JOB", 0)
    monkeypatch.setattr(held, "FEW", 0)
    monkeypatch.setattr(held, "TICK", SETTLED // 2)


def test_what_the_cache_knows_is_what_a_fresh_run_finds(tmp_path: Path) -> None:
    seen = walk(tmp_path, steps=40, seed=3)
    assert seen.steps == 40
    assert seen.findings > 40
    assert seen.by_others > 0


def test_results_that_another_file_outdated_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "still_hold", lambda *asked: True)
    with pytest.raises(AssertionError, match=r"^step \d+, "):
        walk(tmp_path, steps=100, seed=3)


def test_a_stamp_that_does_not_change_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "stamp", lambda root: "always the same")
    with pytest.raises(AssertionError, match=r"^step \d+, "):
        walk(tmp_path, steps=100, seed=3)
