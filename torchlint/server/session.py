"""One client's session: what it has open is looked at after each change, and what is found is passed on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from torchlint.diagnostic import FileError
from torchlint.server.jobs import Buffer, Close, Job, Lint, Looked, Outdated, Stamp, stamp
from torchlint.server.office import Office, WorkerDiedError
from torchlint.server.programs import Document, Found, Program, Programs
from torchlint.server.settings import ClientSettings, read

_PATIENCE = 5.0
"""The seconds that a client has to answer with its settings until texts are looked at without."""
_WATCHING = 2.0
"""The seconds between two looks at configuration files, and at whether the client is still there."""


class Session:
    """``publish`` passes on what was found in a document, None once it is closed; ``warn`` shows a message to the user."""

    def __init__(self, publish: Callable[[Document, Found | None], None], warn: Callable[[str], None]) -> None:
        self.programs = Programs()
        self.office = Office()
        self._publish = publish
        self._warn = warn
        self._settings: dict[str, ClientSettings] = {}
        self._general = ClientSettings()
        self._configuration: dict[str, Stamp] = {}
        self._configured = asyncio.Event()
        self._spreading: asyncio.Task[None] | None = None

    # --- settings -----------------------------------------------------------------------------------------------------

    def configure(self, given: object, folders: Mapping[str, object]) -> None:
        """Takes settings, those for all files and those of folders, by their paths, and looks at everything again."""
        paths = sorted(folders)
        self._general, problems = read(given, paths[0] if paths else os.getcwd())
        self._settings = {}
        for folder in paths:
            self._settings[folder], wrong = read(folders[folder], folder)
            problems += wrong
        self._configured.set()
        for problem in dict.fromkeys(problems):
            self._warn(problem)
        self.look_at_all()

    def settings(self, program: Program) -> ClientSettings:
        """The settings of the innermost workspace folder that a program is in; for others, the general ones."""
        path = program.path(self._first_folder)
        around = [folder for folder in self._settings if path.startswith(os.path.join(folder, ""))]
        return self._settings[max(around, key=len)] if around else self._general

    def buffer(self, program: Program) -> Buffer:
        """A program for the worker."""
        return program.buffer(self._first_folder, self.settings(program).chosen)

    @property
    def _first_folder(self) -> str:
        return next(iter(self._settings), os.getcwd())

    # --- texts --------------------------------------------------------------------------------------------------------

    def opened(self, program: Program) -> None:
        """Takes a program in and looks at it."""
        self.programs.add(program)
        self._schedule(program, 0)

    def changed(self, program: Program) -> None:
        """Looks at a program that has changed: at once or, if it was being looked at, which is given up, when the keys rest."""
        program.revision += 1
        busy = program.task is not None and not program.task.done()
        self._schedule(program, self.settings(program).debounce / 1000 if busy else 0)

    def closed(self, uri: str) -> None:
        """Lets a program go, and what was found in it."""
        program = self.programs.remove(uri)
        if program is not None:
            _stop(program)
            for document in program.documents:
                self._publish(document, None)
            self._spread(Close(program.path(self._first_folder)))

    def look_at_all(self) -> None:
        """Looks at everything again."""
        for program in self.programs:
            self._schedule(program, 0)

    async def up_to_date(self, program: Program) -> None:
        """Waits until what is known of a program is known of its present texts."""
        while (task := program.task) is not None and not task.done():
            await asyncio.wait({task})

    async def mended(self, program: Program) -> None:
        """Waits until findings in the present texts of a program have their fixes, which are made for whoever asks first."""
        task = None
        while task is None or program.mending is not task:  # the texts have changed meanwhile
            await self.up_to_date(program)
            if program.mending is None:
                program.mending = asyncio.get_running_loop().create_task(self._mend(program))
            task = program.mending
            await asyncio.wait({task})

    async def ask(self, job: Job) -> object:
        """The answer to a job; None where nothing came of it."""
        try:
            return await self.office.ask(job)
        except WorkerDiedError:
            return None

    def _schedule(self, program: Program, delay: float) -> None:
        _stop(program)
        program.mending = None
        program.task = asyncio.get_running_loop().create_task(self._look(program, delay))

    async def _look(self, program: Program, delay: float) -> None:
        await asyncio.sleep(delay)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._configured.wait(), _PATIENCE)
        looked = Looked()
        if self.settings(program).enable:
            buffer = self.buffer(program)
            try:
                answer = await self.office.ask(Lint(buffer))
            except WorkerDiedError as error:
                answer = Looked(
                    errors=(FileError(buffer.path, f"internal error: the worker died ({error})", code="internal-error"),)
                )
            looked = answer if isinstance(answer, Looked) else looked
        self._configuration.update(looked.configuration)
        program.take(looked.diagnostics, looked.errors)
        for document in program.documents:
            self._publish(document, program.found[document.uri])
        if len(self.programs) > 1:
            self._spread()

    def _spread(self, *first: Job) -> None:
        """Looks again at those programs that what has changed elsewhere matters to, behind some jobs."""

        async def spread() -> None:
            await asyncio.gather(*waiting, return_exceptions=True)
            for job in first:
                await self.ask(job)
            outdated = await self.ask(Outdated())
            for program in self.programs:
                if isinstance(outdated, list) and program.path(self._first_folder) in outdated:
                    self._schedule(program, self.settings(program).debounce / 1000)  # whoever types comes first

        waiting = [self._spreading] if self._spreading is not None and not self._spreading.done() else []
        self._spreading = asyncio.get_running_loop().create_task(spread())

    async def _mend(self, program: Program) -> None:
        looked = await self.ask(Lint(self.buffer(program), fixes=True)) if self.settings(program).enable else None
        if isinstance(looked, Looked):
            program.take(looked.diagnostics, looked.errors)

    # --- watching -----------------------------------------------------------------------------------------------------

    async def watch(self, client: int | None, leave: Callable[[], None]) -> None:
        """Looks at everything again whenever a configuration file changes; leaves when the client's process is gone."""
        while True:
            await asyncio.sleep(_WATCHING)
            if client is not None and not _runs(client):
                leave()
            self.check_configuration()

    def check_project(self) -> None:
        """Looks again at what rests on files that have changed."""
        self._spread()

    def check_configuration(self) -> None:
        """Looks at everything again if a configuration file has changed."""
        if any(stamp(path) != known for path, known in self._configuration.items()):
            self._configuration.clear()
            self.look_at_all()


def _stop(program: Program) -> None:
    """Gives up what is under way for a program."""
    for task in (program.task, program.mending):
        if task is not None:
            task.cancel()


def _runs(process: int) -> bool:
    """Whether there is a process; always true where that cannot be asked without ending it."""
    if os.name != "posix":
        return True
    with suppress(PermissionError):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True
