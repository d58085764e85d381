"""A progress bar for runs that take a while, on terminals only."""

from __future__ import annotations

import os
from math import inf
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm

_DELAY = 1.0
"""Seconds that a run may take without saying anything."""


class Progress:
    """Shows how many of ``total`` files are done, on ``stream`` if that is a terminal and ``wanted``."""

    def __init__(self, total: int, stream: TextIO, *, wanted: bool = True) -> None:
        self._total, self._stream = total, stream
        self._due = monotonic() + _DELAY if wanted and stream.isatty() and os.environ.get("TERM") != "dumb" else inf
        self._done = 0
        self._bar: tqdm[Any] | None = None

    def advance(self, count: int) -> None:
        """``count`` more files are done."""
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        elif monotonic() >= self._due:
            from tqdm import tqdm  # which takes longer to import than a few files to lint

            self._bar = tqdm(total=self._total, initial=self._done, file=self._stream, leave=False, unit="file", desc="Linting")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()
