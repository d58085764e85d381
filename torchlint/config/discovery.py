"""Which files a run is about: those given, and the Python files below the directories given."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from torchlint.config.files import Resolver
from torchlint.config.gitignore import Ignored
from torchlint.config.patterns import Patterns
from torchlint.config.settings import Settings
from torchlint.diagnostic import FileError

_EMACS_LOCK = ".#"


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files to lint, sorted, each once and named as reports name it, and what could not be read on the way.

    ``settings`` has those of each of the files.
    """

    files: tuple[str, ...]
    errors: tuple[FileError, ...]
    settings: Mapping[str, Settings]


def discover(paths: Iterable[str], resolver: Resolver | None = None, *, force_exclude: bool = False) -> Discovery:
    """The files that ``paths`` stand for.

    A file that is given is taken whatever it is called, unless it is excluded and ``force_exclude`` is on. Below a directory
    those files are taken that the settings include and do not exclude; links to files are followed, links to directories are
    not. Files are named relative to the working directory when they are below it, and by their absolute path otherwise.
    Raises `ConfigError` where a configuration file cannot be used.
    """
    search = _Search(resolver or Resolver(), force_exclude)
    for path in paths:
        search.add(path)
    found = dict(sorted(search.found.values()))
    return Discovery(tuple(found), tuple(sorted(search.errors, key=lambda error: error.filename)), found)


@dataclass(frozen=True, slots=True)
class _Directory:
    """A directory to search: the name it is shown by (empty for the working directory), where it is, and what holds there."""

    name: str
    path: str
    settings: Settings
    excluded: Patterns
    ignored: Ignored | None

    def leaves_out(self, path: str, *, is_directory: bool) -> bool:
        """Whether what is at ``path`` in it is not for this run."""
        if self.excluded.match(path, is_directory=is_directory):
            return True
        return self.ignored is not None and self.ignored.match(path, is_directory=is_directory)


class _Search:
    """Gathers files; ``found`` has the name to show and the settings for each, by the file that it leads to in the end."""

    def __init__(self, resolver: Resolver, force_exclude: bool) -> None:
        self.found: dict[str, tuple[str, Settings]] = {}
        self.errors: list[FileError] = []
        self._resolver = resolver
        self._force_exclude = force_exclude
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
        else:
            self._take_given(os.path.realpath(path), name)

    def _take_given(self, real: str, name: str) -> None:
        absolute = os.path.join(self._working_directory, name)
        settings = self._resolver.of_directory(os.path.dirname(absolute))
        if not (self._force_exclude and settings.excluded.match_inside(absolute)):
            self.found[real] = (name, settings)

    def _walk(self, name: str, path: str) -> None:
        settings = self._resolver.of_directory(path)
        excluded = settings.excluded.sparing(path)  # what is given by name is searched
        pending = [_Directory(name, path, settings, excluded, Ignored.above(path) if settings.respect_gitignore else None)]
        while pending:
            directory = pending.pop()
            for entry in self._entries(directory):
                entry_name = os.path.join(directory.name, entry.name) if directory.name else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if not directory.leaves_out(entry.path, is_directory=True):
                        pending.append(self._inner(directory, entry.path, entry_name))
                elif directory.settings.included.match(entry.path):
                    if not directory.leaves_out(entry.path, is_directory=False):
                        self._take_found(entry, entry_name, directory.settings)

    def _inner(self, directory: _Directory, path: str, name: str) -> _Directory:
        settings, outer, ignored = self._resolver.of_directory(path), directory.ignored, None
        if settings.respect_gitignore:
            ignored = outer.within(path) if outer is not None else Ignored.above(path)
        excluded = directory.excluded if settings is directory.settings else settings.excluded
        return _Directory(name, path, settings, excluded, ignored)

    def _entries(self, directory: _Directory) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(directory.path) as entries:
                yield from entries
        except OSError as error:
            self._refuse(directory.name or os.curdir, f"cannot read the directory: {_reason(error)}")

    def _take_found(self, entry: os.DirEntry[str], name: str, settings: Settings) -> None:
        if entry.is_file(follow_symlinks=False):
            self.found[entry.path] = (name, settings)
        elif not entry.is_symlink():
            self._refuse(name, "not a regular file")
        elif not entry.name.startswith(_EMACS_LOCK):
            self._take_link(entry, name, settings)

    def _take_link(self, link: os.DirEntry[str], name: str, settings: Settings) -> None:
        try:
            mode = link.stat().st_mode
        except OSError as error:
            self._refuse(name, _reason(error))
            return
        if stat.S_ISREG(mode):
            self.found.setdefault(os.path.realpath(link.path), (name, settings))
        elif not stat.S_ISDIR(mode):
            self._refuse(name, "not a regular file")

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
