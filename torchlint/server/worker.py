"""The process that does the work: takes jobs from its parent, one at a time, and can be told that one is no longer wanted.

It ends at once where its parent is gone, whatever it is doing: a thread waits for the end of the pipe.
"""

from __future__ import annotations

import _thread
import gc
import os
import pickle
import signal
import struct
import sys
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import FrameType
from typing import BinaryIO

from torchlint.server.jobs import Desk, Job

HEAD = struct.Struct(">Q")
"""What comes before each message: its length."""

_REST = 0.5
"""The seconds without a job after which what the last ones have left is collected."""
_MANY = 12
"""The jobs after which it is collected however busy it is."""


class StaleError(BaseException):
    """Raised wherever a job is that is no longer wanted; nothing that handles errors of the work handles it."""


def framed(message: object) -> bytes:
    """A message as it goes through the pipe."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(data)) + data


class Worker:
    """Takes ``(number, job)``, or ``(number, None)`` for a job that is not wanted any more; gives ``(number, answer)``.

    The answer to a job that was not wanted, or of which nothing came, is None.
    """

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests = requests
        self._answers = answers
        self._waiting: SimpleQueue[tuple[int, Job]] = SimpleQueue()
        self._stale: set[int] = set()
        self._running: int | None = None
        self._uncollected = 0
        """How many jobs have left something to be collected."""
        self._desk = Desk()

    def serve(self) -> None:
        """Works until the parent is gone."""
        signal.signal(signal.SIGINT, self._interrupt)
        threading.Thread(target=self._read, daemon=True).start()
        self._desk.prepare()
        gc.collect()
        gc.freeze()
        gc.disable()
        while True:
            number, job = self._next()
            answer = self._answer(number, job)
            self._answers.write(framed((number, answer)))
            self._answers.flush()
            self._uncollected += 1

    def _next(self) -> tuple[int, Job]:
        """The next job; what the last ones left is collected when nobody types, or else when there were some of them."""
        if 0 < self._uncollected < _MANY:
            with suppress(Empty):
                return self._waiting.get(timeout=_REST)
        if self._uncollected:
            gc.collect()
            self._uncollected = 0
        return self._waiting.get()

    def _answer(self, number: int, job: Job) -> object:
        answer: object = None
        try:
            try:
                self._running = number
                if number not in self._stale:
                    answer = self._desk.do(job)
            except Exception as error:
                print(f"torchlint server: {type(error).__name__}: {error}", file=sys.stderr)
            self._running = None
        except StaleError:
            answer = None
        self._stale.difference_update([each for each in tuple(self._stale) if each <= number])
        return answer

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        """In the main thread: gives up what runs if it is not wanted; what the terminal sends is none of its business."""
        if self._running in self._stale:
            self._running = None
            raise StaleError

    def _read(self) -> None:
        try:
            while head := self._requests.read(HEAD.size):
                number, job = pickle.loads(self._requests.read(*HEAD.unpack(head)))
                if job is None:
                    self._stale.add(number)
                    _thread.interrupt_main(signal.SIGINT)
                else:
                    self._waiting.put((number, job))
        finally:
            os._exit(0)


def main() -> None:
    """Serves on the standard streams, which nothing that runs here can write to by mistake."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    Worker(requests, answers).serve()
