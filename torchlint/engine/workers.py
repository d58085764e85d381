"""Work spread over processes, such that one that dies costs only the item it died on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Generic, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")

_MOST_WAITING = 8
"""Items that wait at one worker at most. Few, so that neither pipe fills up: then both ends could wait for each other."""
_ENOUGH_WAITING = 64 * 1024
"""The weight from which on a worker that has two items gets no more, lest it be busy when all others are done."""
_MOST_AHEAD = 32
"""So many items of a group are kept for one worker at most, however large the group is."""
_STILLBORN = 3
"""How many workers may die before they are given anything until no more are started."""
_SAFE_PATH = "PYTHONSAFEPATH"
_PATIENCE = 5.0
"""The seconds that a worker has to end by itself."""


@dataclass(frozen=True, slots=True)
class Crash:
    """What comes instead of a result for the item that a worker died on."""

    exit_code: int

    def __str__(self) -> str:
        if self.exit_code < 0:
            try:
                return f"killed by {signal.Signals(-self.exit_code).name}"
            except ValueError:
                return f"killed by signal {-self.exit_code}"
        return f"exit code {self.exit_code}"


def spread(
    function: Callable[[T], R], items: Iterable[tuple[T, int]], jobs: int, group: Callable[[T], object] = lambda item: None
) -> Iterator[tuple[T, R | Crash]]:
    """``function`` of each item, computed by up to ``jobs`` processes, in the order in which the results come.

    ``items`` come with their weight, which should go with the time that they take; they are asked for as workers become
    free. Those of a ``group`` that come one behind the other go to the same worker, as long as there is work for the others:
    what it has found out for one of them serves the next. Where no worker can be started, this process does the work. Closing
    the iterator ends the workers.
    """
    pool = _Pool(function, items, jobs, group)
    try:
        while pool.feed():
            yield from pool.collect()
    finally:
        pool.end()


def may_fork() -> bool:
    """Whether workers are forks of this process: a fork is cheap, and safe where no other thread can hold a lock meanwhile.

    Threads that Python knows nothing of, such as those of libraries in other languages, count as well.
    """
    if sys.platform != "linux" or threading.active_count() != 1:
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:  # not to be known
        return False


@contextmanager
def _safe_path() -> Iterator[None]:
    """Keeps a spawned process from looking for its first modules in the working directory, where what is linted may stand."""
    if sys.flags.ignore_environment and not sys.flags.safe_path:
        raise OSError("a spawned process would not be told")
    given = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if given is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = given


class _Worker(Generic[T, R]):
    """One process, the parent's end of its pipe, and the items that it has not answered yet."""

    def __init__(self, function: Callable[[T], R], siblings: Iterable[_Worker[T, R]]) -> None:
        fork = may_fork()
        context = multiprocessing.get_context("fork") if fork else multiprocessing.get_context("spawn")
        self.connection, far_end = context.Pipe()
        # a forked child has copies of the parent's ends, which would keep its siblings from seeing the parent go
        inherited = [self.connection, *(sibling.connection for sibling in siblings)] if fork else []
        self._process = context.Process(target=_serve, args=(function, far_end, inherited), daemon=True)
        try:
            with nullcontext() if fork else _safe_path():
                self._process.start()
        finally:
            far_end.close()
        self.waiting: deque[tuple[T, int]] = deque()
        """What it was given, and has not answered."""
        self.ahead: deque[tuple[T, int]] = deque()
        """What it is to be given next."""
        self._gone = False

    @property
    def has_room(self) -> bool:
        """Whether it should be given another item."""
        count = len(self.waiting)
        enough = sum(weight for _, weight in self.waiting) >= _ENOUGH_WAITING
        return not self._gone and (count < 2 or (count < _MOST_WAITING and not enough))

    def give(self, item: T, weight: int) -> bool:
        """Sends it an item; False where it is gone."""
        try:
            self.connection.send(item)
        except OSError:
            self._gone = True
            return False
        self.waiting.append((item, weight))
        return True

    def dismiss(self) -> None:
        """Tells the process to end."""
        self.connection.close()
        self._process.terminate()

    def exit_code(self) -> int:
        """Waits for the process to end."""
        self._process.join(_PATIENCE)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        return self._process.exitcode or 0


class _Pool(Generic[T, R]):
    """The workers, started as there is work for them, and the items still to be given out."""

    def __init__(
        self, function: Callable[[T], R], items: Iterable[tuple[T, int]], jobs: int, group: Callable[[T], object]
    ) -> None:
        self._function = function
        self._items = iter(items)
        self._group = group
        self._next: tuple[T, int] | None = None
        self._returned: deque[tuple[T, int]] = deque()
        """What is to be given to any worker, before all else."""
        self._jobs = jobs
        self._workers: list[_Worker[T, R]] = []
        self._stillborn = 0

    def feed(self) -> bool:
        """Hands out items until all workers have enough; False when everything is done."""
        while self._has_items():
            worker = self._free_worker()
            if worker is None:
                return True
            item = self._next_item(worker)
            if not worker.give(*item):
                self._returned.appendleft(item)
                if not worker.waiting:
                    self._drop_stillborn(worker)
        return any(worker.waiting for worker in self._workers)

    def collect(self) -> Iterator[tuple[T, R | Crash]]:
        """Waits until a worker has an answer, and gives what there is."""
        if not self._workers:
            if not self._returned and (following := self._peek()) is not None:
                self._returned.append(following)
                self._next = None
            item, _ = self._returned.popleft()
            yield item, self._function(item)
            return
        workers = {worker.connection: worker for worker in self._workers if worker.waiting}
        for connection in wait(list(workers)):
            worker = workers[cast("Connection[T, R]", connection)]
            try:
                result = worker.connection.recv()
            except (EOFError, OSError):
                yield self._bury(worker)
            else:
                yield worker.waiting.popleft()[0], result

    def end(self) -> None:
        """Ends all workers."""
        for worker in self._workers:
            worker.dismiss()
        for worker in self._workers:
            worker.exit_code()

    def _has_items(self) -> bool:
        """Whether there is anything left to hand out."""
        return bool(self._returned) or any(worker.ahead for worker in self._workers) or self._peek() is not None

    def _peek(self) -> tuple[T, int] | None:
        """The next item that no worker has begun the group of."""
        if self._next is None:
            self._next = next(self._items, None)
        return self._next

    def _next_item(self, worker: _Worker[T, R]) -> tuple[T, int]:
        """What a worker gets: what a dead one left, the next of a group, or the last that another worker would get."""
        if self._returned:
            return self._returned.popleft()
        if not worker.ahead:
            self._begin_group(worker)
        if worker.ahead:
            return worker.ahead.popleft()
        return max((other.ahead for other in self._workers), key=len).pop()

    def _begin_group(self, worker: _Worker[T, R]) -> None:
        """Keeps the next items for a worker, as far as they are of one group."""
        group: object = None
        while (item := self._peek()) is not None and len(worker.ahead) < _MOST_AHEAD:
            if worker.ahead and self._group(item[0]) != group:
                return
            group = self._group(item[0])
            worker.ahead.append(item)
            self._next = None

    def _free_worker(self) -> _Worker[T, R] | None:
        """A worker for one more item: an idle one, else a new one, else one with room."""
        free = min(
            (worker for worker in self._workers if worker.has_room), key=lambda worker: len(worker.waiting), default=None
        )
        if (free is None or free.waiting) and len(self._workers) < self._jobs:
            try:
                free = _Worker(self._function, self._workers)
            except OSError:  # no more processes or memory to be had
                self._jobs = len(self._workers)
            else:
                self._workers.append(free)
        return free

    def _bury(self, worker: _Worker[T, R]) -> tuple[T, Crash]:
        """Removes a worker that died; gives the item it died on, and keeps its other items for the next worker."""
        exit_code = self._remove(worker)
        item, _ = worker.waiting.popleft()
        self._returned.extendleft(reversed(worker.waiting))
        return item, Crash(exit_code)

    def _drop_stillborn(self, worker: _Worker[T, R]) -> None:
        self._remove(worker)
        self._stillborn += 1
        if self._stillborn >= _STILLBORN:
            self._jobs = len(self._workers)

    def _remove(self, worker: _Worker[T, R]) -> int:
        self._workers.remove(worker)
        self._returned.extend(worker.ahead)
        worker.ahead.clear()
        worker.connection.close()
        return worker.exit_code()


def _serve(function: Callable[[T], R], connection: Connection[R, T], inherited: Iterable[Connection[T, R]]) -> None:
    """What a worker does: answers items until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends its workers
    signal.signal(signal.SIGTERM, _leave)
    for other in inherited:
        other.close()
    try:
        while True:
            connection.send(function(connection.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):  # the parent is done, or gone
        return


def _leave(signum: int, frame: FrameType | None) -> None:
    """Ends the process at once, wherever it is, if only on its way out; a file that is being replaced is finished first.

    An exception would have to find its way through whatever runs, and has nowhere to go where Python is leaving already.
    """
    os._exit(128 + signum)
