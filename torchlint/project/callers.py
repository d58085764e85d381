"""What the files of a project call: looked for by the names that they import, and parsed only where they hold the name."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from torchlint.project.importers import Importers
from torchlint.text.headroom import recursion_headroom
from torchlint.text.reading import read_file

if TYPE_CHECKING:
    from torchlint.semantics.summaries.calls import Calls

_LARGEST = 1_000_000
"""Bytes of a file whose calls are looked at."""
_MOST_CALLING = 200
"""Of a name that more files may call, nobody is asked: it is one like ``get`` or ``main``."""
Found = tuple[tuple[str, "Calls"], ...]


class Callers:
    """The calls in the files of all projects, as far as somebody asked for them."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._importers: dict[str, Importers] = {}
        self._found: dict[tuple[str, str, str, tuple[str, ...]], Found] = {}
        self._calls: dict[str, tuple[tuple[int, int, int], Calls]] = {}
        self._checked: set[str] = set()

    def look_again(self) -> None:
        """Has everything that may have changed on disk be looked at when it is asked for again."""
        for each in self._importers.values():
            each.look_again()
        self._found.clear()
        self._checked.clear()

    def of(self, name: str, words: Iterable[str], file: str, root: str) -> Found:
        """The calls of something called ``name`` in ``file``, and in files that import one of some words, by file."""
        key = (root, name, file, tuple(sorted(words)))
        if key not in self._found:
            importers = self._importers.setdefault(root, Importers(root))
            files = [*importers.of(key[3]), file]
            found: dict[str, Calls] = {}
            sought = name.encode("utf-8", "surrogatepass")
            for each in sorted(set(files)) if len(files) <= _MOST_CALLING else ():
                calls = tuple(call for call in self._calls_in(each, sought) if call.name == name)
                if calls:
                    found[each] = calls
            self._found[key] = tuple(found.items())
        return self._found[key]

    def _calls_in(self, file: str, sought: bytes) -> Calls:
        """The calls in a file; none where its text does not hold what is sought."""
        try:
            text = self._texts.get(file)
            if text is None:
                if file in self._checked:
                    return self._calls[file][1]
                status = os.stat(file)
                state = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
                known = self._calls.get(file)
                if known is not None and known[0] == state:
                    self._checked.add(file)
                    return known[1]
                text = read_file(file, _LARGEST)
                if sought not in text:
                    return ()
                self._calls[file] = state, _calls_of(text)
                self._checked.add(file)
                return self._calls[file][1]
            return _calls_of(text) if sought in text else ()
        except (OSError, ValueError):
            return ()


def _calls_of(data: bytes) -> Calls:
    from torchlint.semantics.summaries.calls import calls_of

    try:
        with recursion_headroom(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return calls_of(ast.parse(data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def digest(found: Found, root: str) -> str:
    """The hash that stands for who calls, and with what."""
    from hashlib import blake2b

    text = repr([(os.path.relpath(file, root), calls) for file, calls in found])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if found else ""
