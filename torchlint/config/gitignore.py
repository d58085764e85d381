"""What .gitignore files leave out, as git reads them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.config.patterns import read_patterns
from torchlint.text.cache_folder import IGNORE_TEXT
from torchlint.text.reading import read_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".gitignore"

_REPOSITORY = ".git"
_LARGEST = 1_000_000
"""Bytes of a .gitignore file that is heeded."""
_OWN = os.path.join(_REPOSITORY, "info", "exclude")


class Ignored:
    """What the .gitignore files from the root of the repository, or from a search's first directory, down say of a path.

    Objects are made with `above`, which reads those up the tree, and `within`, which adds that of a directory below.
    """

    def __init__(self, specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()) -> None:
        self._specs = specs

    @classmethod
    def above(cls, directory: str) -> Ignored:
        """What holds in the absolute path ``directory``, by the files there and further up in its repository."""
        directories = [directory]
        while not os.path.exists(os.path.join(directories[-1], _REPOSITORY)):
            parent = os.path.dirname(directories[-1])
            if parent == directories[-1]:
                directories = [directory]  # in no repository
                break
            directories.append(parent)
        found = cls()
        own = _read(os.path.join(directories[-1], _OWN))
        if own is not None:
            found = cls(((directories[-1], own),))
        for each in reversed(directories):
            found = found.within(each)
        return found

    def within(self, directory: str) -> Ignored:
        """What holds in ``directory`` by its own .gitignore, too."""
        spec = _read(os.path.join(directory, NAME))
        return self if spec is None else Ignored((*self._specs, (directory, spec)))

    def match(self, path: str, *, is_directory: bool) -> bool:
        """Whether the absolute ``path`` is left out; the file that is nearest to it and says something of it decides."""
        for directory, spec in reversed(self._specs):
            relative = path[len(directory) :].lstrip(os.sep).replace(os.sep, "/")
            said = spec.check_file(relative + "/" if is_directory else relative).include
            if said is not None:
                return said
        return False


def _read(path: str) -> GitIgnoreSpec | None:
    """The patterns in a file; None where there are none, or the file cannot be read."""
    try:
        lines = read_file(path, _LARGEST).decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    if "\n".join((*lines, "")) == IGNORE_TEXT:
        return None  # of a cache: no code is to hide behind it
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return None
    return read_patterns(lines)
