"""Which files of a project import a name: a sieve of bytes over all of its files, so that only few are parsed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from sys import intern
from typing import TYPE_CHECKING

from torchlint.project.programs import code_of, is_program
from torchlint.text.reading import TICK, read_file

if TYPE_CHECKING:
    from torchlint.project.store import Store

_LARGEST = 1_000_000
_MOST_FILES = 20_000
"""So many files of a project are looked through; in larger ones, nobody is asked who calls."""
SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "env", "build", "dist"})
_NAMES = rb"(?:[^\n;#\\]|\\\r?\n)*"
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|" + _NAMES + rb")|import[ \t]+(" + _NAMES + rb"))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")
_OTHERS = (b"torch", b"numpy", b"typing", b"__future__", b"os", b"collections")
State = tuple[int, int, int]
_NOTE = "imports"
_Note = tuple[tuple[str, State, str], ...]
"""Paths below the root with the states of the files, and the words of each."""


class Importers:
    """The words in the import statements of each file below a root."""

    def __init__(self, root: str, store: Store | None = None) -> None:
        self._root = root
        self._store = store
        self._words: dict[str, tuple[State, frozenset[str]]] | None = None
        self._files: dict[str, list[str]] | None = None

    def look_again(self) -> None:
        """Has the files be looked for again; what has not changed is not read again."""
        self._files = None

    def of(self, words: Iterable[str]) -> list[str]:
        """The files that import something called by one of some words, or from a module called so; in order."""
        files = self.by_word()
        return sorted({file for word in words for file in files.get(word, ())})

    def by_word(self) -> dict[str, list[str]]:
        """The files that import something, by the words in their imports."""
        if self._files is None:
            self._files = self._by_word()
        return self._files

    def _by_word(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        known = self._noted() if self._words is None else self._words
        self._words = {}
        is_new = False
        there = list(self._there())
        for path, state in there if len(there) <= _MOST_FILES else ():
            kept = known.get(path)
            if kept is None or kept[0] != state:
                kept, is_new = (state, imported_words(path)), True
            self._words[path] = kept
            for word in kept[1]:
                found.setdefault(word, []).append(path)
        if is_new or len(known) > len(self._words):
            self._note()
        return found

    def _noted(self) -> dict[str, tuple[State, frozenset[str]]]:
        """The words of files as an earlier run found them."""
        noted = self._store.noted(_NOTE, _Note, self._root) if self._store is not None else None
        return {os.path.join(self._root, path): (state, frozenset(words.split())) for path, state, words in noted or ()}

    def _note(self) -> None:
        """Puts down the words of those files a change of which would show in their state."""
        if self._store is not None and self._words:
            settled = time.time_ns() - TICK
            known = sorted((os.path.relpath(path, self._root), *kept) for path, kept in self._words.items())
            self._store.note(
                _NOTE,
                self._root,
                [(path, state, " ".join(sorted(words))) for path, state, words in known if max(state[:2]) < settled],
            )

    def _there(self) -> Iterator[tuple[str, State]]:
        """The files of the project, each with its state; one more than are looked through, where there are more."""
        pending, count = [self._root], 0
        while pending:
            try:
                with os.scandir(pending.pop()) as entries:
                    every = sorted(entries, key=lambda each: each.name)
            except OSError:
                continue
            for entry in every:
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        pending.append(entry.path)
                elif is_program(entry.name):
                    count += 1
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    yield entry.path, (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
                    if count > _MOST_FILES:
                        return


def imported_words(path: str) -> frozenset[str]:
    """The words in the import statements of a file."""
    try:
        data = read_file(path, _LARGEST)
    except (OSError, ValueError):
        return frozenset()
    return words_in(code_of(path, data) if b"import" in data else b"")


def words_in(data: bytes) -> frozenset[str]:
    """The words in the import statements of a text, but for those of modules that are surely not of the project."""
    found: set[bytes] = set()
    for match in _IMPORT.finditer(data):
        module, names, modules = match.groups()
        if module is not None and module.partition(b".")[0] in _OTHERS:
            continue
        for text in (module, names, modules):
            if text:
                found.update(_WORD.findall(text))
    found -= {b"as", b"import", *_OTHERS}
    return frozenset(intern(word.decode("utf-8", "replace")) for word in found)  # most are imported by many
