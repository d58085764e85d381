"""When a session asks for what: findings at once, fixes when somebody wants them, nothing for a text that has changed."""

from __future__ import annotations

import asyncio
import gc
import io
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls, which is not installed")

from torchlint.diagnostic import Applicability, Diagnostic, Edit, Fix, Location
from torchlint.server import worker
from torchlint.server.jobs import Buffer, Job, Lint, Looked
from torchlint.server.office import Office
from torchlint.server.programs import Document, Found, Program
from torchlint.server.session import Session
from torchlint.server.settings import Chosen
from torchlint.server.texts import Text, Units

_START = Location(1, 1)
_FIX = Fix("Mend", (Edit(_START, _START, ""),), Applicability.SAFE)


class Slow(Office):
    """Takes its time, and finds in each text what that text is."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.asked: list[tuple[str, bool, float]] = []
        """The texts, whether fixes were wanted, and when."""

    async def ask(self, job: Job) -> object:
        assert isinstance(job, Lint)
        text = job.buffer.text
        self.asked.append((text, job.fixes, time.monotonic()))
        await asyncio.sleep(self.seconds)
        fix = _FIX if job.fixes else None
        return Looked((Diagnostic("TPL004", "graph-accumulation", text, job.buffer.path, _START, _START, fix, ""),))

    @property
    def jobs(self) -> list[tuple[str, bool]]:
        return [(text, fixes) for text, fixes, _ in self.asked]


class Desktop:
    """A session with one text in it, and what was published of that."""

    def __init__(self, folder: Path, *, debounce: float = 20, seconds: float = 0.02) -> None:
        self.published: list[list[str]] = []
        self.worker = Slow(seconds)
        self.session = Session(self._publish, lambda message: None)
        self.session.office = self.worker
        self.session.configure({"debounce": debounce}, {str(folder): {"debounce": debounce}})
        uri = (folder / "train.py").as_uri()
        self.program = Program(uri, [Document(uri, 1, Text("first", Units.UTF_16))])
        self.session.opened(self.program)

    def _publish(self, document: Document, found: Found | None) -> None:
        self.published.append([each.message for each in found.diagnostics] if found is not None else [])

    def type(self, text: str) -> None:
        """Changes the text."""
        self.program.documents[0].text = Text(text, Units.UTF_16)
        self.session.changed(self.program)

    @property
    def found(self) -> list[tuple[str, bool]]:
        """What is known of the text: messages, and whether there is a fix."""
        (found,) = self.program.found.values()
        return [(each.message, each.fix is not None) for each in found.diagnostics]


def run(folder: Path, what: Callable[[Desktop], object], **options: float) -> Desktop:
    """A session in which something was done."""

    async def whole() -> Desktop:
        desktop = Desktop(folder, **options)
        await desktop.session.up_to_date(desktop.program)
        done = what(desktop)
        if asyncio.iscoroutine(done):
            await done
        await desktop.session.up_to_date(desktop.program)
        return desktop

    return asyncio.run(whole())


def test_no_fix_is_made_until_one_is_wanted(tmp_path: Path) -> None:
    desktop = run(tmp_path, lambda desktop: desktop.type("second"))
    assert desktop.worker.jobs == [("first", False), ("second", False)]
    assert desktop.found == [("second", False)]


def test_fixes_are_made_once_for_all_who_want_them(tmp_path: Path) -> None:
    async def want(desktop: Desktop) -> None:
        await asyncio.gather(*(desktop.session.mended(desktop.program) for _ in range(3)))
        await desktop.session.mended(desktop.program)

    desktop = run(tmp_path, want)
    assert desktop.worker.jobs == [("first", False), ("first", True)]
    assert desktop.found == [("first", True)]
    assert desktop.published == [["first"]], "the client knows the findings already"


def test_fixes_are_those_of_the_text_as_it_is(tmp_path: Path) -> None:
    async def want(desktop: Desktop) -> None:
        wanting = asyncio.create_task(desktop.session.mended(desktop.program))
        await asyncio.sleep(0.005)
        desktop.type("second")
        await wanting

    desktop = run(tmp_path, want)
    assert desktop.worker.jobs == [("first", False), ("first", True), ("second", False), ("second", True)]
    assert desktop.found == [("second", True)]


def test_a_text_that_rested_is_looked_at_at_once(tmp_path: Path) -> None:
    start = time.monotonic()
    desktop = run(tmp_path, lambda desktop: desktop.type("second"), debounce=60_000)
    assert time.monotonic() - start < 30
    assert desktop.published == [["first"], ["second"]]


def test_a_text_that_is_looked_at_is_looked_at_again_when_the_keys_rest(tmp_path: Path) -> None:
    async def type_on(desktop: Desktop) -> None:
        for number in range(5):
            desktop.type(f"text {number}")
            await asyncio.sleep(0.001)

    desktop = run(tmp_path, type_on, debounce=300, seconds=5e-2)
    (_, _, _), (_, _, at_once), (_, _, later) = desktop.worker.asked
    assert desktop.worker.jobs == [("first", False), ("text 0", False), ("text 4", False)]
    assert later - at_once >= 0.3
    assert desktop.published == [["first"], ["text 4"]]


# --- the worker's memory ---------------------------------------------------------------------------------------------


class Working(worker.Worker):
    """A worker that jobs are handed to, and that says when it collects what they left."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), io.BytesIO())
        self.buffer = Buffer("train.py", "", Chosen())

    def hand(self, number: int) -> None:
        self._waiting.put((number, Lint(self.buffer)))

    def take(self, uncollected: int) -> int:
        self._uncollected = uncollected
        return self._next()[0]


def test_nothing_is_collected_while_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    collections: list[None] = []
    monkeypatch.setattr(gc, "collect", lambda: collections.append(None))
    working = Working()
    for number in (1, 2, 3):
        working.hand(number)
    assert [working.take(0), working.take(1), len(collections)] == [1, 2, 0]
    assert [working.take(1000), len(collections), working._uncollected] == [3, 1, 0]


def test_what_jobs_left_is_collected_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    working = Working()
    monkeypatch.setattr(worker, "_REST", 0.01)
    monkeypatch.setattr(gc, "collect", lambda: working.hand(7))
    assert working.take(1) == 7, "the job that came while it collected"
    assert working._uncollected == 0
