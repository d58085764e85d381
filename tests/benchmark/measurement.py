"""Whole processes, timed: programs take turns, and what counts is the median."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_RESIDENT_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Command:
    """One program with its arguments: ``shown`` is what a reader would type, where that differs from the arguments."""

    label: str
    arguments: tuple[str, ...]
    folder: Path
    variables: Mapping[str, str]
    shown: str
    once: bool = False
    """Whether it is too slow to be run more than once."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took: elapsed time, processor time with that of the processes it started, and the most memory that any
    one of them had resident."""

    seconds: float
    processor: float
    peak: int


@dataclass(frozen=True, slots=True)
class Series:
    """All runs of one command."""

    command: Command
    runs: tuple[Run, ...]

    @property
    def seconds(self) -> float:
        """The median."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def processor(self) -> float:
        """The median of the processor time."""
        return statistics.median(run.processor for run in self.runs)

    @property
    def peak(self) -> int:
        """The most resident bytes of any process in any run."""
        return max(run.peak for run in self.runs)


class CommandFailed(Exception):
    """A measured command ended as it must not: what it took says nothing."""


def alternated(commands: Sequence[Command], rounds: int) -> list[Series]:
    """Runs the commands in turn, ``rounds`` times, each round starting with another; those for ``once`` in the first only.

    The others run once before that, unmeasured, so that files and programs are in the system's cache for all. Raises
    `CommandFailed`.
    """
    runs: dict[int, list[Run]] = {index: [] for index in range(len(commands))}
    for command in commands:
        if not command.once:
            measured(command)
    for number in range(rounds):
        for step in range(len(commands)):
            index = (number + step) % len(commands)
            if number == 0 or not commands[index].once:
                runs[index].append(measured(commands[index]))
                print(f"    {commands[index].label}: {runs[index][-1].seconds:.3f} s", file=sys.stderr)
    return [Series(command, tuple(runs[index])) for index, command in enumerate(commands)]


def measured(command: Command) -> Run:
    """Runs a command; raises `CommandFailed` where the exit code is neither "clean" nor "findings"."""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command.arguments,
            cwd=command.folder,
            env=command.variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)  # counts in the processes that this one waited for
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            output.seek(0)
            tail = output.read()[-2000:].decode("utf-8", "replace")
            raise CommandFailed(f"`{command.shown}` ended with {process.returncode}:\n{tail}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _RESIDENT_UNIT)
