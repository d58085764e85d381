"""A cache of which nothing can be trusted is lived with: a few of the mutants that ``caches.py`` makes."""

from __future__ import annotations

from pathlib import Path

from caches import try_out


def test_spoilt_caches_are_lived_with(tmp_path: Path) -> None:
    assert try_out(tmp_path, mutants=45, seed=5) == []
