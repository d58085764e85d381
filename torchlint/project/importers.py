"""Which files of a project import a name: a sieve of bytes over all of its files, so that only few are parsed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from sys import intern
from typing import TYPE_CHECKING

from torchlint.project.programs import code_of, is_program
from torchlint.text.reading import TICK, read_file

if TYPE_CHECKING:
    from torchlint.project.store import Store

_LARGEST = 1_000_000
_MOST_FILES = 20_000
"""So many files of a project are looked through; in larger ones, nobody is asked who calls."""
SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "env", "build", "dist"})
OF_PROJECTS = frozenset({"venv", "env", "build", "dist"})
"""Of these, what may be a folder of the project's own."""
_ENVIRONMENT = "pyvenv.cfg"
"""The file that says of a folder that it is an environment."""
OTHER_PROGRAMS = (".pyx", ".pyw")
"""How files are called that may import others and are not read."""
_NAMES = rb"(?:[^\n;#\\]|\\\r?\n)*"
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|" + _NAMES + rb")|import[ \t]+(" + _NAMES + rb"))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")
_LONGEST_LINE = 2_000
_OTHERS = (b"torch", b"numpy", b"typing", b"__future__", b"os", b"collections")
_FINDING = frozenset(
    {
        *(b"importlib", b"imp", b"runpy", b"pkgutil", b"pydoc", b"zipimport", b"hydra", b"gin"),
        *(b"import_ipynb", b"importnb", b"nbimporter", b"ipynb"),
    }
)
"""Libraries by which files are imported or run that are not named by an import."""
_BY_TEXT = (
    b"__import__",
    b"sys.modules",
    b"_globals",
    b"execfile",
    b"%run",
    b"%load ",
    b"_line_magic",
    b"-c'",
    b'-c"',
    b"thon -c",
)
"""What does so without one of these libraries."""
_EXECUTED = re.compile(rb"exec[ \t]*\(")
_TYPE = re.compile(rb"type[ \t]*\((?:[^()\n]|\([^()\n]{0,80}\)){0,80}\)")
_CLASS = re.compile(rb"__class__(?![ \t]*\.[ \t]*__name__)")
_PLAIN_IMPORT = re.compile(rb"import\b")
_FROM = re.compile(rb"[ \t]*from[ \t]+[.\w]+[ \t]+$")
_TELLING = (b"type", b"__", b"import", b"exec", b"%run", b"%load", b"run_line_magic")
WITHIN = ";"
"""What a word starts with that stands beside an import in the middle of a line, of text perhaps."""
ABOVE = "*"
"""What stands among the words of a file that imports everything of its own package."""
BY_NAME = "!"
"""What stands among the words of a file that may import or run others by what text says."""
ANEW = "#"
"""What stands among the words of a file that may make objects of classes which it does not name."""
UNREAD = "?"
"""What stands among the words of a file that cannot be read."""
State = tuple[int, int, int]
_NOTE = "imports"
_WAYS = "ways"
"""Under which names it is put down what files import, and by which ways they may get at others besides."""
_Note = tuple[tuple[str, State, str], ...]
"""Paths below the root with the states of the files, and the words of each."""


def may_be_own(name: str, path: str) -> bool:
    """Whether a folder that is skipped for its name may be the project's own all the same: no environment is in it."""
    return name in OF_PROJECTS and not os.path.isfile(os.path.join(path, _ENVIRONMENT))


class Importers:
    """The words in the import statements of each file below a root."""

    def __init__(self, root: str, store: Store | None = None) -> None:
        self._root = root
        self._plain = _Words(root, store, _NOTE, imported_words)
        self._every = _Words(root, store, _WAYS, ways_of)
        self._there: list[tuple[str, State]] | None = None
        self._unseen: list[str] = []

    @property
    def unseen(self) -> list[str]:
        """What in the project may hold programs and is not looked through; each below the root."""
        self._files()
        return self._unseen

    def look_again(self) -> None:
        """Has the files be looked for again; what has not changed is not read again."""
        self._there = None
        self._plain.look_again()
        self._every.look_again()

    def of(self, words: Iterable[str]) -> list[str]:
        """The files that import something called by one of some words, or from a module called so; in order."""
        files = self.by_word()
        return sorted({file for word in words for file in files.get(word, ())})

    def by_word(self) -> dict[str, list[str]]:
        """The files that import something, by the words in their import statements."""
        return self._plain.by_word(self._files())

    def by_every_word(self) -> dict[str, list[str]]:
        """Likewise, with all that stands for other ways to get at files and classes, which is looked for only then."""
        return self._every.by_word(self._files())

    def _files(self) -> list[tuple[str, State]]:
        if self._there is None:
            self._unseen = []
            self._there = list(self._look_for_files())
            if len(self._there) > _MOST_FILES:
                self._unseen.append(os.curdir)
                self._there = []
        return self._there

    def _look_for_files(self) -> Iterator[tuple[str, State]]:
        """The files of the project, each with its state; one more than are looked through, where there are more."""
        pending, count = [self._root], 0
        while pending:
            try:
                with os.scandir(pending.pop()) as entries:
                    every = sorted(entries, key=lambda each: each.name)
            except OSError:
                self._unseen.append(os.curdir)
                continue
            for entry in every:
                if entry.name.startswith("."):
                    continue
                if entry.is_symlink():
                    if is_program(entry.name) or entry.is_dir():
                        self._unseen.append(os.path.relpath(entry.path, self._root))
                elif entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        pending.append(entry.path)
                    elif may_be_own(entry.name, entry.path):
                        self._unseen.append(os.path.relpath(entry.path, self._root))
                elif entry.name.endswith(OTHER_PROGRAMS):
                    self._unseen.append(os.path.relpath(entry.path, self._root))
                elif is_program(entry.name):
                    count += 1
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    yield entry.path, (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
                    if count > _MOST_FILES:
                        return


class _Words:
    """The words that are found in each of some files, and the notes of them."""

    def __init__(self, root: str, store: Store | None, kind: str, words_of: Callable[[str], frozenset[str]]) -> None:
        self._root = root
        self._store = store
        self._kind = kind
        self._words_of = words_of
        self._words: dict[str, tuple[State, frozenset[str]]] | None = None
        self._files: dict[str, list[str]] | None = None

    def look_again(self) -> None:
        """Has the states of files be compared again."""
        self._files = None

    def by_word(self, there: list[tuple[str, State]]) -> dict[str, list[str]]:
        """The files that have each word, of those that are there."""
        if self._files is None:
            self._files = self._by_word(there)
        return self._files

    def _by_word(self, there: list[tuple[str, State]]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        known = self._noted() if self._words is None else self._words
        self._words = {}
        is_new = False
        for path, state in there:
            kept = known.get(path)
            if kept is None or kept[0] != state:
                kept, is_new = (state, self._words_of(path)), True
            self._words[path] = kept
            for word in kept[1]:
                found.setdefault(word, []).append(path)
        if is_new or len(known) > len(self._words):
            self._note()
        return found

    def _noted(self) -> dict[str, tuple[State, frozenset[str]]]:
        """The words of files as an earlier run found them."""
        noted = self._store.noted(self._kind, _Note, self._root) if self._store is not None else None
        return {os.path.join(self._root, path): (state, frozenset(words.split())) for path, state, words in noted or ()}

    def _note(self) -> None:
        """Puts down the words of those files a change of which would show in their state."""
        if self._store is not None and self._words:
            settled = time.time_ns() - TICK
            known = sorted((os.path.relpath(path, self._root), *kept) for path, kept in self._words.items())
            self._store.note(
                self._kind,
                self._root,
                [(path, state, " ".join(sorted(words))) for path, state, words in known if max(state[:2]) < settled],
            )


def imported_words(path: str) -> frozenset[str]:
    """The words in the import statements of a file."""
    return _words_of(path, (b"import",), words_in)


def ways_of(path: str) -> frozenset[str]:
    """Those words, and what stands for other ways by which a file may get at others."""
    return _words_of(path, _TELLING, ways_in)


def _words_of(path: str, telling: tuple[bytes, ...], found_in: Callable[[bytes], frozenset[str]]) -> frozenset[str]:
    try:
        data = read_file(path, _LARGEST)
    except (OSError, ValueError):
        return frozenset({UNREAD})
    if not any(each in data for each in telling):
        return frozenset()
    code = code_of(path, data)
    return found_in(code) if code else frozenset({UNREAD})


def _imports(data: bytes) -> Iterator[re.Match[bytes]]:
    """The import statements of a text: what the pattern would find by itself, looked for on lines with the word alone."""
    place = data.find(b"import")
    while place >= 0:
        match = _IMPORT.match(data, data.rfind(b"\n", 0, place) + 1)
        if match is not None:
            yield match
        line_end = data.find(b"\n", match.end() if match is not None else place)
        place = data.find(b"import", line_end) if line_end >= 0 else -1


def words_in(data: bytes) -> frozenset[str]:
    """The words in the import statements of a text, but for those of modules that are surely not of the project."""
    found: set[bytes] = set()
    for match in _imports(data):
        module, names, modules = match.groups()
        if module is None or module.partition(b".")[0] not in _OTHERS:
            for text in (module, names, modules):
                if text:
                    found.update(_WORD.findall(text))
    found -= {b"as", b"import", *_OTHERS}
    return frozenset(intern(word.decode("utf-8", "replace")) for word in found)


def ways_in(data: bytes) -> frozenset[str]:
    """Those words, behind `WITHIN` those of imports within a line, and what `ABOVE`, `BY_NAME` and `ANEW` stand for."""
    found, others = words_in(data), set(_others_in(data))
    if any(match[1] is not None and not match[1].strip(b".") and b"*" in match[2] for match in _imports(data)):
        others.add(ABOVE)
    if any(word.removeprefix(WITHIN).encode() in _FINDING for word in (*found, *others)):
        others.add(BY_NAME)
    return found | {intern(word) for word in others}


def _others_in(data: bytes) -> Iterator[str]:
    """What stands among the words of a text for other ways to get at files and classes than imports at the start of lines."""
    is_executed = b"exec" in data and any(not _is_part(data, match.start()) for match in _EXECUTED.finditer(data))
    if is_executed or any(each in data for each in _BY_TEXT):
        yield BY_NAME
    if b"__new__" in data or (b"__class__" in data and _CLASS.search(data)):
        yield ANEW
    elif b"type" in data:
        for match in _TYPE.finditer(data):
            if not _is_part(data, match.start()) and (
                data[match.end() : match.end() + 9].lstrip(b" \t").startswith(b"(")
                or re.search(rb"(?:^|[^=!<>])=[ \t]*$", data[max(match.start() - 9, 0) : match.start()])
            ):
                yield ANEW
                break
    seen = 0
    for match in _PLAIN_IMPORT.finditer(data):
        if match.start() < seen:
            continue
        start = max(data.rfind(b"\n", 0, match.start()) + 1, match.start() - _LONGEST_LINE)
        before = data[start : match.start()]
        if is_continued := data[max(start - 3, 0) : start].rstrip(b"\r\n").endswith(b"\\"):
            start = max(data.rfind(b"\n", 0, start - 1) + 1, start - _LONGEST_LINE)
        if is_continued or (before.strip() and not _FROM.match(before)):
            end = data.find(b"\n", match.end())
            seen = min(end if end >= 0 else len(data), match.end() + _LONGEST_LINE)
            line = data[start:seen]
            if b"*" in line:
                yield ABOVE
            yield from (WITHIN + word.decode("utf-8", "replace") for word in _WORD.findall(line))


def _is_part(data: bytes, start: int) -> bool:
    """Whether what starts at a place of a text is part of a longer word, or an attribute."""
    return start > 0 and (data[start - 1 : start].isalnum() or data[start - 1 : start] in (b"_", b"."))
