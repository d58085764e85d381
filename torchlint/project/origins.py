"""Where the files of a project may have some names from, and what these give by their file alone; whether that is still so."""

from __future__ import annotations

import ast
import os
import time
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from torchlint.project.callers import digest
from torchlint.text.headroom import recursion_headroom
from torchlint.text.reading import read_file

if TYPE_CHECKING:
    from torchlint.project.store import Store
    from torchlint.semantics import Semantics
    from torchlint.semantics.summaries.summary import Given

_LARGEST = 1_000_000
"""Bytes of a file that is looked at; larger ones say nothing."""
_MOST_KEPT = 20_000
_TICK = 2_000_000_000
"""Nanoseconds: no file system in use is coarser in its times."""
_Names = tuple[str, ...]


class Origins:
    """Looks for names in the ``texts`` of files, or else on disk; ``state`` is what the file system says of a file."""

    def __init__(self, texts: Mapping[str, bytes], state: Callable[[str], str | None]) -> None:
        self._texts = texts
        self._state = state
        self._known: dict[tuple[str, _Names], tuple[str, _Names]] = {}
        """What is known, behind the states of the files that it is known for."""

    def of(self, file: str, names: _Names) -> tuple[_Names, str]:
        """What `may_bind` tells of a file and some names, and a text that stands for that."""
        state = self._state(file)
        known = self._known.get((file, names))
        if known is None or state is None or known[0] != state:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            known = self._known[file, names] = (state or "", self._found(file, names))
        return known[1], f"{_listed(known[1])}//" + (known[0] if is_settled(known[0]) else "")

    def are_as(self, file: str, names: _Names, stamp: str) -> bool:
        """Whether a file has names from where it had them; it is read only if something happened to it."""
        told, _, state = stamp.partition("//")
        return (bool(state) and self._state(file) == state) or _listed(self.of(file, names)[0]) == told

    def _found(self, file: str, names: _Names) -> _Names:
        from torchlint.project.bound import may_bind

        try:
            text = self._texts.get(file)
            return may_bind(read_file(file, _LARGEST) if text is None else text, names)
        except (OSError, ValueError):
            return ()


def _listed(modules: _Names) -> str:
    """What stands for modules, of which one may have no name."""
    return "".join(f"{each} " for each in modules)


def is_settled(state: str) -> bool:
    """Whether a change of a file from now on would show in its state."""
    return bool(state) and max(map(int, state.split(":")[:2])) + _TICK < time.time_ns()


# --- what functions, methods and attributes give ----------------------------------------------------------------------

_LARGEST_READ = 500_000
"""Bytes of a file that is looked at; larger ones say nothing."""
_MOST_AT_HAND = 300_000
"""Of so many bytes of text the semantics are kept, which take some three hundred times as much."""
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Givens:
    """Looks into the ``texts`` of files, or else into those on disk; ``state`` is what the file system says of a file."""

    def __init__(self, texts: Mapping[str, bytes], state: Callable[[str], str | None], store: Store | None) -> None:
        self._texts = texts
        self._state = state
        self._store = store
        self._known: dict[tuple[str, str], tuple[str, Given]] = {}
        """What is known, behind the states of the files that it is known for."""
        self._at_hand: dict[bytes, Semantics | None] = {}

    def of(self, file: str, name: str) -> tuple[Given, str]:
        """What something of a file gives, and a text that stands for that."""
        state = self._state(file)
        known = self._known.get((file, name))
        if known is None or state is None or known[0] != state:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            known = self._known[file, name] = (state or "", self._found(file, name))
        return known[1], f"={digest(repr(known[1]))}" + (f":{known[0]}" if is_settled(known[0]) else "")

    def is_as(self, root: str, asked: str, stamp: str) -> bool:
        """Whether something of a file below a root gives what it gave; it is read only if something happened to it."""
        path, name = asked.split("\n")
        file = os.path.join(root, path)
        told, _, state = stamp.partition(":")
        return (bool(state) and self._state(file) == state) or self.of(file, name)[1].partition(":")[0] == told

    def _found(self, file: str, name: str) -> Given:
        from torchlint.semantics.summaries.summary import Given

        try:
            text = self._texts.get(file)
            data = read_file(file, _LARGEST_READ) if text is None else text
        except (OSError, ValueError):
            return Given()
        if b"torch" not in data or len(data) > _LARGEST_READ or name.rpartition(".")[2].removesuffix("()").encode() not in data:
            return Given()
        if self._store is None:
            return self._looked_for(data, name)
        key = name.encode("utf-8", "surrogatepass") + b"\0" + data
        return self._store.kept("given", Given, key, lambda: self._looked_for(data, name))

    def _looked_for(self, data: bytes, name: str) -> Given:
        from torchlint.semantics.provenance.given_alone import given
        from torchlint.semantics.summaries.summary import Given

        try:
            with recursion_headroom():
                semantics = self._semantics(data)
                return given(semantics, name) if semantics is not None else Given()
        except _UNREADABLE:
            return Given()

    def _semantics(self, data: bytes) -> Semantics | None:
        """All that a text means, which is kept among the last ones."""
        from torchlint.semantics import Semantics

        if data in self._at_hand:
            self._at_hand[data] = self._at_hand.pop(data)
        else:
            self._at_hand[data] = None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._at_hand[data] = Semantics(ast.parse(data))
        while sum(map(len, self._at_hand)) > _MOST_AT_HAND and len(self._at_hand) > 1:
            gone = self._at_hand.pop(next(iter(self._at_hand)))
            if gone is not None:
                gone.let_go()
        return self._at_hand[data]
