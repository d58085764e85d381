"""What the command writes to a terminal, for the tests that ask."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
import termios

from command import environment

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\x1b]*\x1b\\")
PROGRESS = re.compile(r"\x1b\[\?25l.*?\x1b\[1A\x1b\[2K", re.DOTALL)
"""The pictures of the progress bar, one upon the other, until they are taken away."""


def on_terminal(*arguments: str, columns: int = 80, **variables: str) -> str:
    """What the command writes where both its outputs are a terminal."""
    parent, child = pty.openpty()
    termios.tcsetwinsize(child, (24, columns))
    command = [sys.executable, "-m", "torchlint", "--no-cache", *arguments]
    if arguments[0] in ("rule", "--version"):
        command.remove("--no-cache")
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=child, stderr=child, env=environment(**{"TERM": "xterm", **variables})
    )
    os.close(child)
    written = b""
    with contextlib.suppress(OSError):  # that the other end is closed
        while part := os.read(parent, 65536):
            written += part
    os.close(parent)
    process.wait(timeout=60)
    text = written.decode().replace("\r\n", "\n")
    return PROGRESS.sub("", text)  # which is there where the machine is busy
