"""Unified diffs of what fixes change."""

from __future__ import annotations

import difflib
import re

from torchlint.diagnostic import printable

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def unified_diff(old: str, new: str, filename: str) -> str:
    """The diff from ``old`` to ``new``, as `patch` reads it; newlines stand in it as they are in the text."""
    name = printable(filename)
    lines = difflib.unified_diff(_LINE.findall(old), _LINE.findall(new), name, name)
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in lines)
