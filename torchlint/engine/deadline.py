"""A limit on the processor time that a piece of work may take."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN = 1.0
"""The seconds after which it is said again that time is up, for where nobody was there to hear it."""


class TimeIsUpError(BaseException):
    """Raised wherever the work is when its time is up; nothing that handles errors of the work handles it."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raises `TimeIsUpError` in what it is around once that has taken so many seconds of processor time; 0 is no limit.

    The clock is that of the process, so that a busy machine makes no difference. Where there is none (on Windows), and beside
    the main thread, there is no limit.
    """
    if not seconds or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _ring(signum: int, frame: FrameType | None) -> None:
    raise TimeIsUpError
