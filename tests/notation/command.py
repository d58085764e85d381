"""The command as a user runs it, for the tests that do."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torchlint

ROOT = Path(torchlint.__file__).parents[1]

USED = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TORCHLINT_DEBUG")
SECONDS = 60
"""How long a run may take."""


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in USED}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **more}


def torchlint_(
    *arguments: str, given: str | bytes | None = None, python: tuple[str, ...] = (), anew: bool = False, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command in the working directory; its output is decoded, with newlines as they are.

    The process is a fork of one that has imported all that the command may need, see `warm.py`; or one that Python starts
    ``anew``, as it does with options of its own, with variables that it reads itself, and where there are no forks.
    """
    data = given.encode() if isinstance(given, str) else given
    wanted = environment(**variables)
    found = None if anew or python else _run_warm(arguments, data, wanted)
    if found is None:
        finished = subprocess.run(
            [sys.executable, *python, "-m", "torchlint", *arguments],
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            env=wanted,
            timeout=SECONDS,
            check=False,
        )
        found = finished.returncode, finished.stdout, finished.stderr
    out, err = (stream.decode("utf-8", "surrogateescape") for stream in found[1:])
    return subprocess.CompletedProcess(arguments, found[0], out, err)


# --- forks of a process that has imported the command ----------------------------------------------------------------

Finished = tuple[int, bytes, bytes]


def _run_warm(arguments: Sequence[str], given: bytes | None, wanted: Mapping[str, str]) -> Finished | None:
    """What a fork comes to; nothing where a process has to be started anew."""
    if not (hasattr(os, "fork") and hasattr(socket, "send_fds")):
        return None
    warm = _warm()
    if warm.starts_otherwise(wanted) or not warm.free.acquire(blocking=False):
        return None
    with contextlib.ExitStack() as stack:
        stack.callback(warm.free.release)
        return warm.run(arguments, given, wanted)


@functools.cache
def _warm() -> _Warm:
    return _Warm()


class _Warm:
    """A process of `warm.py`, which ends when this one does."""

    def __init__(self) -> None:
        self.free = threading.Lock()
        self._variables = environment()
        self._control, other = socket.socketpair()
        with other:
            program = [sys.executable, str(Path(__file__).with_name("warm.py")), str(other.fileno())]
            descriptors = [other.fileno()]
            pipe = subprocess.PIPE  # for Python to make its streams for pipes, which those of a run take the place of
            process = subprocess.Popen(
                program, pass_fds=descriptors, env=self._variables, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe
            )
        self._answers = self._control.makefile("rb")
        atexit.register(process.wait)
        atexit.register(self._control.shutdown, socket.SHUT_RDWR)

    def starts_otherwise(self, wanted: Mapping[str, str]) -> bool:
        """Whether Python itself would read other variables."""
        names = {name for name in {*wanted, *self._variables} if name.startswith(("PYTHON", "LC_", "LANG"))}
        return any(wanted.get(name) != self._variables.get(name) for name in names)

    def run(self, arguments: Sequence[str], given: bytes | None, wanted: Mapping[str, str]) -> Finished:
        """Runs the command with these arguments, this input and these variables."""
        its_in, stdin = os.pipe() if given is not None else (os.open(os.devnull, os.O_RDONLY), None)
        (stdout, its_out), (stderr, its_err) = os.pipe(), os.pipe()
        its_own = [os.open(".", os.O_RDONLY), its_in, its_out, its_err]
        asked = json.dumps({"arguments": arguments, "environment": dict(wanted)}).encode()
        message = b"%d\n%s" % (len(asked), asked)
        sent = socket.send_fds(self._control, [message], its_own)
        self._control.sendall(message[sent:])
        for each in its_own:
            os.close(each)
        process = int(self._answers.readline())
        read: dict[int, bytes] = {}
        tasks: list[Callable[[], object]] = [
            lambda: read.update({1: _all_of(stdout)}),
            lambda: read.update({2: _all_of(stderr)}),
        ]
        if stdin is not None:
            tasks.append(lambda: _give(stdin, given or b""))
        threads = [threading.Thread(target=task) for task in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
            if thread.is_alive():
                os.kill(process, signal.SIGKILL)
                self._answers.readline()
                raise subprocess.TimeoutExpired(list(arguments), SECONDS)
        return int(self._answers.readline()), read[1], read[2]


def _all_of(descriptor: int) -> bytes:
    with open(descriptor, "rb") as stream:
        return stream.read()


def _give(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb") as stream:
        stream.write(data)
