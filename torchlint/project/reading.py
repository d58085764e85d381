"""What one file sees of its project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.project.questions import BODY, BOUND, CALLERS, GIVEN, MENTIONS, NAMING, OUTPUTS, PACKAGED, ROOT, TALK, shown
from torchlint.project.talk import RECORD
from torchlint.project.told.packages import opened_by
from torchlint.project.topics.records import may_be_record

if TYPE_CHECKING:
    import ast

    from torchlint.project.on_disk import OnDisk
    from torchlint.semantics.summaries.calls import Calls
    from torchlint.semantics.summaries.summary import ClassBody, ClassOutput, Given, Place, Summary

_OTHERS = frozenset({"torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "matplotlib", "tqdm", "PIL", "cv2"})
"""Packages that a project has none of its own name of, unless it is they."""

Answers = tuple[tuple[str, str], ...]
"""What a reading rests on: what was asked for, and a text that stands for the answer."""


class Reading:
    """What one file sees of its project: the `Project` of its lookups."""

    def __init__(self, files: OnDisk, path: str, root: str, *, is_given: bool = False) -> None:
        self._files = files
        self.file = path
        self.root = root
        self._is_given = is_given
        self._asked: dict[str, str] = {}
        self._tops: dict[str, tuple[str, ...]] = {}
        self._modules: dict[tuple[str, str], tuple[Place, ...]] = {}
        self._places: dict[tuple[str, str], Place | None] = {}
        self._summaries: dict[str, Summary] = {}
        self._below: dict[str, str] = {}
        """Folders as they are called from the root."""
        self._inside = os.path.join(root, "")
        self._is_inside = path.startswith(self._inside)
        self._own: ast.Module | None = None
        """The file itself, where others look at it."""
        self._said: Summary | None = None

    @property
    def answers(self) -> Answers:
        """All that was asked for, with the answers; nothing where nothing was."""
        if not self._asked:
            return ()
        return ((ROOT, self.root), *sorted(self._asked.items()))

    def _shown(self, path: str) -> str:
        """A path as it is called from the root."""
        return path[len(self._inside) :] if path.startswith(self._inside) else os.path.relpath(path, self.root)

    def module(self, name: str, file: str) -> tuple[Place, ...]:
        """The places that the first part of ``name`` may be, as ``file`` imports it; of a relative name, its dots' folder."""
        if not self._is_inside:
            return ()
        first = name[: len(name) - len(name.lstrip("."))] or name.partition(".")[0]
        key = (first, os.path.dirname(file))
        if key not in self._modules:
            self._modules[key] = self._module(first, file)
        return self._modules[key]

    def _module(self, first: str, file: str) -> tuple[Place, ...]:
        if first.startswith("."):
            return self._relative(len(first), file)
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
        if (folder, name) in self._places:
            return self._places[folder, name]
        place = self._places[folder, name] = self._files.inner(folder, name, self.root)
        below = self._below.get(folder)
        if below is None:
            below = self._below[folder] = self._shown(folder)
        self._asked[os.path.join(below, name)] = "" if place is None else shown(place.file, place.folder)
        return place

    def inner(self, place: Place, name: str) -> Place | None:
        """The module or package of that name in a package; of the package that is linted itself, what is below is known."""
        found = self._found(place.folder, name) if place.folder else None
        if found is None or self._is_seen(found):
            return found
        return self._less_own_file(found) if found.folder else None

    def summary(self, file: str) -> Summary:
        """What a file says."""
        if file == self.file and self._own is not None:
            if self._said is None:
                from torchlint.semantics.summaries.making import summary_of

                self._said = summary_of(self._own)
            return self._said
        if file not in self._summaries:
            self._summaries[file], self._asked[self._shown(file)] = self._files.summed_up(file)
        return self._summaries[file]

    def body(self, file: str, name: str) -> ClassBody:
        """What the code says of a class of a file."""
        if file == self.file and self._own is not None:
            from torchlint.semantics.summaries.bodies import body_of

            return body_of(self._own, name)
        found, self._asked[f"{BODY}{self._shown(file)}\n{name}"] = self._files.bodies.of(file, (name,))
        return found

    def calls(self, name: str, words: tuple[str, ...], file: str) -> tuple[tuple[str, Calls], ...]:
        """The calls of something called ``name`` in a file, and in those that import one of some words."""
        if not self._is_inside:
            return ()
        beside = "" if file == self.file else file  # its own calls are not asked for here
        found = self._files.callers.of(name, words, beside, self.root)
        shown = self._shown(beside) if beside else ""
        self._asked["\n".join((CALLERS + shown, name, *words))] = found.stamp
        return found.calls

    def naming(self, name: str, words: tuple[str, ...]) -> tuple[str, ...]:
        """The other files that import one of some words, and have a name in them."""
        if not self._is_inside:
            return ()
        found, self._asked["\n".join((NAMING + name, *words))] = self._files.callers.naming(name, words, self.root)
        return tuple(each for each in found if each != self.file)

    def mentions(self, name: str) -> str:
        """Why it is not certain that no other file names what this one calls ``name``; empty where that is certain."""
        if not self._is_inside:
            return "the file is in no project"
        found = self._files.mentions.of(name, self.file, self.root)
        self._asked[f"{MENTIONS}{self._shown(self.file)}\n{name}"] = found
        return found

    def opened_by(self) -> str:
        """Why code outside of the project may use this file; empty if there is no reason."""
        if not self._is_inside:
            return "the file is in no project"
        found = opened_by(self.file, self.root, is_given=self._is_given)
        self._asked[f"{PACKAGED}{self._shown(self.file)}\n{'given' * self._is_given}"] = found
        return found

    def outputs(self, file: str) -> tuple[ClassOutput, ...]:
        """What calling the modules of a file gives, as far as that file alone tells."""
        given, stamp = self._files.outputs.of(file)
        self._asked[OUTPUTS + self._shown(file)] = stamp
        return given

    def given(self, file: str, name: str) -> Given:
        """What a function of a file gives, or a method or attribute, ``Class.name``, as far as that file alone tells."""
        found, self._asked[f"{GIVEN}{self._shown(file)}\n{name}"] = self._files.givens.of(file, (name,))
        return found

    def may_bind(self, file: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Where a file may have one of some names from: modules that it imports everything of, or, as ``""``, itself."""
        found, stamp = self._files.origins.of(file, names)
        self._asked["\n".join((BOUND + self._shown(file), *names))] = stamp
        return found

    def as_others_see_it(self, own: ast.Module) -> Reading:
        """What the other files see of the project, to which this one belongs: it says what its own summary does."""
        others = Reading(self._files, self.file, self.root, is_given=self._is_given)
        others._own = own
        others._asked = self._asked
        return others

    @property
    def is_record(self) -> bool:
        """Whether a run has left this file beside its results, as a copy of another one of the project."""
        below = self._shown(self.file)
        return self._is_inside and may_be_record(below) and self.speaks_of(RECORD + below) is True

    def speaks_of(self, topic: str, *, near: bool = False) -> bool | None:
        """Whether any file of the project, or of this one's folder, has the words of a topic; `None` where that is unknown."""
        if not self._is_inside:
            return None
        asked = f"{topic}\n{self._shown(os.path.dirname(self.file))}" if near else topic
        found = self._files.talk.speaks_of(asked, self.root)
        self._asked[TALK + asked] = str(found)
        return found
