"""Many files, from their names to their findings: screened here, linted or fixed here or in worker processes."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING

from torchlint.cache import CLEAN, Cache, Metadata, Result, digest
from torchlint.diagnostic import Applicability, Diagnostic, FileError
from torchlint.linter import lint, passes_screen
from torchlint.options import DEFAULTS, Options
from torchlint.rules import Rule
from torchlint.source import Source, SourceError

if TYPE_CHECKING:
    from torchlint.config import Settings

BUG_REPORTS = "https://github.com/torchlint/torchlint/issues"

_SMALL_JOB = 100_000
"""Bytes of source that are linted in less time than workers take to pay off."""
_COLLECT_EVERY = 1_000_000
"""Bytes of source after which cyclic garbage is collected: some hundred megabytes of syntax trees at most."""


class Action(Enum):
    """What is done with each file."""

    LINT = "lint"
    FIX = "fix"
    DIFF = "diff"


@dataclass(frozen=True, slots=True)
class Task:
    """What a run does with each of its files; ``settings`` may take some of the rules away for some of the files."""

    rules: tuple[type[Rule], ...]
    action: Action = Action.LINT
    applicability: Applicability = Applicability.SAFE
    options: Options = DEFAULTS
    settings: Settings | None = None

    def rules_for(self, path: str) -> tuple[type[Rule], ...]:
        """The rules that run on the file at ``path``."""
        return self.rules if self.settings is None else self.settings.rules_for(path)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file: findings left, errors, how many findings were fixed, and the diff that shows it.

    ``replacement`` is the file's new content where it is to be written. ``content`` is the hash of the content that this is
    about, and empty where the outcome depends on more than the content.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    errors: tuple[FileError, ...] = ()
    fixed: int = 0
    diff: str = ""
    replacement: bytes | None = None
    content: str = ""


NOTHING = Outcome()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A file that the screens let through."""

    index: int
    path: str
    metadata: Metadata
    data: bytes


def run(paths: Sequence[str], task: Task, *, jobs: int = 1, cache: Cache | None = None) -> list[Outcome]:
    """Lints or fixes the files at ``paths``; gives the outcomes that say something, in the order of ``paths``.

    Up to ``jobs`` processes share the work, if there is enough of it. ``cache`` is for `Action.LINT` only. What goes wrong
    with a file is part of its outcome; nothing is raised but `KeyboardInterrupt`.
    """
    outcomes: dict[int, Outcome] = {}
    with _garbage_kept():
        candidates = _candidates(paths, task, cache, outcomes)
        for candidate, outcome in _worked_off(candidates, task, jobs):
            outcomes[candidate.index] = outcome
            if cache is not None and outcome.content:
                result = Result(outcome.diagnostics, outcome.errors)
                cache.store(candidate.path, candidate.metadata, outcome.content, result)
    if cache is not None:
        cache.save()
    return [
        outcome
        for _, outcome in sorted(outcomes.items())
        if outcome.diagnostics or outcome.errors or outcome.fixed or outcome.diff
    ]


def examine(data: bytes, filename: str, task: Task) -> Outcome:
    """What comes of a file that holds ``data``; nothing is read or written, and nothing raised."""
    try:
        if not passes_screen(data, task.rules_for(filename)):
            return NOTHING
        source = Source.decode(data, filename)
        if task.action is Action.LINT:
            return Outcome(tuple(lint(source, task.rules_for(filename), task.options)), content=digest(data))
        return _fixed(source, task)
    except SourceError as error:
        return Outcome(errors=(error.error,), content=digest(data))
    except RecursionError:
        return Outcome(errors=(FileError(filename, "cannot lint: the code is nested too deeply"),), content=digest(data))
    except MemoryError:
        return _failed(filename, "cannot lint: out of memory", "io-error")
    except Exception as error:
        if os.environ.get("TORCHLINT_DEBUG"):
            import traceback

            traceback.print_exc()
        return _failed(filename, f"internal error: {_one_line(error)}; {_please_report()}", "internal-error")


# --- one file --------------------------------------------------------------------------------------------------------


def _fixed(source: Source, task: Task) -> Outcome:
    from torchlint.fixer import fix

    rules = task.rules_for(source.filename)
    result = fix(source, rules, task.applicability, task.options)
    errors = tuple(
        FileError(
            source.filename,
            f"internal error: the fix of {broken.code} would break the file and was dropped; {_please_report()}",
            broken.location,
            "internal-error",
        )
        for broken in result.broken
    )
    if result.text == source.text:
        return Outcome(tuple(result.remaining), errors)
    try:
        replacement = source.encode(result.text)
    except UnicodeEncodeError as error:
        message = f"cannot fix: {error.object[error.start : error.end]!r} cannot be written in {source.encoding}"
        return Outcome(
            tuple(lint(source, rules, task.options)), (*errors, FileError(source.filename, message, code="io-error"))
        )
    if task.action is Action.DIFF:
        from torchlint.reporters.diff import unified_diff

        diff = unified_diff(source.text, result.text, source.filename)
        return Outcome(tuple(result.remaining), errors, fixed=len(result.fixed), diff=diff)
    return Outcome(tuple(result.remaining), errors, fixed=len(result.fixed), replacement=replacement)


@dataclass(slots=True)
class _FileWork:
    """Does the task on files in this process; keeps count of how much garbage that may have left."""

    task: Task
    unswept: int = 0

    def __call__(self, path: str) -> Outcome:
        """The outcome of the file at ``path``, in a process of its own."""
        if gc.isenabled():
            gc.disable()
            gc.freeze()
        try:
            data = _read(path)
        except OSError as error:
            return _failed(path, _cannot("read", error), "io-error")
        return self.on(data, path)

    def on(self, data: bytes, path: str) -> Outcome:
        """The outcome of the file at ``path``, which holds ``data``."""
        outcome = examine(data, path, self.task)
        if outcome.replacement is not None:
            outcome = _written(outcome, data, path, self.task)
        self.unswept += len(data)
        if self.unswept > _COLLECT_EVERY:
            self.unswept = 0
            gc.collect()
        return outcome


def _written(outcome: Outcome, data: bytes, path: str, task: Task) -> Outcome:
    """``outcome`` once its replacement is in the file, or the old text's findings where it cannot be."""
    from torchlint.replacement import FileChangedError, replace_file

    assert outcome.replacement is not None
    try:
        replace_file(path, data, outcome.replacement)
    except FileChangedError:
        message = "not fixed: the file changed while it was being linted"
    except OSError as error:
        message = _cannot("write", error)
    else:
        return replace(outcome, replacement=None)
    unfixed = examine(data, path, replace(task, action=Action.LINT))
    return Outcome(unfixed.diagnostics, (*outcome.errors, *unfixed.errors, FileError(path, message, code="io-error")))


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _failed(path: str, message: str, code: str) -> Outcome:
    return Outcome(errors=(FileError(path, message, code=code),))


def _cannot(what: str, error: OSError) -> str:
    return f"cannot {what} the file: {error.strerror or error}"


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _please_report() -> str:
    return f"please report this at {BUG_REPORTS} (TORCHLINT_DEBUG=1 shows where it happened)"


# --- many files ------------------------------------------------------------------------------------------------------


def _candidates(paths: Sequence[str], task: Task, cache: Cache | None, outcomes: dict[int, Outcome]) -> Iterator[_Candidate]:
    """The files that have to be linted; ``outcomes`` gets what is known of the others."""
    for index, path in enumerate(paths):
        try:
            metadata = Metadata.of(path)
            result = cache.by_metadata(path, metadata) if cache is not None else None
            if result is None:
                data = _read(path)
                if passes_screen(data, task.rules_for(path)):
                    result = cache.by_content(path, data) if cache is not None else None
                    if result is None:
                        yield _Candidate(index, path, metadata, data)
                        continue
                    content = digest(data)
                else:
                    result, content = CLEAN, ""
                if cache is not None:
                    cache.store(path, metadata, content, result)
        except OSError as error:
            outcomes[index] = _failed(path, _cannot("read", error), "io-error")
        else:
            if result is not CLEAN:
                outcomes[index] = Outcome(result.diagnostics, result.errors)


def _worked_off(candidates: Iterator[_Candidate], task: Task, jobs: int) -> Iterator[tuple[_Candidate, Outcome]]:
    """Each candidate with its outcome, in any order."""
    first: list[_Candidate] = []
    size = 0
    for candidate in candidates if jobs > 1 else ():
        first.append(candidate)
        size += len(candidate.data)
        if size > _SMALL_JOB and len(first) > 1:
            yield from _by_workers(chain(first, candidates), task, jobs)
            return
    work = _FileWork(task)
    for candidate in chain(first, candidates):
        yield candidate, work.on(candidate.data, candidate.path)


def _by_workers(candidates: Iterable[_Candidate], task: Task, jobs: int) -> Iterator[tuple[_Candidate, Outcome]]:
    from torchlint.workers import Crash, spread

    given: dict[str, _Candidate] = {}

    def items() -> Iterator[tuple[str, int]]:
        for candidate in candidates:
            given[candidate.path] = replace(candidate, data=b"")
            yield candidate.path, len(candidate.data)

    for path, outcome in spread(_FileWork(task), items(), jobs):
        if isinstance(outcome, Crash):
            outcome = _failed(
                path, f"internal error: the process that linted it died ({outcome}); {_please_report()}", "internal-error"
            )
        yield given.pop(path), outcome


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Keeps the garbage collector from walking, again and again, the syntax trees that are in use.

    It would find next to nothing there and take a good part of the parser's time.
    """
    enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()
