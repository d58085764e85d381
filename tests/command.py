"""The command as a user runs it, for the tests that do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torchlint

ROOT = Path(torchlint.__file__).parents[1]

USED = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TORCHLINT_DEBUG")


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in USED}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **more}


def torchlint_(
    *arguments: str, given: str | bytes | None = None, python: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command in the working directory; its output is decoded, with newlines as they are."""
    finished = subprocess.run(
        [sys.executable, *python, "-m", "torchlint", *arguments],
        input=given.encode() if isinstance(given, str) else given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        env=environment(**variables),
        timeout=60,
        check=False,
    )
    out, err = (stream.decode("utf-8", "surrogateescape") for stream in (finished.stdout, finished.stderr))
    return subprocess.CompletedProcess(finished.args, finished.returncode, out, err)
