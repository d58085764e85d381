"""What earlier runs found, so that a file that has not changed is neither read nor parsed again.

The cache is a folder with one folder per settings and, in it, a few dozen files, each of which holds the results for the
directories whose names hash to it: a run over five files reads and writes five of them at most, a run over fifty thousand
some hundred kilobytes at a time. Each file is JSON behind a checksum and is replaced as a whole; a file that is missing,
damaged or foreign counts as empty. Nothing in here raises because of what stands in the cache or because it cannot be written.

A checksum is no signature: who can write the cache can have a finding left out, as can who writes a noqa comment. What comes
from it is shown; a fix is never applied from it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from torchlint import __version__
from torchlint.diagnostic import SEVERITIES, Applicability, Diagnostic, Edit, FileError, Fix, Location, Severity
from torchlint.text.cache_folder import make, may_be_cache, write
from torchlint.text.reading import read_file

if TYPE_CHECKING:
    from torchlint.project.store import Store

FOLDER = ".torchlint_cache"

_TICK = 50_000_000
"""Nanoseconds: no file system in use on a local disk is coarser, except those that count whole seconds."""
_COARSE_TICK = 2_000_000_000

_LARGEST = 100_000_000
"""Bytes of one file of the cache; more are not read."""

_MOST_TEXT = 1_000_000
"""Characters of source in the findings of one file; more are not kept. Each finding holds its line, which may be any length."""

_UNSETTLED = [0, 0, -1]

_WITH_ANSWERS = 7
"""So many parts has an entry that rests on other files."""

Answers = Sequence[tuple[str, str]]
Entry = list[Any]
"""A result as JSON: modification time, change time, size, and for a file that was linted the hash of its content; where
there is something to report, then also findings and errors, and behind those what other files of the project answered."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the file system says of a file; when none of it changes, neither did the content."""

    modified: int
    changed: int
    size: int

    @classmethod
    def of(cls, path: str) -> Metadata:
        """That of the file at ``path``; raises `OSError`."""
        status = os.stat(path)
        return cls(status.st_mtime_ns, status.st_ctime_ns, status.st_size)

    def settled(self, now: int) -> bool:
        """Whether a change from ``now`` on (in nanoseconds) would show: not so within one tick of the last one."""
        last = max(self.modified, self.changed)
        tick = _COARSE_TICK if last % 1_000_000_000 == 0 else _TICK
        return last + tick < now


@dataclass(frozen=True, slots=True)
class Result:
    """What linting a file gave."""

    diagnostics: tuple[Diagnostic, ...] = ()
    errors: tuple[FileError, ...] = ()


CLEAN = Result()


def digest(data: bytes) -> str:
    """The hash that stands for a file's content."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def settings_key(codes: Iterable[str], *more: str) -> str:
    """The name for everything besides a file's content that a result depends on: this program, the Python that parses, the
    rules, and ``more`` where there is more."""
    parts = (__version__, _program(), sys.version, *codes, "", *more)
    return digest("\0".join(parts).encode("utf-8", "surrogatepass"))


@cache
def _program() -> str:
    """Names the state of this package's files, so that a changed rule makes old results void even without a new version."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    states = []
    for folder, _, names in os.walk(package):
        for name in names:
            if name.endswith(".py"):
                with suppress(OSError):
                    status = os.stat(os.path.join(folder, name))
                    states.append(f"{os.path.join(folder, name)} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(sorted(states))


@dataclass(slots=True)
class _Shard:
    """One file of the cache: for each directory the entries of its files, and what this run did to them."""

    directories: dict[str, dict[str, Entry]]
    used: set[tuple[str, str]] = field(default_factory=set)
    dirty: bool = False


class Cache:
    """The results for one ``key``, a `settings_key`, below ``folder``."""

    def __init__(self, folder: str, key: str) -> None:
        self._folder = folder
        self.key = key
        self._results = os.path.join(folder, key)
        self._working_directory = os.getcwd()
        self.holds: Callable[[str, Iterable[tuple[str, str]]], bool] = lambda path, answers: False
        """Whether what the file at a path was told of other files is what it would be told now."""
        self._shards: dict[str, _Shard] = {}
        self._shard_of: dict[str, tuple[str, str]] = {}
        """By the folders of paths as they are given, the names of shards and the folders' own paths."""

    @property
    def summaries(self) -> Store:
        """What the files of projects say, kept in the same folder whatever the settings."""
        from torchlint.project.store import Store  # and what it needs: not for a run without a cache

        return Store(self._folder, partial(settings_key, (), "summaries"))

    def by_metadata(self, path: str, metadata: Metadata) -> Result | None:
        """The result for the file at ``path`` if it has this ``metadata`` since; None otherwise."""
        entry = self._entry(path)
        if entry is None or entry[:3] != [metadata.modified, metadata.changed, metadata.size]:
            return None
        return self._result(entry, path)

    def by_content(self, path: str, content: str) -> Result | None:
        """The result for the file at ``path`` if the `digest` of what it holds is ``content`` still; None otherwise."""
        entry = self._entry(path)
        if entry is None or len(entry) < 4 or entry[3] != content:
            return None
        return self._result(entry, path)

    def _result(self, entry: Entry, path: str) -> Result | None:
        """The result in an entry, where what it rests on holds still."""
        try:
            holds = len(entry) < _WITH_ANSWERS or self.holds(path, ((str(asked), str(answer)) for asked, answer in entry[6]))
        except (TypeError, ValueError):
            return None
        return _result(entry, path) if holds else None

    def store(self, path: str, metadata: Metadata, content: str, result: Result, answers: Answers = ()) -> None:
        """Keeps the ``result`` for a file, whose ``metadata`` were taken before it was read. ``content`` is the `digest`, or
        empty for a file whose result is cheaper to find again than to look up by content. It rests on ``answers``, too."""
        entry: Entry = _state(metadata)
        if entry == _UNSETTLED and not content:
            return
        if content:
            entry.append(content)
        if sum(len(found.snippet) for found in result.diagnostics) > _MOST_TEXT:
            return
        if result.diagnostics or result.errors or answers:
            entry += [
                [_from_diagnostic(found) for found in result.diagnostics],
                [_from_error(error) for error in result.errors],
            ]
        if answers:
            entry.append([list(each) for each in answers])
        shard, directory, name = self._place(path)
        shard.directories.setdefault(directory, {})[name] = entry
        shard.used.add((directory, name))
        shard.dirty = True

    def renew(self, path: str, metadata: Metadata) -> None:
        """Has the result for a file, which `by_content` gave, stand for what the file system says of it now."""
        shard, directory, name = self._place(path)
        entry, state = shard.directories[directory][name], _state(metadata)
        if entry[:3] != state:
            entry[:3] = state
            shard.dirty = True

    def save(self) -> None:
        """Writes what changed; where that is impossible, the cache stays as it was."""
        if not any(shard.dirty for shard in self._shards.values()):
            return
        with suppress(OSError, ValueError):
            if not self._has_folder():
                return
            for name, shard in self._shards.items():
                if shard.dirty:
                    _forget_vanished(shard)
                    write(os.path.join(self._results, name), _seal(shard.directories))
                    shard.dirty = False

    def _entry(self, path: str) -> Entry | None:
        shard, directory, name = self._place(path)
        entry = shard.directories.get(directory, {}).get(name)
        if not isinstance(entry, list):
            return None
        shard.used.add((directory, name))
        return entry

    def _place(self, path: str) -> tuple[_Shard, str, str]:
        folder, name = os.path.split(path)
        known = self._shard_of.get(folder)
        if known is None:
            directory = os.path.dirname(os.path.join(self._working_directory, path))
            known = self._shard_of[folder] = f"{int(digest(os.fsencode(directory)), 16) % 64:02d}.json", directory
        shard_name, directory = known
        if shard_name not in self._shards:
            self._shards[shard_name] = _Shard(_read(os.path.join(self._results, shard_name)))
        return self._shards[shard_name], directory, name

    def _has_folder(self) -> bool:
        """Makes the folder where it is not there yet; False where it may not be the cache."""
        if not may_be_cache(self._folder) or os.path.islink(self._results):
            return False
        make(self._folder)
        os.makedirs(self._results, exist_ok=True)
        return True


def _state(metadata: Metadata) -> Entry:
    """How an entry starts: with no metadata that a file can have where it may change without its metadata showing it."""
    settled = metadata.settled(time.time_ns())
    return [metadata.modified, metadata.changed, metadata.size] if settled else [*_UNSETTLED]


def _seal(directories: dict[str, dict[str, Entry]]) -> bytes:
    import json

    payload = json.dumps(directories, separators=(",", ":")).encode()
    return digest(payload).encode() + b"\n" + payload


def _read(path: str) -> dict[str, dict[str, Entry]]:
    """What `_seal` put into the file at ``path``; nothing where that is not what it holds."""
    import json

    try:
        checksum, _, payload = read_file(path, _LARGEST).partition(b"\n")
        directories = json.loads(payload) if checksum == digest(payload).encode() else None
    except (OSError, ValueError, RecursionError):  # a ValueError is of a path, or of JSON, which anyone can put a checksum on
        return {}
    if not isinstance(directories, dict) or not all(isinstance(entries, dict) for entries in directories.values()):
        return {}
    return directories


def _forget_vanished(shard: _Shard) -> None:
    for directory, entries in list(shard.directories.items()):
        for name in list(entries):
            if (directory, name) not in shard.used and not os.path.lexists(os.path.join(directory, name)):
                del entries[name]
        if not entries:
            del shard.directories[directory]


# --- results to JSON and back ----------------------------------------------------------------------------------------


def _result(entry: Entry, path: str) -> Result | None:
    """The result in an entry; None where something else is in it."""
    if len(entry) in (3, 4):
        return CLEAN
    try:
        diagnostics, errors = entry[4:6]
        found = tuple(_to_diagnostic(each, path) for each in diagnostics)
        return Result(found, tuple(_to_error(each, path) for each in errors))
    except (TypeError, ValueError):
        return None


def _check(values: Iterable[object], kind: type) -> None:
    """Raises `TypeError` where one of ``values`` is of another type."""
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"not of type {kind.__name__}: {value!r}")


def _from_diagnostic(diagnostic: Diagnostic) -> list[Any]:
    return [
        diagnostic.code,
        diagnostic.name,
        diagnostic.message,
        *_from_span(diagnostic.location, diagnostic.end_location),
        _from_fix(diagnostic.fix) if diagnostic.fix else None,
        diagnostic.snippet,
        diagnostic.cell,
        diagnostic.json_row,
        diagnostic.declared_url,
        diagnostic.severity,
    ]


def _to_diagnostic(data: list[Any], path: str) -> Diagnostic:
    code, name, message, row, column, end_row, end_column, fix, snippet, cell, json_row, url, severity = data
    _check((code, name, message, snippet, url), str)
    _check((cell or 0, json_row or 0), int)
    return Diagnostic(
        code=code,
        name=name,
        message=message,
        filename=path,
        location=_to_location(row, column),
        end_location=_to_location(end_row, end_column),
        fix=_to_fix(fix) if fix else None,
        snippet=snippet,
        cell=cell,
        json_row=json_row,
        declared_url=url,
        severity=_to_severity(severity),
    )


def _to_severity(value: object) -> Severity:
    for severity in SEVERITIES:
        if value == severity:
            return severity
    raise ValueError(f"no severity: {value!r}")


def _from_fix(fix: Fix) -> list[Any]:
    edits = [[*_from_span(edit.location, edit.end_location), edit.content, edit.cell] for edit in fix.edits]
    return [fix.message, fix.applicability.value, fix.reason, edits]


def _to_fix(data: list[Any]) -> Fix:
    message, applicability, reason, edits = data
    _check((message, reason, *(content for *_, content, _ in edits)), str)
    return Fix(
        message,
        tuple(
            Edit(_to_location(row, column), _to_location(end_row, end_column), content, cell)
            for row, column, end_row, end_column, content, cell in edits
        ),
        Applicability(applicability),
        reason,
    )


def _from_span(start: Location, end: Location) -> tuple[int, int, int, int]:
    return start.row, start.column, end.row, end.column


def _to_location(row: object, column: object) -> Location:
    if not isinstance(row, int) or not isinstance(column, int) or row < 1 or column < 1:
        raise TypeError(f"no place: {row!r}, {column!r}")
    return Location(row, column)


def _from_error(error: FileError) -> list[Any]:
    place = [error.location.row, error.location.column] if error.location else None
    return [error.message, place, error.code, error.cell, error.json_row]


def _to_error(data: list[Any], path: str) -> FileError:
    message, place, code, cell, json_row = data
    _check((message, code), str)
    _check((cell or 0, json_row or 0), int)
    return FileError(path, message, _to_location(*place) if place else None, code, cell, json_row)
