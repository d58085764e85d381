"""Which files a run is about: those given, and the Python files below the directories given."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torchlint.diagnostic import FileError

SUFFIXES = (".py", ".pyi")

EXCLUDED = frozenset(
    {
        ".bzr",
        ".direnv",
        ".eggs",
        ".git",
        ".git-rewrite",
        ".hg",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pants.d",
        ".pyenv",
        ".pytest_cache",
        ".pytype",
        ".ruff_cache",
        ".svn",
        ".torchlint_cache",
        ".tox",
        ".venv",
        ".vscode",
        "__pycache__",
        "__pypackages__",
        "_build",
        "buck-out",
        "build",
        "dist",
        "node_modules",
        "site-packages",
        "venv",
    }
)
"""The names of directories that are not entered unless they are given themselves: ruff's, and the caches."""

_EMACS_LOCK = ".#"


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files to lint, sorted, each once and named as reports name it, and what could not be read on the way."""

    files: tuple[str, ...]
    errors: tuple[FileError, ...]


def discover(paths: Iterable[str]) -> Discovery:
    """The files that ``paths`` stand for.

    A file that is given is taken whatever it is called. Below a directory all Python files are taken, except in directories
    whose name is in `EXCLUDED`; links to files are followed, links to directories are not. Files are named relative to the
    working directory when they are below it, and by their absolute path otherwise.
    """
    search = _Search()
    for path in paths:
        search.add(path)
    return Discovery(tuple(sorted(search.names.values())), tuple(sorted(search.errors, key=lambda error: error.filename)))


class _Search:
    """Gathers files; ``names`` has the name to show for each, by the file that it leads to in the end."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.errors: list[FileError] = []
        self._working_directory = os.getcwd()

    def add(self, path: str) -> None:
        """Takes in one path as given."""
        if "\0" in path:
            self._refuse(path, "no file has such a name")
            return
        name = self._name(path)
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            self._refuse(name, _reason(error))
            return
        if stat.S_ISDIR(mode):
            self._walk(name, os.path.realpath(path))
        elif not stat.S_ISREG(mode):
            self._refuse(name, "not a regular file")
        elif name.endswith(".ipynb"):
            self._refuse(name, "notebooks are not supported")
        else:
            self._take(os.path.realpath(path), name)

    def _walk(self, name: str, real: str) -> None:
        pending = [(name, real)]
        while pending:
            name, real = pending.pop()
            for entry in self._entries(name, real):
                entry_name = os.path.join(name, entry.name) if name else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in EXCLUDED:
                        pending.append((entry_name, entry.path))
                elif entry.name.endswith(SUFFIXES):
                    self._take_found(entry, entry_name)

    def _entries(self, name: str, real: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(real) as entries:
                yield from entries
        except OSError as error:
            self._refuse(name or os.curdir, f"cannot read the directory: {_reason(error)}")

    def _take_found(self, entry: os.DirEntry[str], name: str) -> None:
        if entry.is_file(follow_symlinks=False):
            self._take(entry.path, name)
        elif not entry.is_symlink():
            self._refuse(name, "not a regular file")
        elif not entry.name.startswith(_EMACS_LOCK):
            self._take_link(entry, name)

    def _take_link(self, link: os.DirEntry[str], name: str) -> None:
        try:
            mode = link.stat().st_mode
        except OSError as error:
            self._refuse(name, _reason(error))
            return
        if stat.S_ISREG(mode):
            self.names.setdefault(os.path.realpath(link.path), name)
        elif not stat.S_ISDIR(mode):
            self._refuse(name, "not a regular file")

    def _take(self, real: str, name: str) -> None:
        self.names[real] = name

    def _refuse(self, name: str, reason: str) -> None:
        self.errors.append(FileError(name, reason, code="io-error"))

    def _name(self, path: str) -> str:
        """The name that reports use for a path as given; empty for the working directory itself."""
        # normalising `link/..` away would lead elsewhere when `link` is a symbolic link
        climbs = os.pardir in path.split(os.sep)
        absolute = os.path.realpath(path) if climbs else os.path.abspath(path)
        if absolute == self._working_directory:
            return ""
        return absolute.removeprefix(os.path.join(self._working_directory, ""))


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
