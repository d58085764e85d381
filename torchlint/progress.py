"""A progress bar for runs that take a while, on terminals only."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm

_DELAY = 1.0
"""Seconds that a run may take without saying anything."""


class Progress:
    """Shows how many of ``total`` files are done, on ``stream`` if that is a terminal."""

    def __init__(self, total: int, stream: TextIO) -> None:
        self._bar: tqdm[Any] | None = None
        if stream.isatty() and os.environ.get("TERM") != "dumb":
            from tqdm import tqdm

            self._bar = tqdm(total=total, delay=_DELAY, file=stream, leave=False, unit="file", desc="Linting")

    def advance(self, count: int) -> None:
        """``count`` more files are done."""
        if self._bar is not None:
            self._bar.update(count)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()
