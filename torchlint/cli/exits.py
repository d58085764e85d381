"""How the command ends: its exit codes, and what it says where it does nothing."""

from __future__ import annotations

import sys

CLEAN = 0
FINDINGS = 1
ERROR = 2
INTERRUPTED = 130


def refuse(message: str, start: str = "torchlint: error") -> int:
    """Says in one line on the standard error why nothing is done; returns the exit code."""
    from torchlint.diagnostic import printable

    print(printable(f"{start}: {message}"), file=sys.stderr)
    return ERROR
