"""Where the files of a project may have some names from, and whether that is still so."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from torchlint.text.reading import read_file

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
