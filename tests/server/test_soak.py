"""The soak in short: `python tests/server/soak.py` is the long form."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from soak import soak


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="looks at memory in /proc")
def test_after_random_edits_an_editor_shows_what_the_command_says(tmp_path: Path) -> None:
    run, wrong, sizes = asyncio.run(soak(tmp_path, 120, 60, seed=1, every=20))
    assert wrong == []
    assert run.edits == 60
    assert run.compared == 16
    assert all(len(each) == 2 for each in sizes)
