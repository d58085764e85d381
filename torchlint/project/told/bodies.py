"""What the code in single classes of a project says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.project.told.by_file import ToldByFile

if TYPE_CHECKING:
    from torchlint.semantics.summaries.summary import ClassBody

_LARGEST = 1_000_000
"""Bytes of a file that is looked at; of larger ones nothing is known."""


class Bodies(ToldByFile["ClassBody"]):
    """Tells what the code says of a class; of one in a stub, nothing."""

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
        return self.kept("body", ClassBody, name, data, lambda: self._trees.body(data, name))
