"""Runs the command in forks of one process that has imported it: ``python warm.py SOCKET``, which `command.py` starts.

Each run has arguments, environment, working directory, standard streams and a process of its own, and ends as Python ends. It
is spared to load libraries, libcst and the rules, which is most of what a run over a small file takes.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import socket
import sys
from dataclasses import dataclass

import torchlint
from torchlint.rules import all_rules

NEEDS_MORE = ("torchlint.server", "torchlint.flake8_plugin", "torchlint.__main__")
"""What imports packages that need not be there, or runs."""


def load() -> None:
    """Imports all that a run may need."""
    for found in pkgutil.walk_packages(torchlint.__path__, "torchlint.", onerror=lambda _: None):
        if not found.name.startswith(NEEDS_MORE):
            importlib.import_module(found.name)
    all_rules()
    gc.collect()
    gc.freeze()


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be run, and for whom."""

    arguments: list[str]
    environment: dict[str, str]


def receive(control: socket.socket) -> tuple[Asked | None, list[int]]:
    """What to run, and the working directory and the three standard streams for it; nothing when there is no more to do."""
    data, streams, _, _ = socket.recv_fds(control, 1 << 16, 4)
    length, _, rest = data.partition(b"\n")
    while length and len(rest) < int(length):
        rest += control.recv(1 << 16)
    return (Asked(**json.loads(rest)) if length else None), streams


def serve(control: socket.socket) -> Asked:
    """Answers each request with the number of a process, and with its status when it has ended; in such a process, returns."""
    while True:
        asked, streams = receive(control)
        if asked is None:
            os._exit(0)
        child = os.fork()
        if child == 0:
            control.close()
            os.fchdir(streams[0])
            for number, stream in enumerate(streams[1:]):
                os.dup2(stream, number)
        for stream in streams:
            os.close(stream)
        if child == 0:
            return asked
        control.sendall(b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    load()
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    os.environ.clear()
    os.environ.update(asked.environment)
    sys.argv[1:] = asked.arguments
    sys.path[0] = ""
    runpy.run_module("torchlint", run_name="__main__", alter_sys=True)
