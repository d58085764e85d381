"""What the files of a project call: looked for by the names that they import, and parsed only where they hold the name."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from torchlint.project.calling import Sought
from torchlint.project.importers import Importers, State, words_in
from torchlint.project.programs import code_of, program_of
from torchlint.text.reading import TICK, read_file

if TYPE_CHECKING:
    from torchlint.project.store import Store
    from torchlint.project.trees import Trees
    from torchlint.semantics.summaries.calls import Calls

_LARGEST = 1_000_000
"""Bytes of a file whose calls are looked at."""
_MOST_IMPORTING = 200
"""Where more files import something, or its file, nobody is asked either: all of them would be read."""
_MOST_READ = 1_000_000
"""So many bytes of files are kept."""
_MOST_CALLING = 32
"""Where more files may call something, nobody is asked: it is called like much else, and all of them would be parsed."""
_UNKNOWN: State = (0, 0, -1)


@dataclass(frozen=True, slots=True)
class Found:
    """The ``calls`` of something by the files that they are in; the ``stamp`` stands for them and the state of the files."""

    calls: tuple[tuple[str, Calls], ...]
    stamp: str


class Callers:
    """The calls in the files of all projects, as far as somebody asked for them."""

    def __init__(self, texts: Mapping[str, bytes], trees: Trees, store: Store | None = None) -> None:
        self.texts = texts
        self._trees = trees
        self._store = store
        self._importers: dict[str, Importers] = {}
        self._found: dict[tuple[str, str, str, tuple[str, ...]], Found] = {}
        self._calls: dict[tuple[str, str], tuple[State, Calls]] = {}
        self._states: dict[str, State] = {}
        self._naming: dict[tuple[str, str, tuple[str, ...]], tuple[tuple[str, ...], str]] = {}
        self._among: dict[tuple[str, str, tuple[str, ...]], tuple[tuple[str, ...], str]] = {}
        """Files that may call something, with their state, as they were asked for."""
        self._read: dict[str, bytes] = {}
        """The files that were read last: those that call one function of a file call others of it."""
        self._size = 0

    def look_again(self) -> None:
        """Has everything that may have changed on disk be looked at when it is asked for again."""
        for each in self._importers.values():
            each.look_again()
        self._found.clear()
        self._naming.clear()
        self._states.clear()
        self._among.clear()
        self._read.clear()
        self._size = 0

    def of(self, name: str, words: Iterable[str], file: str, root: str) -> Found:
        """The calls of something called ``name`` in ``file``, if one is named, and in files that import one of some words."""
        key = (root, name, file, tuple(sorted(words)))
        if key not in self._found:
            self._found[key] = self._look_for(name, *self._files(key[3], file, root), root)
        return self._found[key]

    def are_as(self, name: str, words: Iterable[str], file: str, root: str, stamp: str) -> bool:
        """Whether the calls are still those for which there was a ``stamp``; files are parsed only if something happened."""
        told, _, state = stamp.partition(":")
        if state and self._files(tuple(sorted(words)), file, root)[1] == state:
            return True
        return self.of(name, words, file, root).stamp.partition(":")[0] == told

    def naming(self, name: str, words: Iterable[str], root: str) -> tuple[tuple[str, ...], str]:
        """The files that import one of some words and have a name in them, and a text that stands for that."""
        key = (root, name, tuple(sorted(words)))
        if key not in self._naming:
            files, state = self._files(key[2], "", root)
            word = name.encode("utf-8", "surrogatepass")
            found = tuple(each for each in files if word in self.text(each, word))
            shown = digest(repr([os.path.relpath(each, root) for each in found]))
            self._naming[key] = found, f"{shown}:{state}" if state else shown
        return self._naming[key]

    def are_naming(self, name: str, words: Iterable[str], root: str, stamp: str) -> bool:
        """Whether the same files have a name in them; they are read only if something happened to one."""
        told, _, state = stamp.partition(":")
        if state and self._files(tuple(sorted(words)), "", root)[1] == state:
            return True
        return self.naming(name, words, root)[1].partition(":")[0] == told

    def _files(self, words: tuple[str, ...], file: str, root: str) -> tuple[tuple[str, ...], str]:
        """The files that may call something, not more than are looked at, and their state."""
        key = (root, file, words)
        if key not in self._among:
            files = self._that_may_call(words, file, root)
            self._among[key] = tuple(files), self._state_of_all(files, root)
        return self._among[key]

    def importers(self, root: str) -> Importers:
        """What the files below a root import."""
        if root not in self._importers:
            self._importers[root] = Importers(root, self._store)
        return self._importers[root]

    def _that_may_call(self, words: tuple[str, ...], file: str, root: str) -> list[str]:
        inside = os.path.join(root, "")
        texts = ((path, text) for path, text in self.texts.items() if path.startswith(inside))
        open_ = (path for path, text in texts if words_in(code_of(path, text)) & {*words})
        files = sorted({*self.importers(root).of(words), *open_, *([file] if file else [])})
        return files if len(files) <= _MOST_IMPORTING else []

    def _look_for(self, name: str, files: tuple[str, ...], state: str, root: str) -> Found:
        sought = Sought(name)
        texts = ((each, self.text(each, sought.word)) for each in files)
        calling = list(islice((each for each in texts if sought.is_in(each[1])), _MOST_CALLING + 1))
        found: dict[str, Calls] = {}
        for each, text in calling if len(calling) <= _MOST_CALLING else ():
            if sought.may_be_called_in(text) and (calls := self._calls_in(each, name, text)):
                found[each] = calls
        shown = digest(repr([(os.path.relpath(each, root), calls) for each, calls in found.items()])) if found else ""
        return Found(tuple(found.items()), f"{shown}:{state}" if state else shown)

    def _state_of_all(self, files: list[str], root: str) -> str:
        """What stands for the state of some files; empty where a change from now on need not show in it."""
        inside = os.path.join(root, "")
        states = [(each.removeprefix(inside), self._state(each)) for each in files]
        now = time.time_ns()
        if any(each in self.texts for each in files) or any(max(state[:2]) + TICK >= now for _, state in states):
            return ""
        return digest(repr(states))

    def _state(self, file: str) -> State:
        if file not in self._states:
            try:
                status = os.stat(file)
                self._states[file] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
            except (OSError, ValueError):
                self._states[file] = _UNKNOWN
        return self._states[file]

    def text(self, file: str, word: bytes) -> bytes:
        """The Python in a file, perhaps nothing where it does not hold a word; empty where it cannot be read."""
        text = self.texts.get(file)
        if text is None:
            text = self._read[file] if file in self._read else self._read_now(file)
        return program_of(file, text) if word in text or not word.isascii() else b""

    def code(self, file: str) -> bytes:
        """The code in a file as it is written, magics of notebooks included; empty where it cannot be read."""
        text = self.texts.get(file)
        return code_of(file, self._read_now(file) if text is None else text)

    def _read_now(self, file: str) -> bytes:
        """What is in a file on disk; nothing where it cannot be read."""
        try:
            text = read_file(file, _LARGEST)
        except (OSError, ValueError):
            text = b""
        while self._read and self._size + len(text) > _MOST_READ:
            self._size -= len(self._read.pop(next(iter(self._read))))
        self._read[file] = text
        self._size += len(text)
        return text

    def _calls_in(self, file: str, name: str, text: bytes) -> Calls:
        """The calls in a file, which holds a text, of something called so."""
        if file in self.texts:
            return self._calls_of(text, name)
        known, state = self._calls.get((file, name)), self._state(file)
        if known is None or known[0] != state:
            known = self._calls[file, name] = state, self._calls_of(text, name)
        return known[1]

    def _calls_of(self, data: bytes, name: str) -> Calls:
        if self._store is None:
            return self._trees.calls(data, name)
        from torchlint.semantics.summaries.calls import CallSummary

        key = b"\0".join((name.encode("utf-8", "surrogatepass"), data))
        return self._store.kept("calls", tuple[CallSummary, ...], key, lambda: self._trees.calls(data, name))


def digest(text: str) -> str:
    """The hash that stands for a text."""
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
