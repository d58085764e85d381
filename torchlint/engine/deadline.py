"""A limit on the processor time that a piece of work may take."""

from __future__ import annotations

import signal
import sys
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
    the main thread, there is no limit. What is raised may get lost on its way, in the callback of a weak reference, or come
    out of Python's parser as another error; that time is up is told in the end whatever became of it.
    """
    if not seconds or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    is_up = False

    def ring(signum: int, frame: FrameType | None) -> None:
        nonlocal is_up
        is_up = True
        raise TimeIsUpError

    def unraisable(lost: sys.UnraisableHookArgs) -> None:
        if lost.exc_type is not TimeIsUpError:
            hook(lost)

    before = signal.signal(signal.SIGVTALRM, ring)
    hook, sys.unraisablehook = sys.unraisablehook, unraisable
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
    try:
        yield
    except Exception:
        if not is_up:
            raise
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        sys.unraisablehook = hook
    if is_up:
        raise TimeIsUpError
