"""The parent's side of the worker: starts it, hands it jobs, and starts another one where it died."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import dataclass

from torchlint.server.jobs import Job
from torchlint.server.worker import HEAD, framed

_CODE = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from torchlint.server.worker import main; main()"
"""What the worker runs: it imports from where this process does, which need not be where an interpreter would look."""


class WorkerDiedError(Exception):
    """The worker died on a job."""


@dataclass(slots=True)
class _Request:
    job: Job
    answer: asyncio.Future[object]


class Office:
    """Has jobs done in a process of their own, in the order in which they come."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._open: dict[int, _Request] = {}
        self._count = 0
        self._starting = asyncio.Lock()

    async def ask(self, job: Job) -> object:
        """The answer to a job; None where nothing came of it. The job is given up if the caller is cancelled.

        Raises `WorkerDiedError` if the worker died on it.
        """
        self._count += 1
        number = self._count
        request = self._open[number] = _Request(job, asyncio.get_running_loop().create_future())
        try:
            await self._send(number, job)
            return await request.answer
        except asyncio.CancelledError:
            self._give_up(number)
            raise

    async def start(self) -> None:
        """Starts the worker if it does not run, so that the first job has not to wait for it."""
        async with self._starting:
            if self._process is None:
                path = json.dumps([each for each in sys.path if isinstance(each, str)])
                arguments = ("-P", "-c", _CODE, path)
                self._process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=PIPE, stdout=PIPE)
                self._reading = asyncio.create_task(self._read(self._process))

    def close(self) -> None:
        """Ends the worker."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def _send(self, number: int, job: Job | None) -> None:
        await self.start()
        assert self._process is not None and self._process.stdin is not None
        with suppress(ConnectionError):  # whoever reads the answers learns of it
            self._process.stdin.write(framed((number, job)))
            await self._process.stdin.drain()

    def _give_up(self, number: int) -> None:
        if number in self._open and self._process is not None and self._process.stdin is not None:
            with suppress(ConnectionError):
                self._process.stdin.write(framed((number, None)))

    async def _read(self, process: Process) -> None:
        """Passes the answers on until the worker is gone; then lets another one go on behind the job that it died on."""
        assert process.stdout is not None
        try:
            while True:
                (length,) = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
                number, answer = pickle.loads(await process.stdout.readexactly(length))
                request = self._open.pop(number, None)
                if request is not None and not request.answer.done():
                    request.answer.set_result(answer)
        except asyncio.IncompleteReadError:
            code = await process.wait()
        self._process = None
        left, self._open = self._open, {}
        for index, (number, request) in enumerate(sorted(left.items())):
            if request.answer.done():
                continue
            if index == 0:
                request.answer.set_exception(WorkerDiedError(f"exit code {code}"))
            else:
                self._open[number] = request
                await self._send(number, request.job)
