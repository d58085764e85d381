"""What the scripts and notebooks of a project speak of, taken together: asked where no import leads to the file that matters.

A script that loads what another one has saved imports nothing of it. What can be told of the two is whether any file of the
project has certain words.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Container, Iterator
from functools import partial

from torchlint.project.importers import OF_PROJECTS, may_be_own
from torchlint.project.programs import code_of, is_program
from torchlint.project.told.outputs import outputs_of
from torchlint.project.topics import attributes, loads
from torchlint.project.topics.choosing import chooses_device
from torchlint.project.topics.cpu_programs import FILES_OF_CPU, CpuPrograms
from torchlint.project.topics.drawing import DRAWING
from torchlint.project.topics.forwards import FORWARDS
from torchlint.project.topics.leaning import Folder, folders_of, leans, names_imported
from torchlint.project.topics.numbering import Numbering
from torchlint.project.topics.own_loading import OWN_LOADING
from torchlint.project.topics.records import OF_RUNS, Records
from torchlint.project.topics.unasked import is_gpu_everywhere, needs_gpu
from torchlint.project.topics.words import CHOOSING, speaks_of
from torchlint.text.reading import read_file

_BARE = "bare loads"
"""The topic that asks for scripts which run models, and load states of theirs into what no file says is wrapped.

Behind a colon, it has the key under which the states are, and those that the same file has besides: who asks for one of these
alone does not load the states.
"""
_ALIKE = "wrapped loads"
"""The topic that asks for such scripts that wrap the models first where a flag is set, which it names, or in any case."""
_LEANING = "other folders"
"""The topic that asks of a folder whether it is a part of a program: its code imports what stands beside it, or is imported by
what does.
"""
_ENDING = "models of probabilities"
"""The topic that asks for classes of modules whose forward ends in a sigmoid."""
_RECORDING = ("recorded calls", "unrecorded calls")
"""The topics that ask for calls of a method: with autograd on, and where it is turned off."""
_READING = "reads"
"""The topic that asks whether an attribute, which it names, is read of anything but torch, or named by a string."""
_GRAPHS = "graphs asked for"
"""The topic that asks for code that asks for the graph of what the function gives whose name it has."""
_UNASKED = "moves in any case"
"""The topic that asks for moves to a GPU which no flag decides about."""
_SCHEDULES = "schedules of others"
"""The topic that asks for code that may move on a schedule which another object has as an attribute of that name."""
_STORING = "stores"
"""The topic that asks for code that gives an attribute, which it names, something: see `attributes.storing`."""
_PATCHING = "containers that run"
"""The topic that asks for code that gives torch's containers of modules a method that runs them."""
_CONSTANTS = "constant GPUs"
"""The topic that asks whether all assignments to the name which it has, and there is one, write out the first GPU."""
_NUMBERING = "numbers"
"""The topic that asks for functions, other than those that train or evaluate, that give the number of what they call by the
name which it has, beside other things.
"""
RECORD = "record: "
"""The topic that asks of a file, at the path which it ends with, whether a run has left it as a copy of another one."""
_MOST_FILES = 400
_MOST_NAMES = 20_000
"""So many names are looked through, of files of data among them."""
_LARGEST = 1_000_000
_APART = frozenset({"site-packages", "node_modules", "__pycache__", "venv", "build", "dist"})


class Talk:
    """Tells of the projects of a process what their files speak of."""

    def __init__(self, replaced: Callable[[str], bytes | None]) -> None:
        self._replaced = replaced
        self._told: dict[tuple[str, str], bool | None] = {}
        self._imports: dict[str, dict[str, Folder]] = {}
        self._records = Records(self._code, _files_but_records, self._names_imported)
        self._on_cpu = CpuPrograms(self._code, _files, partial(speaks_of, "other devices"))

    def forget(self) -> None:
        """Has all files be read again."""
        self._told.clear()
        self._imports.clear()
        self._records.forget()
        self._on_cpu.forget()

    def speaks_of(self, topic: str, root: str) -> bool | None:
        """Whether any file below ``root`` speaks of a topic; `None` where there are too many files, or one cannot be read.

        Some topics have a name behind a colon. Behind a line break, a topic has a folder below the root, where it is looked for
        alone.
        """
        topic, _, below = topic.partition("\n")
        folder = os.path.join(root, below) if below else root
        if (folder, topic) not in self._told:
            self._told[folder, topic] = self._tell(topic, folder, root)
        return self._told[folder, topic]

    def _tell(self, topic: str, folder: str, root: str) -> bool | None:
        asked, _, name = topic.partition(": ")
        if asked == _BARE:
            words = name.split("|")
            return any(loads.loads_bare(text, words) for text in self._texts(folder, loads.RUNNING))
        if asked == _ALIKE:
            wrapping = loads.wrapping_under(name)
            return any(loads.loads_behind(text, wrapping) for text in self._texts(folder, loads.RUNNING))
        if asked == _CONSTANTS:
            return is_gpu_everywhere(name, self._texts(folder))
        if topic.startswith(RECORD):
            return self._records.is_record(name, folder)
        if topic.startswith(FILES_OF_CPU):
            reader, _, name = name.partition("|")
            return self._on_cpu.have_saved(name, os.path.normpath(os.path.join(folder, reader)), root)
        if asked == _ENDING:
            return any(map(_ends_in_sigmoid, self._texts(folder)))
        if asked == _LEANING:
            return leans(folder, self._imported(root))
        if asked == CHOOSING:
            return chooses_device(self._texts(folder))
        return self._look_for(_speaking(topic), folder)

    def _imported(self, root: str) -> dict[str, Folder]:
        """What the code in each folder below a root imports."""
        if root not in self._imports:
            files = (path for path in itertools.islice(_files(root), _MOST_FILES) if path is not None)
            self._imports[root] = folders_of((path, self._code(path) or b"") for path in files)
        return self._imports[root]

    def _names_imported(self, path: str) -> Iterator[list[str]]:
        return names_imported(self._code(path) or b"")

    def _look_for(self, speaks: Callable[[bytes], object], root: str) -> bool | None:
        unread = False
        for text in self._texts(root):
            if text is None:
                unread = True
            elif speaks(text):
                return True
        return None if unread else False

    def _texts(self, root: str, named: re.Pattern[str] | None = None) -> Iterator[bytes | None]:
        """The code of the files below a folder; `None` for one that cannot be read, and at last where there are too many."""
        for number, path in enumerate(_files(root)):
            if path is None or number == _MOST_FILES:
                yield None
                return
            if named is not None and not named.search(os.path.basename(path)):
                continue
            yield self._code(path)

    def _code(self, path: str) -> bytes | None:
        """The code of a file, of a notebook that of its cells; `None` where it cannot be read."""
        try:
            text = self._replaced(path)
            return code_of(path, read_file(path, _LARGEST) if text is None else text)
        except (OSError, ValueError):
            return None


def _speaking(topic: str) -> Callable[[bytes], object]:
    """What has to be so of the code of one file for a project to speak of a topic."""
    asked, _, name = topic.partition(": ")
    if asked == _READING:
        return attributes.reading(name).search
    if asked == _SCHEDULES:
        return attributes.moving_on(name).search
    if asked == _STORING:
        return attributes.storing(name)
    if asked == _PATCHING:
        return attributes.PATCHING.search
    if asked == _NUMBERING:
        return Numbering(name).is_in
    if asked in _RECORDING:
        from torchlint.project.topics.recorded import calls_so

        return partial(calls_so, topic)
    if asked == _GRAPHS:
        from torchlint.project.topics.asked_graphs import asks_for_graphs

        return partial(asks_for_graphs, name)
    if asked == _UNASKED:
        return needs_gpu
    return FORWARDS.get(topic) or DRAWING.get(topic) or OWN_LOADING.get(topic) or partial(speaks_of, topic)


def _ends_in_sigmoid(text: bytes | None) -> bool:
    """Whether code defines a module that gives the probability of one class."""
    return text is not None and b"igmoid" in text and any(each.output == "sigmoid" for each in outputs_of(text))


def _files(root: str, without: Container[str] = ()) -> Iterator[str | None]:
    """The scripts and notebooks below a folder, and at last `None` where not all of it was looked through.

    Folders ``without`` which it is to be have their names in small letters.
    """
    seen = 0
    for folder, inner, names in os.walk(root):
        seen += len(inner) + len(names)
        if seen > _MOST_NAMES:
            yield None
            return
        inner[:] = sorted(
            name for name in inner if not name.startswith(".") and name.lower() not in without and not _is_apart(folder, name)
        )
        yield from (os.path.join(folder, name) for name in sorted(names) if is_program(name) and not name.startswith("."))


def _files_but_records(root: str) -> Iterator[str | None]:
    return _files(root, OF_RUNS)


def _is_apart(folder: str, name: str) -> bool:
    """Whether a folder within one holds what is not of the project, or an environment."""
    small = name.lower()
    return small in _APART or (small in OF_PROJECTS and not may_be_own(small, os.path.join(folder, name)))
