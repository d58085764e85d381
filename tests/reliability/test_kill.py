"""A short run of the kill test; `kill.py` is the long one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from kill import FILES_PER_FOLDER, FOLDERS, kill_often


@pytest.mark.skipif(sys.platform == "win32", reason="of processes as POSIX has them")
def test_files_are_old_or_new_after_a_kill(tmp_path: Path) -> None:
    tally = kill_often(12, 0, tmp_path)
    assert tally.damaged == []
    assert tally.kills == 12
    assert set(tally.states) <= {"old", "new"}
    assert tally.files >= 12 * FOLDERS * FILES_PER_FOLDER
