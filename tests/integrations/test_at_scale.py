"""The pipeline of docs/at-scale.md on a local Ray with two workers; they are killed in the middle, and so is the program."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import torchlint_

pytest.importorskip("ray.data", reason="needs Ray: the extra `scale`")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is killed in this way there")

PROGRAM = Path(__file__).parents[2] / "docs" / "example-pipeline" / "pipeline.py"
TYPO = "import torch\n\nw = torch.zeros(3)\nw.requres_grad = True\n"
OLD = "import torch\nfrom torch.autograd import Variable\n\nx = Variable(torch.zeros(3))\n"
NEW = "import torch\nfrom torch.autograd import Variable\n\nx = torch.zeros(3)\n"
LONG = "import torch\n" + "".join(f"def f{i}(x):\n    y = x.data\n    y.add_(1)\n    return y.data\n" for i in range(20_000))
TEXTS = ("x = 1\n", TYPO, OLD, "")
GROUP = 6
ROWS = 8 * GROUP
UNREADABLE, DEADLY, SLOW, LAST = GROUP - 1, GROUP + 1, 3 * GROUP + 2, ROWS - 3
"""Rows that are no Python, on which processes end, which take too long, and at which the program is killed."""


def text_of(row: int) -> str:
    return {UNREADABLE: "import torch\nx = (\n", DEADLY: LONG, SLOW: LONG, LAST: LONG}.get(row, TEXTS[row % len(TEXTS)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the sources, in eight row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sources = pa.table({"name": [f"{row:02}.py" for row in range(ROWS)], "text": [text_of(row) for row in range(ROWS)]})
    pq.write_table(sources, tmp_path / "sources.parquet", row_group_size=GROUP)
    return tmp_path


@pytest.fixture
def ray_home() -> Iterator[str]:
    """Where Ray keeps its sockets, the names of which may not be long."""
    home = tempfile.mkdtemp(prefix="ray")
    yield home
    shutil.rmtree(home, ignore_errors=True)


def started(folder: Path, home: str) -> subprocess.Popen[str]:
    ray = {
        "RAY_TMPDIR": home,
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",  # with Ray's 15, a machine that is busy with anything else leaves them almost no time
    }
    environment = os.environ | ray
    arguments = ("sources.parquet", "results", "--workers", "2", "--timeout", "4")
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def worker_at(results: Path, row: int) -> int | None:
    """The process that is at a row, if one is."""
    group, at = divmod(row, GROUP)
    try:
        *_, last = (results / f".{group:06}.journal").read_text().split("try ")
    except FileNotFoundError:
        return None
    match last.split():
        case [process, *_, current] if int(current) == at:
            return int(process)
    return None


def interrupt(results: Path) -> int:
    """Kills two processes at one row, and holds the one that comes to the last until nothing else is left; returns that one.

    In which order Ray runs row groups again, and how long it takes to start a process for them, does not matter to this.
    """
    killed: set[int] = set()
    held = None
    end = time.monotonic() + 300
    while time.monotonic() < end:
        deadly = worker_at(results, DEADLY)
        if deadly is not None and deadly not in killed and len(killed) < 2:
            os.kill(deadly, signal.SIGKILL)
            killed.add(deadly)
        if held is None and (held := worker_at(results, LAST)) is not None:
            os.kill(held, signal.SIGSTOP)
        if held is not None and len(states(results)) == 7:
            assert len(killed) == 2
            return held
        time.sleep(0.01)
    raise AssertionError(f"{len(killed)} were killed, {held} is held, and there are {sorted(states(results))}")


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def read(results: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    return [row for file in sorted(results.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def states(results: Path) -> dict[str, tuple[int, int]]:
    return {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in results.glob("*.parquet")}


def test_whoever_is_killed_each_source_has_one_row_of_results(
    folder: Path, ray_home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = folder / "results"
    program = started(folder, ray_home)
    last = None
    try:
        last = interrupt(results)
    finally:
        program.kill()
        if last is not None:
            os.kill(last, signal.SIGCONT)
        program.communicate()
    end = time.monotonic() + 60
    while is_there(last) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_there(last), "Ray ends with the program that started it"
    before = states(results)
    assert [*sorted(before)] == [f"{group:06}.parquet" for group in range(7)], "the last row group is not done"
    assert any(results.glob(".*.unfinished"))

    again = started(folder, ray_home)
    printed, errors = again.communicate()
    assert again.returncode == 0, errors
    assert "1 row groups to lint\n" in printed
    after = states(results)
    assert {name: after[name] for name in before} == before, "what was there is left alone"
    assert {path.name for path in results.iterdir()} == {"_made_of.json", *(f"{group:06}.parquet" for group in range(8))}

    rows = read(results)
    assert [row["name"] for row in rows] == [f"{row:02}.py" for row in range(ROWS)]
    failures = {int(row["name"][:2]): row["failure"] for row in rows if row["failure"]}
    assert failures == {UNREADABLE: "invalid-syntax", DEADLY: "crash", SLOW: "timeout", LAST: "timeout"}
    assert rows[DEADLY]["message"] == "the process ended on it 2 times"
    assert [row["fixed"] for row in rows[:5]] == [None, TYPO.replace("requres", "requires"), NEW, None, None]
    monkeypatch.chdir(folder)
    assert found(rows) == found_by_command(folder)
    lines = {line.split()[1]: int(line.split()[0]) for line in printed.splitlines()[2:]}
    assert lines == {"TPL005": 10, "TPL101": 12, "invalid-syntax": 1, "crash": 1, "timeout": 2}


def found(rows: list[dict[str, Any]]) -> list[tuple[str, str, int, int, str]]:
    return [
        (row["name"], each["code"], each["row"], each["column"], each["message"]) for row in rows for each in row["findings"]
    ]


def found_by_command(folder: Path) -> list[tuple[str, str, int, int, str]]:
    """What the command finds in files with the same texts, but for those that it cannot get to the end of."""
    for row in range(ROWS):
        if row not in (DEADLY, SLOW, LAST):
            (folder / f"{row:02}.py").write_text(text_of(row))
    finished = torchlint_("--isolated", "--no-cache", "--no-project", "--output-format", "json", ".")
    return [
        (os.path.basename(each["filename"]), each["code"], each["location"]["row"], each["location"]["column"], each["message"])
        for each in json.loads(finished.stdout)
        if each["code"].startswith("TPL")
    ]


def test_results_of_something_else_are_not_mixed_in(folder: Path, ray_home: str) -> None:
    results = folder / "results"
    results.mkdir()
    (results / "_made_of.json").write_text('{"torchlint": "0.1"}')
    program = started(folder, ray_home)
    printed, errors = program.communicate()
    assert (program.returncode, printed) == (1, "")
    assert errors.startswith("results has results of something else: ")
    assert list(results.iterdir()) == [results / "_made_of.json"]
