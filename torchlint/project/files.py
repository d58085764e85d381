"""What the files of all projects are told of one another, and whether that still holds.

`Files` is what all lints of a process share. `Reading` is what one of them sees: it keeps account of all that it was told, so
that a result can be kept and used again for as long as the answers stay the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.project import roots
from torchlint.project.on_disk import OnDisk
from torchlint.project.questions import BODY, BOUND, CALLERS, GIVEN, MENTIONS, NAMING, OUTPUTS, PACKAGED, ROOT, TALK
from torchlint.project.reading import Reading
from torchlint.project.told.packages import opened_by

if TYPE_CHECKING:
    from torchlint.project.store import Store

_MOST_HELD = 200_000
"""So many answers are kept in mind."""


class Files(OnDisk):
    """The files of all projects, as far as somebody asked for them."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self._held: dict[tuple[str, str, str], bool] = {}

    def look_again(self) -> None:
        """Has everything that may have changed on disk be looked at when it is asked for again."""
        super().look_again()
        self._held.clear()

    def reading(self, file: str, root: str = "") -> Reading:
        """What the file at a path, which need not be there, sees of its project."""
        path = os.path.abspath(file)
        above = os.path.abspath(root) if root else roots.root_of(os.path.dirname(path))
        return Reading(self, path, above, is_given=bool(root))

    def holds(self, asked: str, answer: str, root: str) -> bool:
        """Whether a file below a root would be told the same now of what it asked for: many ask the same."""
        key = (root, asked, answer)
        found = self._held.get(key)
        if found is None:
            if len(self._held) >= _MOST_HELD:
                self._held.clear()
            found = self._held[key] = self._holds(asked, answer, root)
        return found

    def _holds(self, asked: str, answer: str, root: str) -> bool:
        if asked == ROOT:
            return root == answer
        if asked.startswith(TALK):
            return str(self.talk.speaks_of(asked.removeprefix(TALK), root)) == answer
        for start, told in ((OUTPUTS, self.outputs), (GIVEN, self.givens), (BODY, self.bodies), (BOUND, self.origins)):
            if asked.startswith(start):
                path, *names = asked.removeprefix(start).split("\n")
                return told.is_as(os.path.join(root, path), tuple(names), answer)
        if asked.startswith(NAMING):
            name, *words = asked.removeprefix(NAMING).split("\n")
            return self.callers.are_naming(name, words, root, answer)
        if asked.startswith(MENTIONS):
            path, name = asked.removeprefix(MENTIONS).split("\n")
            return self.mentions.of(name, os.path.join(root, path), root) == answer
        if asked.startswith(PACKAGED):
            path, given = asked.removeprefix(PACKAGED).split("\n")
            return opened_by(os.path.join(root, path), root, is_given=bool(given)) == answer
        if asked.startswith(CALLERS):
            path, name, *words = asked.removeprefix(CALLERS).split("\n")
            return self.callers.are_as(name, words, os.path.join(root, path) if path else "", root, answer)
        if answer.startswith("="):
            return self.is_as(os.path.join(root, asked), answer)
        return self.has(asked, root) == answer


def still_hold(files: Files, file: str, answers: Iterable[tuple[str, str]], root: str = "") -> bool:
    """Whether all that a file was told of its project is what it would be told now."""
    above = files.reading(file, root).root
    return all(files.holds(asked, answer, above) for asked, answer in answers)
