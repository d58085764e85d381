"""``torchlint server``: the language server on the standard streams."""

from __future__ import annotations

import argparse
import os
import signal
from importlib.util import find_spec

from torchlint.cli.exits import CLEAN, refuse

_MISSING = "the language server needs pygls, which is not installed here: pip install 'torchlint[server]'"


def serve(options: argparse.Namespace) -> int:
    """Serves one client on the standard streams; returns the exit code, if it comes to that."""
    if not _has_pygls():
        return refuse(_MISSING, "torchlint server: error")
    from torchlint.server.language_server import main

    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)  # nothing but the protocol may write there
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's, which the client acts upon
    main(stdin, stdout)
    return CLEAN


def _has_pygls() -> bool:
    try:
        return find_spec("pygls") is not None
    except ValueError:  # somebody has put None in its place
        return False
