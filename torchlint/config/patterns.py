"""Shell patterns for files and directories."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property


@dataclass(frozen=True)
class Patterns:
    """Shell patterns for files and directories, relative to the directory ``root``.

    As in ruff, a pattern is held against the last part of a path and against all of it: ``build`` is any file or directory of
    that name, ``src/old/*.py`` the files there.
    """

    patterns: tuple[str, ...]
    root: str

    def match(self, path: str) -> bool:
        """Whether one of the patterns matches the absolute ``path``."""
        if self._compiled is None:
            return False
        return self._compiled.match(os.path.basename(path)) is not None or self._compiled.match(path) is not None

    def match_inside(self, path: str) -> bool:
        """Whether one of the patterns matches the absolute ``path`` or a directory below the root that it is in."""
        while len(path) > len(self.root):
            if self.match(path):
                return True
            path = os.path.dirname(path)
        return False

    @cached_property
    def _compiled(self) -> re.Pattern[str] | None:
        if not self.patterns:
            return None
        alternatives = []
        for pattern in self.patterns:
            pattern = pattern.rstrip("/")
            alternatives.append(translate(pattern))
            alternatives.append(translate(os.path.join(_escaped(self.root), pattern)))
        return re.compile("|".join(alternatives))


def _escaped(path: str) -> str:
    """A path as a shell pattern that matches just it."""
    return re.sub(r"([*?[])", r"[\1]", path)
