"""Programs of a project that know the CPU alone, beside others that do not: what they save has its tensors there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

FILES_OF_CPU = "files of the CPU: "
"""The topic that asks of a file, in the folder where it is asked, whether it reads what programs of the CPU have saved.

Behind the name of the file and a stroke, it has a part of the name of what is read.
"""
_MOST_FILES = 400
_IMPORTS = re.compile(
    rb"(?m)^[ \t]{0,60}(?:from[ \t]+([\w.]{1,200})[ \t]+import\b[ \t]*(\([^)]{0,4000}\)|[^\n]*)|import[ \t]+([^\n]*))"
)
_WORD = re.compile(rb"\w+")
_IN_OTHER_WAYS = re.compile(rb"\bimportlib\b|\b__import__\b|\brunpy\b|\bexec\(")
"""How code is run that no import names."""
_SAVES = re.compile(rb"\btorch\.save\b|\bimport save\b")
_TRAINS = re.compile(rb"(?m)^[^#\n]{0,200}?\.backward\(")


@dataclass(frozen=True, slots=True)
class _File:
    """What a file of code imports, by all the words of its imports, and what it says itself."""

    words: frozenset[str]
    may_leave: bool
    saves: bool
    trains: bool


class _Project:
    """The files of a project, and how they import one another: by their names, whatever folder they are in."""

    def __init__(self, files: dict[str, _File]) -> None:
        self.files = files
        self._named: dict[str, list[str]] = {}
        for each in files:
            self._named.setdefault(_module(each), []).append(each)
        self._importing: dict[str, list[str]] = {}
        for each, said in files.items():
            for word in said.words & self._named.keys():
                self._importing.setdefault(word, []).append(each)
        self._known: dict[str, tuple[bool, bool]] = {}

    def program(self, path: str) -> tuple[bool, bool]:
        """Whether any of the files that a file runs with may leave the CPU, and whether any trains."""
        if path not in self._known:
            above = _reached([path], lambda each: self._importing.get(_module(each), ()))
            program = _reached(above, self._imported)
            self._known[path] = (
                any(self.files[each].may_leave for each in program),
                any(self.files[each].trains for each in program),
            )
        return self._known[path]

    def _imported(self, path: str) -> Iterator[str]:
        for word in self.files[path].words & self._named.keys():
            yield from self._named[word]


class CpuPrograms:
    """Tells what such programs save; each project is looked through once.

    A file runs with all that import it, and with what these import.
    """

    def __init__(
        self,
        code: Callable[[str], bytes | None],
        files: Callable[[str], Iterator[str | None]],
        may_leave: Callable[[bytes], bool],
    ) -> None:
        self._code = code
        self._files = files
        self._may_leave = may_leave
        self._projects: dict[str, _Project | None] = {}

    def forget(self) -> None:
        """Has all files be read again."""
        self._projects.clear()

    def have_saved(self, name: str, reader: str, root: str) -> bool:
        """Whether all files of a project that save, and have a ``name`` in them, are of programs that train on the CPU and know
        nothing else; and so is the ``reader``, which need not train.
        """
        if root not in self._projects:
            self._projects[root] = self._looked_through(root)
        project = self._projects[root]
        if project is None or reader not in project.files or project.program(reader)[0]:
            return False
        is_saved = False
        for path, said in project.files.items():
            lines = [line for line in (self._code(path) or b"").splitlines() if name.encode() in line] if said.saves else []
            if lines:
                if project.program(path) != (False, True):
                    return False
                is_saved = is_saved or any(b"load" not in line for line in lines)
        return is_saved

    def _looked_through(self, root: str) -> _Project | None:
        """What the files say; `None` where there are too many, or one cannot be read."""
        found: dict[str, _File] = {}
        for path in self._files(root):
            text = self._code(path) if path is not None and len(found) < _MOST_FILES else None
            if path is None or text is None:
                return None
            words = {each.decode("ascii", "replace") for match in _IMPORTS.finditer(text) for each in _words(match.groups())}
            found[path] = _File(
                frozenset(words),
                self._may_leave(text) or _IN_OTHER_WAYS.search(text) is not None,
                _SAVES.search(text) is not None,
                _TRAINS.search(text) is not None,
            )
        return _Project(found)


def _words(groups: Iterable[bytes | None]) -> Iterator[bytes]:
    for group in groups:
        if group is not None:
            yield from _WORD.findall(group)


def _module(path: str) -> str:
    """The name by which a file is imported: of a package, that of its folder."""
    folder, name = os.path.split(path)
    stem = os.path.splitext(name)[0]
    return os.path.basename(folder) if stem == "__init__" else stem


def _reached(start: Iterable[str], following: Callable[[str], Iterable[str]]) -> set[str]:
    """Some files, and those that follow from them, and from these."""
    seen = set(start)
    pending = [*seen]
    while pending:
        for each in following(pending.pop()):
            if each not in seen:
                seen.add(each)
                pending.append(each)
    return seen
