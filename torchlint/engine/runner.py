"""Many files, from their names to their findings: sieved here, linted or fixed here or in worker processes."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from torchlint.diagnostic import Diagnostic, FileError, applies
from torchlint.engine.cache import CLEAN, Cache, Metadata, Result, digest
from torchlint.engine.examination import NOTHING, Action, Outcome, Task, examine, failed, may_hold_findings, please_report
from torchlint.engine.words import awake_rules
from torchlint.project.files import Files
from torchlint.text.reading import read_file, refuse_larger

if TYPE_CHECKING:
    from torchlint.project.held import Held

__all__ = ["NOTHING", "Action", "Outcome", "Task", "examine", "run"]

_SMALL_JOB = 100_000
"""Bytes of source that are linted in less time than workers take to pay off."""
_TELLING = 1_500_000
"""Bytes of source that have words of nearly all rules that a project has any of."""
_COLLECT_EVERY = 12_000_000
"""Bytes of source after which cyclic garbage is collected. There is little: what a lint knows is let go by itself."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A file that the sieve of words lets through."""

    index: int
    path: str
    metadata: Metadata
    content: str
    """The `digest` of what it holds, where there is a cache to ask for it."""
    data: bytes


def run(
    paths: Sequence[str],
    task: Task,
    *,
    jobs: int = 1,
    cache: Cache | None = None,
    advance: Callable[[int], object] = lambda count: None,
) -> list[Outcome]:
    """Lints or fixes the files at ``paths``; gives the outcomes that say something, in the order of ``paths``.

    Up to ``jobs`` processes share the work, if there is enough of it. ``cache`` says of files that have not changed
    what is found in them; those in which there is something to fix are looked at again. ``advance`` is told of how many more
    files are done. What goes wrong with a file is part of its outcome; nothing is raised but `KeyboardInterrupt`.
    """
    outcomes: dict[int, Outcome] = {}
    # Nothing is fixed by what stands in a cache, which is whose who can write it.
    files = Files(cache.summaries if cache is not None and task.action is Action.LINT else None)
    held: Held | None = None
    if cache is None:
        task = replace(task, tells_answers=False)
    else:
        from torchlint.project.held import Held

        store = cache.summaries if files.has_store and task.project_root is not None else None
        held = Held(files, store, cache.key, paths, task.project_root or "")
        cache.holds = held.holds
    with _garbage_kept():
        candidates = _candidates(paths, task, cache, outcomes, advance)
        for candidate, outcome in _worked_off(candidates, task, jobs, files):
            if outcome.says_something:
                outcomes[candidate.index] = outcome
            advance(1)
            if cache is not None and outcome.is_lasting:
                result = Result(outcome.diagnostics, outcome.errors)
                cache.store(candidate.path, candidate.metadata, candidate.content, result, outcome.answers)
                if held is not None and outcome.answers:
                    held.made(candidate.path, outcome.answers)
    if cache is not None and held is not None:
        cache.save()
        held.note()
    return [replace(outcome, filename=paths[index]) for index, outcome in sorted(outcomes.items()) if outcome.says_something]


@dataclass(slots=True)
class _FileWork:
    """Does the task on files in this process; keeps count of how much garbage that may have left."""

    task: Task
    files: Files
    unswept: int = 0

    def __call__(self, path: str) -> Outcome:
        """The outcome of the file at ``path``, in a process of its own."""
        if gc.isenabled():
            gc.disable()
            gc.freeze()
        try:
            data = read_file(path, self.task.max_file_size)
        except OSError as error:
            return failed(path, _cannot("read", error), "io-error")
        return self.on(data, path)

    def on(self, data: bytes, path: str) -> Outcome:
        """The outcome of the file at ``path``, which holds ``data``."""
        outcome = examine(data, path, self.task, self.files)
        if outcome.replacement is not None:
            outcome = _written(outcome, data, path, self.task, self.files)
        self.unswept += len(data)
        if self.unswept > _COLLECT_EVERY:
            self.unswept = 0
            gc.collect()
            gc.freeze()  # what is left stays: summaries, and trees that are no part of a circle
        return outcome


def _written(outcome: Outcome, data: bytes, path: str, task: Task, files: Files) -> Outcome:
    """``outcome`` once its replacement is in the file, or the old text's findings where it cannot be."""
    from torchlint.text.replacement import FileChangedError, replace_file

    assert outcome.replacement is not None
    try:
        replace_file(path, data, outcome.replacement)
    except FileChangedError:
        message = "not fixed: the file changed while it was being linted"
    except OSError as error:
        message = _cannot("write", error)
    else:
        return replace(outcome, replacement=None)
    unfixed = examine(data, path, replace(task, action=Action.LINT), files)
    return Outcome(unfixed.diagnostics, (*outcome.errors, *unfixed.errors, FileError(path, message, code="io-error")))


def _cannot(what: str, error: OSError) -> str:
    return f"cannot {what} the file: {error.strerror or error}"


# --- many files ------------------------------------------------------------------------------------------------------


def _candidates(
    paths: Sequence[str],
    task: Task,
    cache: Cache | None,
    outcomes: dict[int, Outcome],
    advance: Callable[[int], object],
) -> Iterator[_Candidate]:
    """The files that have to be looked at; ``outcomes`` gets what is known of the others."""
    known = _Knowledge(task)
    for index, path in enumerate(paths):
        try:
            metadata = Metadata.of(path)
            refuse_larger(metadata.size, path, task.max_file_size)
            result = known(cache.by_metadata(path, metadata)) if cache is not None else None
            if result is None:
                data = read_file(path, task.max_file_size)
                if may_hold_findings(data, path, task):
                    content = digest(data) if cache is not None else ""
                    result = known(cache.by_content(path, content)) if cache is not None else None
                    if result is None:
                        yield _Candidate(index, path, metadata, content, data)
                        continue
                    if cache is not None:
                        cache.renew(path, metadata)
                else:
                    result = CLEAN
                    if cache is not None:
                        cache.store(path, metadata, "", result)
        except OSError as error:
            outcomes[index] = failed(path, _cannot("read", error), "io-error")
        else:
            if result is not CLEAN:
                outcomes[index] = Outcome(result.diagnostics, result.errors)
        advance(1)


class _Knowledge:
    """Tells which of the cache's results are all that there is to a file."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._declared = {rule.code: (rule.name, rule.url) for rule in task.rules}

    def __call__(self, result: Result | None) -> Result | None:
        """A result that the task's rules can have given, and by which nothing is to be done to the file; None for another."""
        if result is None or result is CLEAN:
            return result
        return result if all(self._may_be(each) and not self._is_due(each) for each in result.diagnostics) else None

    def _may_be(self, found: Diagnostic) -> bool:
        return self._declared.get(found.code) == (found.name, found.declared_url)

    def _is_due(self, found: Diagnostic) -> bool:
        """Whether the task is to do something about a finding."""
        if self._task.action in (Action.FIX, Action.DIFF):
            return found.fix is not None and applies(found.fix, self._task.applicability)
        return self._task.action is Action.ADD_NOQA


def _worked_off(candidates: Iterator[_Candidate], task: Task, jobs: int, files: Files) -> Iterator[tuple[_Candidate, Outcome]]:
    """Each candidate with its outcome, in any order."""
    first: list[_Candidate] = []
    size = 0
    for candidate in candidates if jobs > 1 else ():
        first.append(candidate)
        size += len(candidate.data)
        if size > _SMALL_JOB and len(first) > 1:
            for following in candidates:
                first.append(following)
                size += len(following.data)
                if size > _TELLING:
                    break
            _load_for_all(first, task)
            with _shared(files, task) as known:
                yield from _by_workers(chain(first, candidates), task, jobs, known)
            return
    work = _FileWork(task, files)
    for candidate in chain(first, candidates):
        yield candidate, work.on(candidate.data, candidate.path)


@contextmanager
def _shared(files: Files, task: Task) -> Iterator[Files]:
    """What workers are told of the project's files, where one of them knows what another one has found out.

    They keep that in the cache, or else in a folder that goes with the run.
    """
    if task.project_root is None or files.has_store:
        yield files
        return
    from tempfile import TemporaryDirectory

    from torchlint.project.store import Store

    try:
        folder = TemporaryDirectory(prefix="torchlint-", ignore_cleanup_errors=True)
    except OSError:  # there is no place for it
        yield files
        return
    with folder as path:
        yield Files(Store(path, str))


def _load_for_all(candidates: Iterable[_Candidate], task: Task) -> None:
    """Imports what files such as ``candidates`` need before this process forks: else each worker would, libcst among it."""
    from torchlint.engine.workers import may_fork

    if may_fork():
        from torchlint.engine.findings import load

        load({rule for each in candidates for rule in awake_rules(task.rules_for(each.path), each.data, task.options)})
        gc.freeze()


def _by_workers(candidates: Iterator[_Candidate], task: Task, jobs: int, files: Files) -> Iterator[tuple[_Candidate, Outcome]]:
    from torchlint.engine.workers import Crash, may_fork, spread

    if task.project_root is not None and may_fork():
        head = list(islice(candidates, 1))
        for first in head:  # what its project imports is found out once for all workers
            files.callers.importers(files.reading(first.path, task.project_root).root).by_word()
        candidates = chain(head, candidates)

    given: dict[str, _Candidate] = {}

    def items() -> Iterator[tuple[str, int]]:
        for candidate in candidates:
            given[candidate.path] = replace(candidate, data=b"")
            yield candidate.path, len(candidate.data)

    for path, outcome in spread(_FileWork(task, files), items(), jobs, os.path.dirname):
        if isinstance(outcome, Crash):
            outcome = failed(
                path, f"internal error: the process that linted it died ({outcome}); {please_report()}", "internal-error"
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
