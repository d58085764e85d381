"""Which files of a project import a name: a sieve of bytes over all of its files, so that only few are parsed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from torchlint.text.reading import read_file

_LARGEST = 1_000_000
_MOST_FILES = 20_000
"""So many files of a project are looked through; in larger ones, nobody is asked who calls."""
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "env", "build", "dist"})
_NAMES = rb"(?:[^\n;#\\]|\\\r?\n)*"
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|" + _NAMES + rb")|import[ \t]+(" + _NAMES + rb"))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")
_OTHERS = (b"torch", b"numpy", b"typing", b"__future__", b"os", b"collections")
State = tuple[int, int, int]


class Importers:
    """The words in the import statements of each file below a root."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._words: dict[str, tuple[State, frozenset[str]]] = {}
        self._files: dict[str, list[str]] | None = None

    def look_again(self) -> None:
        """Has the files be looked for again; what has not changed is not read again."""
        self._files = None

    def of(self, words: Iterable[str]) -> list[str]:
        """The files that import something called by one of some words, or from a module called so; in order."""
        if self._files is None:
            self._files = self._by_word()
        return sorted({file for word in words for file in self._files.get(word, ())})

    def _by_word(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        known, self._words = self._words, {}
        for path, state in self._there():
            kept = known.get(path)
            words = kept[1] if kept is not None and kept[0] == state else imported_words(path)
            self._words[path] = state, words
            for word in words:
                found.setdefault(word, []).append(path)
        return found

    def _there(self) -> Iterator[tuple[str, State]]:
        """The files of the project, each with its state."""
        pending, count = [self._root], 0
        while pending:
            try:
                with os.scandir(pending.pop()) as entries:
                    every = sorted(entries, key=lambda each: each.name)
            except OSError:
                continue
            for entry in every:
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _SKIPPED:
                        pending.append(entry.path)
                elif entry.name.endswith(".py"):
                    count += 1
                    if count > _MOST_FILES:
                        return
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    yield entry.path, (status.st_mtime_ns, status.st_ctime_ns, status.st_size)


def imported_words(path: str) -> frozenset[str]:
    """The words in the import statements of a file, but for those of modules that are surely not of the project."""
    try:
        data = read_file(path, _LARGEST)
    except (OSError, ValueError):
        return frozenset()
    found: set[bytes] = set()
    for match in _IMPORT.finditer(data):
        module, names, modules = match.groups()
        if module is not None and module.partition(b".")[0] in _OTHERS:
            continue
        for text in (module, names, modules):
            if text:
                found.update(_WORD.findall(text))
    found -= {b"as", b"import", *_OTHERS}
    return frozenset(word.decode("utf-8", "replace") for word in found)
