"""Results that rest on other files, told to hold by one look at the project instead of one at each of their answers.

A `stamp` stands for all files and folders of a project that answers are about. What held under a stamp holds for as long as
the project has that same stamp. What a stamp does not stand for, what is hidden, skipped or behind links, is asked about each
time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from torchlint.project import roots
from torchlint.project.files import Files, still_hold
from torchlint.project.importers import OTHER_PROGRAMS, SKIPPED, may_be_own
from torchlint.project.questions import is_about
from torchlint.text.reading import NOTEBOOK
from torchlint.text.reading import TICK as TICK

if TYPE_CHECKING:
    from torchlint.project.store import Store

FEW = 50
"""To look at so many results one by one takes less than to look at all files of a project."""
_MOST_ENTRIES = 20_000
"""Of larger projects no stamp is made: of as many, `Talk` looks through all."""
_PROGRAMS = (".py", ".pyi", NOTEBOOK, *OTHER_PROGRAMS)
_KIND = "held"
_Note = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A stamp, and the paths below the root of the files of whose results all held under it, and of those of which part did."""


class Held:
    """Tells of the files of one run whether their results hold; ``settings`` are those that the results were made with."""

    def __init__(self, files: Files, store: Store | None, settings: str, paths: Sequence[str], root: str = "") -> None:
        self._files = files
        self._store = store
        self._given = os.path.abspath(root) if root else ""
        first = os.path.abspath(paths[0]) if paths else ""
        self._root = self._given or (roots.root_of(os.path.dirname(first)) if first else "")
        self._name = f"{settings}\n{self._root}"
        # at the start: what is read later than it was stamped may be newer, and then the next stamp is another one
        self._stamp = stamp(self._root) if store is not None and len(paths) > FEW and self._root else ""
        self._whole: set[str] = set()
        self._partly: set[str] = set()
        """Files whose results rest on what no stamp stands for besides: that is asked about each time."""
        self._is_new = False
        self._is_of_root: dict[str, bool] = {}
        """Whether a folder belongs to the project that the stamp is of."""
        noted = store.noted(_KIND, _Note, self._name) if store is not None and self._stamp else None
        if noted is not None and noted[0] == self._stamp:
            self._whole, self._partly = set(noted[1]), set(noted[2])

    def holds(self, path: str, answers: Iterable[tuple[str, str]]) -> bool:
        """Whether a file was told of others what it would be told now."""
        below = self._below(path)
        if below in self._whole:
            return True
        every = list(answers)
        if below in self._partly:
            return still_hold(self._files, path, [each for each in every if not _is_stamped(each[0])], self._given)
        held = still_hold(self._files, path, every, self._given)
        if held:
            self._take(below, every)
        return held

    def made(self, path: str, answers: Iterable[tuple[str, str]]) -> None:
        """Has a result hold that was made in this run."""
        self._take(self._below(path), answers)

    def note(self) -> None:
        """Puts down what held in this run, for the next one."""
        if self._store is not None and self._is_new:
            self._store.note(_KIND, self._name, (self._stamp, sorted(self._whole), sorted(self._partly)))

    def _take(self, below: str, answers: Iterable[tuple[str, str]]) -> None:
        if below:
            is_whole = all(_is_stamped(asked) for asked, _ in answers)
            (self._whole if is_whole else self._partly).add(below)
            self._is_new = True

    def _below(self, path: str) -> str:
        """The path of a file below the root; empty where the stamp is not that of its project, or there is none."""
        if not self._stamp:
            return ""
        path = os.path.abspath(path)
        folder = os.path.dirname(path)
        if folder not in self._is_of_root:
            is_below = os.path.join(folder, "").startswith(os.path.join(self._root, ""))
            self._is_of_root[folder] = is_below and (bool(self._given) or roots.root_of(folder) == self._root)
        return path[len(self._root) :].lstrip(os.sep) if self._is_of_root[folder] else ""


def _is_stamped(asked: str) -> bool:
    """Whether what was asked for cannot have another answer under the same stamp."""
    path = is_about(asked)
    return path is not None and not any(
        (part.startswith(".") and part != os.curdir) or part.lower() in SKIPPED for part in path.split(os.sep)
    )


def stamp(root: str) -> str:
    """What stands for the programs and folders below a root; empty where it would not show all that changes from now on."""
    seen = [os.path.realpath(root)]
    newest = count = 0
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                every = sorted(entries, key=lambda each: each.name)
        except OSError:
            return ""
        seen.append(f"/{folder}")
        count += len(every)
        for entry in every:
            is_program = entry.name.lower().endswith(_PROGRAMS)
            if entry.name.startswith("."):
                continue
            try:
                if entry.is_symlink():
                    if is_program or entry.is_dir():
                        return ""
                elif entry.is_dir(follow_symlinks=False):
                    seen.append(entry.name)
                    if entry.name.lower() not in SKIPPED or may_be_own(entry.name.lower(), entry.path):
                        pending.append(entry.path)
                elif is_program:
                    status = entry.stat(follow_symlinks=False)
                    if not entry.is_file(follow_symlinks=False):
                        return ""
                    newest = max(newest, status.st_mtime_ns, status.st_ctime_ns)
                    seen.append(f"{entry.name}/{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}")
            except OSError:
                return ""
    if count > _MOST_ENTRIES or newest + TICK >= time.time_ns():
        return ""
    return blake2b("\0".join(seen).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
