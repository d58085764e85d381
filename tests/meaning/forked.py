"""Runs programs, each in a process of its own that is forked from this one, which has imported torch and computes nothing.

A run starts with the same random numbers and one thread, in a temporary working directory that holds the program's files.
What it prints comes through a pipe. The exception that ends it counts as output, with its type and message; warnings and what
is written to the standard error do not.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import numpy
import torch
import torch._dynamo  # what the first optimizer would import, which takes seconds

from outcome import Outcome

MAIN = "main.py"
LIMIT = 20.0
"""Seconds that a run may take; on a machine at rest, programs end in under one."""

_END = "\0"
"""Stands between what a program printed and the exception."""


def run(files: Mapping[str, str], limit: float = LIMIT) -> Outcome:
    """Runs the program whose files these are, by their names; `MAIN` is the one that is run, the others it may import."""
    with tempfile.TemporaryDirectory(prefix="meaning-") as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        reading, writing = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _run_here(folder, writing)
        os.close(writing)
        return _outcome(child, reading, limit)


def _outcome(child: int, reading: int, limit: float) -> Outcome:
    """What a process that was just started comes to, which is killed when its time is over."""
    end = time.monotonic() + limit
    pieces: list[bytes] = []
    late = False
    with open(reading, "rb", buffering=0) as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            late = not ready
            piece = pipe.read(1 << 16) if ready else b""
            if not piece:
                break
            pieces.append(piece)
    if late:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    printed, ended, error = b"".join(pieces).decode("utf-8", "replace").partition(_END)
    if late:
        return Outcome(printed, f"took more than {limit:g} s")
    if not ended:
        return Outcome(printed, f"the process ended with status {os.waitstatus_to_exitcode(status)}")
    return Outcome(printed, error or None)


def _run_here(folder: str, writing: int) -> NoReturn:
    """Runs the program in ``folder`` in this process, writes to the pipe what it came to, and ends the process."""
    error = ""
    try:
        os.dup2(writing, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (as long as the process)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.chdir(folder)
        _execute(folder)
    except BaseException as raised:
        error = f"{type(raised).__name__}: {raised}"
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.write(_END + error)
            sys.stdout.flush()
        os._exit(0)


def _execute(folder: str) -> None:
    """Runs the program in ``folder`` as Python runs a script."""
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    main = types.ModuleType("__main__")
    main.__file__ = os.path.join(folder, MAIN)
    sys.modules["__main__"] = main
    sys.argv = [MAIN]
    text = Path(MAIN).read_text(encoding="utf-8")
    exec(compile(text, MAIN, "exec"), main.__dict__)
