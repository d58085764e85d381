"""The files of a project as they are on disk: which there are, and what they say, read once for as long as they stay.

`Files` is what all lints of a process share. `Reading` is what one of them sees: it keeps account of all that it was told, so
that a result can be kept and used again for as long as the answers stay the same.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from torchlint.project import roots
from torchlint.project.callers import Callers
from torchlint.project.origins import Origins, is_settled
from torchlint.project.outputs import Givens, Outputs
from torchlint.project.talk import Talk
from torchlint.project.trees import Trees
from torchlint.text.reading import read_file

if TYPE_CHECKING:
    from torchlint.project.store import Store
    from torchlint.semantics.summaries.calls import Calls
    from torchlint.semantics.summaries.summary import ClassOutput, Given, Place, Summary

_LARGEST = 1_000_000
"""Bytes of a file that is summed up; larger ones are generated, and say nothing."""
_MOST_KEPT = 4_000
"""So many summaries are kept in memory; where there are more, all are made or read again that somebody asks for."""
_MOST_PLACES = 200_000
"""So many places in folders are kept in mind."""
_DEEP = 200
"""Folders in folders, of which links are followed one by one; deeper ones are left to the system."""
_OTHERS = frozenset({"torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "matplotlib", "tqdm", "PIL", "cv2"})
"""Packages that a project has none of its own name of, unless it is they."""

_STUB = ".pyi"
"""How files are called that only tell types: what is there for Python comes first."""
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
Answers = tuple[tuple[str, str], ...]
"""What a reading rests on: what was asked for, and a text that stands for the answer."""


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


class Files:
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
        self._held: dict[tuple[str, str, str], bool] = {}
        self._real: dict[str, str] = {}
        self._states: dict[str, str | None] = {}
        self.texts: dict[str, bytes] = {}
        """What stands in for the content of files, by their absolute paths."""
        self.trees = Trees()
        self.callers = Callers(self.texts, self.trees, store)
        self.outputs = Outputs(self.texts, self._state, store)
        self.givens = Givens(self.texts, self._state, store)
        self.origins = Origins(self.texts, self._state)
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
        self._held.clear()
        self._real.clear()
        self._states.clear()
        self.callers.look_again()
        self.talk.forget()
        roots.look_again()

    def reading(self, file: str, root: str = "") -> Reading:
        """What the file at a path, which need not be there, sees of its project."""
        path = os.path.abspath(file)
        return Reading(self, path, os.path.abspath(root) if root else roots.root_of(os.path.dirname(path)))

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
            found = _bounded(self._had, _MOST_PLACES)[key] = _shown(*place) if place is not None else ""
        return found

    def holds(self, asked: str, answer: str, root: str) -> bool:
        """Whether a file below a root would be told the same now of what it asked for: many ask the same."""
        key = (root, asked, answer)
        found = self._held.get(key)
        if found is None:
            found = _bounded(self._held, _MOST_PLACES)[key] = self._holds(asked, answer, root)
        return found

    def _holds(self, asked: str, answer: str, root: str) -> bool:
        if asked == _ROOT:
            return root == answer
        if asked.startswith(_TALK):
            return str(self.talk.speaks_of(asked.removeprefix(_TALK), root)) == answer
        for start, told in ((_OUTPUTS, self.outputs), (_GIVEN, self.givens), (_BOUND, self.origins)):
            if asked.startswith(start):
                path, *names = asked.removeprefix(start).split("\n")
                return told.is_as(os.path.join(root, path), tuple(names), answer)
        if asked.startswith(_NAMING):
            name, *words = asked.removeprefix(_NAMING).split("\n")
            return self.callers.are_naming(name, words, root, answer)
        if asked.startswith(_CALLERS):
            path, name, *words = asked.removeprefix(_CALLERS).split("\n")
            return self.callers.are_as(name, words, os.path.join(root, path) if path else "", root, answer)
        if answer.startswith("="):
            return self.is_as(os.path.join(root, asked), answer)
        return self.has(asked, root) == answer

    def _find(self, path: str, root: str) -> tuple[str, str] | None:
        is_folder = os.path.isdir(path)
        package = os.path.join(path, "__init__")
        for file, folder in ((package + ".py", path), (path + ".py", ""), (package + _STUB, path), (path + _STUB, "")):
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
        is_stub = file.endswith(_STUB)
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


class Reading:
    """What one file sees of its project: the `Project` of its lookups."""

    def __init__(self, files: Files, path: str, root: str) -> None:
        self._files = files
        self.file = path
        self.root = root
        self._asked: dict[str, str] = {}
        self._tops: dict[str, tuple[str, ...]] = {}
        self._below: dict[str, str] = {}
        """Folders as they are called from the root."""
        self._is_inside = path.startswith(os.path.join(root, ""))
        self._own: Summary | None = None
        """What the file itself says, where others look at it."""

    @property
    def answers(self) -> Answers:
        """All that was asked for, with the answers; nothing where nothing was."""
        if not self._asked:
            return ()
        return ((_ROOT, self.root), *sorted(self._asked.items()))

    def module(self, name: str, file: str) -> tuple[Place, ...]:
        """The places that the first part of ``name`` may be, as ``file`` imports it; of a relative name, its dots' folder."""
        if not self._is_inside:
            return ()
        if name.startswith("."):
            return self._relative(len(name) - len(name.lstrip(".")), file)
        first = name.partition(".")[0]
        if first in _OTHERS or not first.isidentifier():
            return ()
        namespaces: list[Place] = []
        for top in self._tops_of(file):
            place = self._found(top, first)
            if place is not None and place.file:
                return (self._less_own_file(place),) if self._is_seen(place) or place.folder else ()
            namespaces += [place] if place is not None else []
        return tuple(namespaces)

    def _less_own_file(self, place: Place) -> Place:
        """A place without the file that is linted itself: of its package, what is below is known still."""
        from torchlint.semantics.summaries.summary import Place

        return place if self._is_seen(place) else Place("", place.folder)

    def _relative(self, level: int, file: str) -> tuple[Place, ...]:
        from torchlint.semantics.summaries.summary import Place

        folder = os.path.dirname(file)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        if folder != self.root and not folder.startswith(os.path.join(self.root, "")):
            return ()
        place = self._found(folder, "__init__")
        return (Place(place.file if place is not None and self._is_seen(place) else "", folder),)

    def _is_seen(self, place: Place) -> bool:
        """Whether a place is one that is asked: a file does not ask itself."""
        return place.file != self.file or self._own is not None

    def _tops_of(self, file: str) -> tuple[str, ...]:
        """The folders in which ``file`` finds what it imports by a full name, in the order in which they are looked through.

        Above the folder of its packages come the project's root and its ``src``; then what a program may have put in its path:
        the folders between, and its own.
        """
        folder = os.path.dirname(file)
        if folder not in self._tops:
            start = folder
            while start != self.root and self._found(start, "__init__") is not None:
                start = os.path.dirname(start)
            between = [start]
            while between[-1] != self.root and len(between[-1]) > len(self.root):
                between.append(os.path.dirname(between[-1]))
            tops = (start, self.root, os.path.join(self.root, "src"), *between, folder)
            self._tops[folder] = tuple(dict.fromkeys(tops))
        return self._tops[folder]

    def _found(self, folder: str, name: str) -> Place | None:
        place = self._files.inner(folder, name, self.root)
        below = self._below.get(folder)
        if below is None:
            below = self._below[folder] = os.path.relpath(folder, self.root)
        self._asked[os.path.join(below, name)] = "" if place is None else _shown(place.file, place.folder)
        return place

    def inner(self, place: Place, name: str) -> Place | None:
        """The module or package of that name in a package."""
        found = self._found(place.folder, name) if place.folder else None
        return found if found is None or self._is_seen(found) else None

    def summary(self, file: str) -> Summary:
        """What a file says."""
        if file == self.file and self._own is not None:
            return self._own
        summary, stamp = self._files.summed_up(file)
        self._asked[os.path.relpath(file, self.root)] = stamp
        return summary

    def calls(self, name: str, words: tuple[str, ...], file: str) -> tuple[tuple[str, Calls], ...]:
        """The calls of something called ``name`` in a file, and in those that import one of some words."""
        if not self._is_inside:
            return ()
        beside = "" if file == self.file else file  # its own calls are not asked for here
        found = self._files.callers.of(name, words, beside, self.root)
        shown = os.path.relpath(beside, self.root) if beside else ""
        self._asked["\n".join((_CALLERS + shown, name, *words))] = found.stamp
        return found.calls

    def naming(self, name: str, words: tuple[str, ...]) -> tuple[str, ...]:
        """The other files that import one of some words, and have a name in them."""
        if not self._is_inside:
            return ()
        found, self._asked["\n".join((_NAMING + name, *words))] = self._files.callers.naming(name, words, self.root)
        return tuple(each for each in found if each != self.file)

    def outputs(self, file: str) -> tuple[ClassOutput, ...]:
        """What calling the modules of a file gives, as far as that file alone tells."""
        given, stamp = self._files.outputs.of(file)
        self._asked[_OUTPUTS + os.path.relpath(file, self.root)] = stamp
        return given

    def given(self, file: str, name: str) -> Given:
        """What a function of a file gives, or a method or attribute, ``Class.name``, as far as that file alone tells."""
        found, self._asked[f"{_GIVEN}{os.path.relpath(file, self.root)}\n{name}"] = self._files.givens.of(file, (name,))
        return found

    def may_bind(self, file: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Where a file may have one of some names from: modules that it imports everything of, or, as ``""``, itself."""
        found, stamp = self._files.origins.of(file, names)
        self._asked["\n".join((_BOUND + os.path.relpath(file, self.root), *names))] = stamp
        return found

    def as_others_see_it(self, own: Summary) -> Reading:
        """What the other files see of the project, to which this one belongs: it says what its own summary does."""
        others = Reading(self._files, self.file, self.root)
        others._own = own
        others._asked = self._asked
        return others

    def speaks_of(self, topic: str) -> bool | None:
        """Whether any file of the project has the words of a topic; `None` where that is not known."""
        if not self._is_inside:
            return None
        found = self._files.talk.speaks_of(topic, self.root)
        self._asked[_TALK + topic] = str(found)
        return found


_ROOT = "/"
"""What stands for the root among what was asked for: no path below it is called so."""
_CALLERS = "//"
"""What a question starts with that is about who calls."""
_BOUND = "///"
"""What a question starts with that is about names which a file may bind."""
_OUTPUTS = "//="
"""What a question starts with that is about what modules give."""
_GIVEN = "//!"  # about what a function, a method or an attribute gives
_TALK = "//?"  # a topic that the project's files may speak of
_NAMING = "//+"  # the files that have a name in them


def still_hold(files: Files, file: str, answers: Iterable[tuple[str, str]], root: str = "") -> bool:
    """Whether all that a file was told of its project is what it would be told now."""
    above = files.reading(file, root).root
    return all(files.holds(asked, answer, above) for asked, answer in answers)


def is_about(asked: str) -> str | None:
    """The path below the root that a question is about, empty for all of the project; `None` where its words are asked for."""
    if asked == _ROOT or asked.startswith(_NAMING):
        return ""
    for about in (_OUTPUTS, _GIVEN, _BOUND, _TALK, _CALLERS):  # the longer ones first
        if asked.startswith(about):
            return asked.removeprefix(about).partition("\n")[0] if about != _TALK else None
    return asked


def _shown(file: str, folder: str) -> str:
    """What stands for what a folder has under a name."""
    return ("" if not file else "s" if file.endswith(_STUB) else "f") + ("d" if folder else "")
