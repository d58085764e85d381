"""Kills ``torchlint --fix`` at random moments, and looks at every file afterwards: ``kill.py --times N --seed S``.

A tree of files with something to fix is made anew for each run. The command is started on it and killed with SIGKILL a random
moment after it has replaced a randomly chosen file; then every file must be there, hold its old or its new text, to the byte,
and have its old mode. A third of the runs has several processes; in a third only the parent is killed. A last run to the end
must leave the tree fixed, and nothing else in it.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

SOURCE_ROOT = Path(__file__).parents[2]
FOLDERS = 8
FILES_PER_FOLDER = 9
OLD = "import torch\n\nmarker = {number}\nparameter = torch.ones(1)\nparameter.requres_grad = False\n{filler}"
NEW = OLD.replace("requres_grad", "requires_grad")
_MOMENT = 0.02
"""Seconds within which the kill comes once the command is at the chosen file: several files' worth."""
FILLER = "# filler, such that writing takes a moment\n" * 700


@dataclass
class Tally:
    """What a series of kills came to."""

    kills: int = 0
    ended_before: int = 0
    files: int = 0
    states: Counter[str] = field(default_factory=Counter)
    leftovers: set[Path] = field(default_factory=set)
    damaged: list[str] = field(default_factory=list)


def texts(number: int) -> tuple[bytes, bytes]:
    """The old and the new content of the file with a number."""
    filler = FILLER if number % 5 == 0 else ""
    newline = "\r\n" if number % 7 == 0 else "\n"
    old, new = (text.format(number=number, filler=filler).replace("\n", newline).encode() for text in (OLD, NEW))
    return (b"\xef\xbb\xbf" + old, b"\xef\xbb\xbf" + new) if number % 11 == 0 else (old, new)


def contents(root: Path) -> dict[Path, tuple[bytes, bytes]]:
    """The files of the tree with their old and new content."""
    return {
        root / f"folder{number % FOLDERS}" / f"file{number}.py": texts(number) for number in range(FOLDERS * FILES_PER_FOLDER)
    }


def make_tree(root: Path) -> dict[Path, tuple[bytes, bytes]]:
    """Makes the files; gives them as `contents` does."""
    expected = contents(root)
    for number, (path, (old, _)) in enumerate(expected.items()):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(old)
        path.chmod(0o640 if number % 2 else 0o755)
    return expected


def start(root: Path, jobs: int) -> subprocess.Popen[bytes]:
    """Starts the command on the tree, in a process group of its own."""
    arguments = ["--isolated", "--no-cache", "--select", "TPL005", "--fix", "--jobs", str(jobs), "."]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE_ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "torchlint", *arguments],
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_until_replaced(path: Path, inode: int, process: subprocess.Popen[bytes]) -> None:
    """Waits until the command has replaced a file, or ended."""
    while process.poll() is None and path.stat().st_ino == inode:
        time.sleep(0.0005)


def kill_once(root: Path, chance: random.Random, turn: int, tally: Tally) -> None:
    """Starts the command, kills it a moment after it has come to some file, and looks at all files."""
    expected = make_tree(root)
    watched = chance.choice(sorted(expected))
    inode = watched.stat().st_ino
    process = start(root, jobs=4 if turn % 3 == 0 else 1)
    wait_until_replaced(watched, inode, process)
    time.sleep(chance.uniform(0, _MOMENT))
    running = process.poll() is None
    tally.kills += running
    tally.ended_before += not running
    if running and turn % 3 != 1:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    wait_for_group(process.pid)
    inspect(expected, tally)
    tally.leftovers.update(leftovers(root))


def wait_for_group(group: int) -> None:
    """Waits until the workers of a killed parent have ended: they finish the file that they are at."""
    for _ in range(2000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.005)
    raise RuntimeError("workers outlive their parent by ten seconds")


def inspect(expected: dict[Path, tuple[bytes, bytes]], tally: Tally) -> None:
    """Counts which files are old, new, gone or damaged."""
    for number, (path, (old, new)) in enumerate(expected.items()):
        tally.files += 1
        try:
            content = path.read_bytes()
        except OSError:
            state = "gone"
        else:
            state = {old: "old", new: "new"}.get(content, "damaged")
            if path.stat().st_mode & 0o777 != (0o640 if number % 2 else 0o755):
                state = "of another mode"
        tally.states[state] += 1
        if state not in ("old", "new"):
            tally.damaged.append(f"{path.name}: {state}")


def leftovers(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and path.suffix != ".py"]


def kill_often(times: int, seed: int, root: Path) -> Tally:
    """Kills the command ``times`` times; gives what came of it."""
    chance = random.Random(seed)
    tally = Tally()
    while tally.kills < times:
        kill_once(root, chance, tally.kills, tally)
    start(root, 1).wait()
    left = [path for path, (_, new) in contents(root).items() if path.read_bytes() != new]
    tally.damaged += [f"{path.name}: not fixed in the end" for path in left]
    tally.damaged += [f"{path.name}: left behind in the end" for path in leftovers(root)]
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = kill_often(options.times, options.seed, Path(folder))
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, seed {options.seed}")
    states = ", ".join(f"{count} {state}" for state, count in sorted(tally.states.items()))
    print(f"kills: {tally.kills}; runs that had ended before: {tally.ended_before}")
    print(f"files in the tree: {FOLDERS * FILES_PER_FOLDER}; looked at: {tally.files}, of which {states}")
    print(f"temporary files that kills left, for later runs to remove: {len(tally.leftovers)}")
    print("\n".join(tally.damaged) or "no file lost or damaged, nothing left behind")
    return 1 if tally.damaged else 0


if __name__ == "__main__":
    sys.exit(main())
