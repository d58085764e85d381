"""Where files may have some names from."""

from __future__ import annotations

from torchlint.project.told.by_file import ToldByFile

_LARGEST = 1_000_000
"""Bytes of a file that is looked at; larger ones say nothing."""
_Names = tuple[str, ...]


class Origins(ToldByFile[_Names]):
    """Tells where files may have some names from, as `may_bind` does."""

    def look_for(self, file: str, names: _Names) -> _Names:
        """The modules, or ``""`` for the file itself."""
        from torchlint.project.told.bound import may_bind

        try:
            return may_bind(self.read(file, _LARGEST), names)
        except (OSError, ValueError):
            return ()
