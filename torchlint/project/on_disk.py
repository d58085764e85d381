"""The files of a project as they are on disk: which there are, and what they say, read once for as long as they stay."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from torchlint.project import roots
from torchlint.project.callers import Callers
from torchlint.project.questions import STUB, shown
from torchlint.project.talk import Talk
from torchlint.project.told.bodies import Bodies
from torchlint.project.told.by_file import is_settled
from torchlint.project.told.givens import Givens
from torchlint.project.told.mentions import Mentions
from torchlint.project.told.origins import Origins
from torchlint.project.told.outputs import Outputs
from torchlint.project.trees import Trees
from torchlint.text.reading import read_file

if TYPE_CHECKING:
    from torchlint.project.store import Store
    from torchlint.semantics.summaries.summary import Place, Summary

_LARGEST = 1_000_000
"""Bytes of a file that is summed up; larger ones are generated, and say nothing."""
_MOST_KEPT = 4_000
"""So many summaries are kept in memory; where there are more, all are made or read again that somebody asks for."""
_MOST_PLACES = 200_000
"""So many places in folders are kept in mind."""
_DEEP = 200
"""Folders in folders, of which links are followed one by one; deeper ones are left to the system."""
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class _Read:
    """A file that was summed up, and what the file system said of it."""

    state: tuple[int, int, int]
    summary: Summary
    digest: str

    @property
    def stamp(self) -> str:
        """The digest, and the state of the file if a change from now on would show in it."""
        state = ":".join(map(str, self.state))
        return f"={self.digest}" + (f":{state}" if self.state[2] >= 0 and is_settled(state) else "")


class OnDisk:
    """The files of all projects, as far as somebody asked for them.

    What is found is taken to stay for a run; `look_again` has all of it looked at anew, by its times and sizes.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._read: dict[str, _Read] = {}
        self._kept: dict[str, _Read] = {}
        self._inner: dict[tuple[str, str, str], Place | None] = {}
        self._there: dict[tuple[str, str, str], tuple[str, str] | None] = {}
        self._had: dict[tuple[str, str], str] = {}
        self._real: dict[str, str] = {}
        self._states: dict[str, str | None] = {}
        self.texts: dict[str, bytes] = {}
        """What stands in for the content of files, by their absolute paths."""
        self.trees = Trees()
        self.callers = Callers(self.texts, self.trees, store)
        self.bodies = Bodies(self.texts, self._state, self.trees, store)
        self.outputs = Outputs(self.texts, self._state, self.trees, store)
        self.givens = Givens(self.texts, self._state, self.trees, store)
        self.origins = Origins(self.texts, self._state, self.trees, store)
        self.mentions = Mentions(self.callers, self.trees)
        self.talk = Talk(self.texts.get)
        roots.look_again()

    @property
    def has_store(self) -> bool:
        """Whether what is found out is kept where other processes see it."""
        return self._store is not None

    def look_again(self) -> None:
        """Has everything that may have changed on disk be looked at when it is asked for again."""
        self._kept.update(self._read)
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()
        self._read.clear()
        self._inner.clear()
        self._there.clear()
        self._had.clear()
        self._real.clear()
        self._states.clear()
        self.callers.look_again()
        self.mentions.look_again()
        self.talk.forget()
        roots.look_again()

    def inner(self, folder: str, name: str, root: str) -> Place | None:
        """The module or package of that name in a folder."""
        key = (folder, name, root)
        if key not in self._inner:
            from torchlint.semantics.summaries.summary import Place

            found = self._at(folder, name, root)
            _bounded(self._inner, _MOST_PLACES)[key] = None if found is None else Place(*found)
        return self._inner[key]

    def _at(self, folder: str, name: str, root: str) -> tuple[str, str] | None:
        """The file and the folder of the module or package of that name; what only asks for these need not load more."""
        key = (folder, name, root)
        if key not in self._there:
            _bounded(self._there, _MOST_PLACES)[key] = self._find(os.path.join(folder, name), root)
        return self._there[key]

    def has(self, path: str, root: str) -> str:
        """What stands for the module or package at a path below the root, without its ending."""
        key = (root, path)
        found = self._had.get(key)
        if found is None:
            folder, name = os.path.split(path)
            place = self._at(os.path.normpath(os.path.join(root, folder)), name, root)
            found = _bounded(self._had, _MOST_PLACES)[key] = shown(*place) if place is not None else ""
        return found

    def _find(self, path: str, root: str) -> tuple[str, str] | None:
        is_folder = os.path.isdir(path)
        package = os.path.join(path, "__init__")
        for file, folder in ((package + ".py", path), (path + ".py", ""), (package + STUB, path), (path + STUB, "")):
            if file in self.texts or ((is_folder or not folder) and os.path.isfile(file)):
                return (file, folder) if self.is_inside(file, root) else None
        return ("", path) if is_folder and self.is_inside(path, root) else None

    def is_inside(self, path: str, root: str) -> bool:
        """Whether a path leads to something below a root, with all links followed."""
        real, above = (self._real_path(each) for each in (path, root))
        return real.startswith(os.path.join(above, ""))

    def _real_path(self, path: str) -> str:
        found = self._real.get(path)
        if found is None:
            folder, name = os.path.split(path)
            if name in ("", os.curdir, os.pardir) or path.count(os.sep) > _DEEP or os.path.islink(path):
                found = os.path.realpath(path)
            else:
                found = os.path.join(self._real_path(folder), name)
            _bounded(self._real, _MOST_PLACES)[path] = found
        return found

    def summed_up(self, file: str) -> tuple[Summary, str]:
        """What a file says, and a text that stands for that."""
        found = self._read.get(file)
        if found is None:
            found = _bounded(self._read)[file] = self._look_at(file)
        return found.summary, found.stamp

    def is_as(self, file: str, stamp: str) -> bool:
        """Whether a file still says what it did when it was given a ``stamp``; it is read only if something happened to it."""
        if file not in self._read and self._state(file) == stamp.partition(":")[2]:
            return True
        return self.summed_up(file)[1].partition(":")[0] == stamp.partition(":")[0]

    def _state(self, file: str) -> str | None:
        """The state of a file, as a stamp has it; `None` where only its content tells."""
        if file not in self._states:
            try:
                status = os.stat(file)
            except (OSError, ValueError):
                self._states[file] = None
            else:
                self._states[file] = f"{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_size}"
        return None if file in self.texts else self._states[file]

    def _look_at(self, file: str) -> _Read:
        from torchlint.semantics.summaries.summary import EMPTY

        if (text := self.texts.get(file)) is not None:
            return self._summed_up(text, (0, 0, -1), file)
        try:
            status = os.stat(file)
            state = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
            known = self._kept.get(file)
            if known is not None and known.state == state:
                return known
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                return _Read(state, EMPTY, "")
            return self._summed_up(read_file(file, _LARGEST), state, file)
        except (OSError, ValueError):
            return _Read((0, 0, -1), EMPTY, "")

    def _summed_up(self, data: bytes, state: tuple[int, int, int], file: str) -> _Read:
        is_stub = file.endswith(STUB)
        if self._store is None:
            return _Read(state, *self.trees.summary(data, is_stub=is_stub))
        from torchlint.semantics.summaries.summary import Summary

        def said() -> tuple[Summary, str]:
            return self.trees.summary(data, is_stub=is_stub)

        kind = "stub" if is_stub else "summary"
        return _Read(state, *self._store.kept(kind, tuple[Summary, str], data, said))


def _bounded(known: dict[_Key, _Value], most: int = 0) -> dict[_Key, _Value]:
    """What is known, to which something is to be added: emptied where it is as much as is kept."""
    if len(known) >= (most or _MOST_KEPT):
        known.clear()
    return known
