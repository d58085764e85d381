"""Whether what is written is seen on a terminal, and what draws there. rich is imported where something is drawn."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

WHEN = ("auto", "always", "never")
"""When there are colours: on terminals, unless NO_COLOR or FORCE_COLOR say something else; or as the user says."""


def is_terminal(stream: TextIO) -> bool:
    """Whether ``stream`` is a terminal that can do more than write."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def console(stream: TextIO, when: str = "auto") -> Console | None:
    """What draws on ``stream``; None where text is written as it is: in pipes and files, unless colours are asked for.

    Without colours, a terminal still gets lines of its width.
    """
    coloured = _coloured(when)
    if is_terminal(stream):
        from rich.console import Console

        return Console(file=stream, force_terminal=True, color_system=None if coloured is False else "auto", no_color=False)
    if coloured:
        from rich.console import Console

        return Console(file=stream, force_terminal=True, color_system="standard", no_color=False, soft_wrap=True)
    return None


def _coloured(when: str) -> bool | None:
    """Whether there are to be colours; None where that depends on the stream."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    return forced.lower() not in ("0", "false") if forced else None
