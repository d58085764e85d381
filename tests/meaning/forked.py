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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import numpy
import torch
import torch._dynamo  # what the first optimizer would import, which takes seconds

from outcomes import Outcome

MAIN = "main.py"
LIMIT = 20.0
"""Seconds that a run may take; on a machine at rest, programs end in under one."""

_END = "\0"
"""Stands behind what a program printed, and behind the exception."""

Files = Mapping[str, str]
"""A program: the texts of its files by their names. `MAIN` is the one that is run, the others it may import."""


def run(files: Files, limit: float = LIMIT) -> Outcome:
    """Runs a program in a process of its own."""
    return run_in_turn([files], limit)[0]


def run_in_turn(programs: Sequence[Files], limit: float = LIMIT) -> list[Outcome]:
    """Runs programs one after the other in the same process, which saves time; where one ends the process, the others are run
    in the next. What is left of a program in torch's own state may reach the ones behind it.
    """
    outcomes: list[Outcome] = []
    while len(outcomes) < len(programs):
        outcomes += _run_in_child(programs[len(outcomes) :], limit)
    return outcomes


def _run_in_child(programs: Sequence[Files], limit: float) -> list[Outcome]:
    """The outcomes of the first programs, at least one."""
    with tempfile.TemporaryDirectory(prefix="meaning-") as folder:
        for number, files in enumerate(programs):
            Path(folder, str(number)).mkdir()
            for name, text in files.items():
                Path(folder, str(number), name).write_text(text, encoding="utf-8")
        reading, writing = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _run_here([os.path.join(folder, str(number)) for number in range(len(programs))], writing)
        os.close(writing)
        return _outcomes(child, reading, limit * len(programs))


def _outcomes(child: int, reading: int, limit: float) -> list[Outcome]:
    """What the programs of a process that was just started come to; it is killed when its time is over."""
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
    *ended, rest = b"".join(pieces).decode("utf-8", "replace").split(_END)
    outcomes = [Outcome(printed, error or None) for printed, error in zip(ended[::2], ended[1::2])]
    if late:
        outcomes.append(Outcome(rest, f"took more than {limit:g} s"))
    elif status != 0:
        outcomes.append(Outcome(rest, f"the process ended with status {os.waitstatus_to_exitcode(status)}"))
    return outcomes


def _run_here(folders: Sequence[str], writing: int) -> NoReturn:
    """Runs the programs in some folders in this process, writes to the pipe what they come to, and ends the process."""
    status = 1
    try:
        os.dup2(writing, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (as long as the process)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.dont_write_bytecode = True
        sys.argv = [MAIN]
        torch.set_num_threads(1)
        for folder in folders:
            with _state_restored():
                error = _execute(folder)
            sys.stdout.write(f"{_END}{error}{_END}")
            sys.stdout.flush()
        status = 0
    finally:
        os._exit(status)


def _execute(folder: str) -> str:
    """Runs the program in ``folder`` as Python runs a script; returns the exception that ended it, or nothing."""
    sys.path.insert(0, folder)
    os.chdir(folder)
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    main = types.ModuleType("__main__")
    main.__file__ = os.path.join(folder, MAIN)
    sys.modules["__main__"] = main
    text = Path(MAIN).read_text(encoding="utf-8")
    try:
        exec(compile(text, MAIN, "exec", dont_inherit=True), main.__dict__)
    except BaseException as raised:
        return f"{type(raised).__name__}: {raised}"
    return ""


@contextlib.contextmanager
def _state_restored() -> Iterator[None]:
    """Leaves the modules, the path, and what torch is set to, as they were."""
    modules, path, printing = dict(sys.modules), list(sys.path), sys.stdout
    try:
        yield
    finally:
        sys.path[:], sys.stdout = path, printing
        for name in sys.modules.keys() - modules.keys():
            del sys.modules[name]
        sys.modules.update(modules)
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
