"""A progress bar for runs that take a while, on terminals only."""

from __future__ import annotations

from math import inf
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from torchlint.cli.terminal import console, is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_DELAY = 1.0
"""Seconds that a run may take without saying anything."""
_PAUSE = 0.1
"""Seconds between two pictures of the bar."""


class Progress:
    """Shows how many of ``total`` files are done, on ``stream`` if that is a terminal and ``wanted``."""

    def __init__(self, total: int, stream: TextIO, *, wanted: bool = True, color: str = "auto") -> None:
        self._total, self._stream, self._color = total, stream, color
        self._due = monotonic() + _DELAY if wanted and is_terminal(stream) else inf
        self._done = 0
        self._bar: tuple[Bar, TaskID] | None = None

    def advance(self, count: int) -> None:
        """``count`` more files are done."""
        self._done += count
        if monotonic() >= self._due:
            bar, task = self._bar = self._bar or self._started()
            bar.update(task, completed=self._done, refresh=True)
            self._due = monotonic() + _PAUSE

    def _started(self) -> tuple[Bar, TaskID]:
        from rich import progress  # which takes longer to import than a few files to lint

        columns = (
            *(progress.TextColumn("Linting"), progress.BarColumn(), progress.MofNCompleteColumn()),
            *(progress.TextColumn("files"), progress.TimeRemainingColumn()),
        )
        # no thread of its own: beside one, no process may be forked
        bar = progress.Progress(
            *columns, console=console(self._stream, self._color), auto_refresh=False, transient=True, redirect_stdout=False
        )
        bar.start()
        bar.console.show_cursor()  # lest it be gone for good where the run is killed
        return bar, bar.add_task("", total=self._total)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar[0].stop()
