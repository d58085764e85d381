"""What is found in a file for somebody who asks for it, and kept until that file changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from torchlint.project.callers import digest
from torchlint.text.reading import TICK, read_file

if TYPE_CHECKING:
    from torchlint.project.store import Store
    from torchlint.project.trees import Trees

_Names = tuple[str, ...]
_Told = TypeVar("_Told")


class ToldByFile(Generic[_Told]):
    """Looks into the ``texts`` of files, or else into those on disk; ``state`` is what the file system says of a file.

    Whoever looks has the ``trees`` of the texts, and may keep what is found in a ``store``.
    """

    most_kept = 20_000

    def __init__(
        self, texts: Mapping[str, bytes], state: Callable[[str], str | None], trees: Trees, store: Store | None
    ) -> None:
        self._texts = texts
        self._state = state
        self._trees = trees
        self._store = store
        self._known: dict[tuple[str, _Names], tuple[str, _Told, str]] = {}
        """What is known, behind the states of the files that it is known for; and its digest."""

    def of(self, file: str, names: _Names = ()) -> tuple[_Told, str]:
        """What a file tells of some names, and a text that stands for that."""
        state = self._state(file)
        known = self._known.get((file, names))
        if known is None or state is None or known[0] != state:
            if len(self._known) >= self.most_kept:
                self._known.clear()
            found = self.look_for(file, names)
            known = self._known[file, names] = (state or "", found, digest(repr(found)))
        return known[1], f"={known[2]}" + (f":{known[0]}" if is_settled(known[0]) else "")

    def is_as(self, file: str, names: _Names, stamp: str) -> bool:
        """Whether a file tells what it told when it was given a ``stamp``; it is read only if something happened to it."""
        told, _, state = stamp.partition(":")
        return (bool(state) and self._state(file) == state) or self.of(file, names)[1].partition(":")[0] == told

    def look_for(self, file: str, names: _Names) -> _Told:
        """What the file tells now; nothing where it cannot be read."""
        raise NotImplementedError

    def read(self, file: str, largest: int) -> bytes:
        """The text of a file; raises `OSError` or `ValueError` where there is none, or more than ``largest`` bytes on disk."""
        text = self._texts.get(file)
        return read_file(file, largest) if text is None else text

    def kept(self, kind: str, of: Any, name: str, data: bytes, made: Callable[[], _Told]) -> _Told:
        """What a text tells of a name, a value of type ``of``: as it is kept, or made now."""
        if self._store is None:
            return made()
        key = name.encode("utf-8", "surrogatepass") + b"\0" + data if name else data
        return self._store.kept(kind, of, key, made)


def is_settled(state: str) -> bool:
    """Whether a change of a file from now on would show in its state."""
    return bool(state) and max(map(int, state.split(":")[:2])) + TICK < time.time_ns()
