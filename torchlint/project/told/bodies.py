"""What the code in single classes of a project says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from torchlint.project.told.by_file import ToldByFile

if TYPE_CHECKING:
    from torchlint.project.store import Store
    from torchlint.project.trees import Trees
    from torchlint.semantics.summaries.summary import ClassBody

_LARGEST = 1_000_000
"""Bytes of a file that is looked at; of larger ones nothing is known."""


class Bodies(ToldByFile["ClassBody"]):
    """Tells what the code says of a class; of one in a stub, nothing."""

    def __init__(
        self, texts: Mapping[str, bytes], state: Callable[[str], str | None], trees: Trees, store: Store | None
    ) -> None:
        super().__init__(texts, state)
        self._trees = trees
        self._store = store

    def look_for(self, file: str, names: tuple[str, ...]) -> ClassBody:
        """What is said of the one class that is named."""
        from torchlint.semantics.summaries.summary import UNTOLD, ClassBody

        (name,) = names
        try:
            data = self.read(file, _LARGEST)
        except (OSError, ValueError):
            return UNTOLD
        if file.endswith(".pyi"):
            return UNTOLD
        if self._store is None:
            return self._trees.body(data, name)
        key = name.encode("utf-8", "surrogatepass") + b"\0" + data
        return self._store.kept("body", ClassBody, key, lambda: self._trees.body(data, name))
