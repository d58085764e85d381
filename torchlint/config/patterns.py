"""Patterns for files and directories: those of the configuration, and, a line each, those of .gitignore files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_LONGEST_LINE = 4096
"""Characters of a pattern that is heeded; no path is as long."""
_PLAIN = re.compile(r"(\*?)([\w.-]+)")
"""A name, or ``*`` and how a name ends: what most patterns are, and no reason to import pathspec."""

_STARS = re.compile(r"(?:\[\^/\]\*)+")
_BETWEEN_STARS = re.compile(r"\[\^/\]\*((?:\[(?!\^/\]\*)\^?+\]?+[^]]*\]|\\.|[^\\/\[])+)(?=\[\^/\]\*)")
_LEADING_DIRECTORIES = "(?:.+/)?"
_ANY_DIRECTORIES = "(?:/.+)?"
"""How pathspec writes ``*``, what is between two of them, and ``**``."""


@dataclass(frozen=True)
class Patterns:
    """Patterns for files and directories, relative to the directory ``root``, that mean what they do in a .gitignore there.

    ``build`` is any file or directory of that name, ``src/old/*.py`` the files there, ``src/**/old.py`` one at any depth. Of
    what is not below the root, they are held against the name.
    """

    patterns: tuple[str, ...]
    root: str

    def match(self, path: str, *, is_directory: bool = False) -> bool:
        """Whether the patterns match the absolute ``path``."""
        return self._match(self._relative(path), is_directory)

    def match_inside(self, path: str) -> bool:
        """Whether the patterns match the file at the absolute ``path``, or a directory below the root that it is in."""
        relative = self._relative(path)
        return self._match(relative, False) or self._match_any_directory(os.path.dirname(relative))

    def sparing(self, directory: str) -> Patterns:
        """Those of the patterns that match neither the absolute path ``directory`` nor a directory that it is in."""
        relative = self._relative(directory)
        if not self._match_any_directory(relative):
            return self
        matching = {each for each in self.patterns if replace(self, patterns=(each,))._match_any_directory(relative)}
        return replace(self, patterns=tuple(each for each in self.patterns if each not in matching))

    def _match_any_directory(self, relative: str) -> bool:
        """Whether the patterns match a directory, or one that it is in."""
        return any(self._match(part, True) for part in accumulate(filter(None, relative.split("/")), "{}/{}".format))

    def _match(self, relative: str, is_directory: bool) -> bool:
        names, endings, others = self._sorted
        name = relative.rpartition("/")[2]
        if name in names or name.endswith(endings):
            return True
        return others is not None and others.match_file(relative + "/" if is_directory else relative)

    def _relative(self, path: str) -> str:
        """The path from the root on, empty for the root itself."""
        root = self._start
        relative = path.removeprefix(root) if path.startswith(root) else os.path.basename(path.removeprefix(self.root))
        return relative.replace(os.sep, "/")

    @cached_property
    def _start(self) -> str:
        """How paths below the root start."""
        return os.path.join(self.root, "")

    @cached_property
    def _sorted(self) -> tuple[frozenset[str], tuple[str, ...], GitIgnoreSpec | None]:
        """The names, the ends of names, and the patterns that are more than that."""
        plain: list[tuple[str, str]] = []
        others: list[str] = []
        for pattern in self.patterns:
            match = _PLAIN.fullmatch(pattern)
            if match is not None:
                plain.append((match[1], match[2]))
            else:
                others.append(pattern)
        if any(pattern.startswith("!") for pattern in others):  # then their order counts
            plain, others = [], list(self.patterns)
        names = frozenset(text for star, text in plain if not star)
        endings = tuple(text for star, text in plain if star)
        return names, endings, read_patterns(map(self._anchored, others)) if others else None

    def _anchored(self, pattern: str) -> str:
        """A pattern that starts with the path of the root as one that starts there."""
        return pattern.removeprefix(self.root) if pattern.startswith(os.path.join(self.root, "")) else pattern


def read_patterns(lines: Iterable[str]) -> GitIgnoreSpec:
    """The patterns of a .gitignore file, a line each; what git takes for no pattern (``!``, ``[z-a]``) matches nothing."""
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    patterns = []
    for line in lines:
        if len(line) <= _LONGEST_LINE:
            with suppress(ValueError, re.error):
                regex, include = GitIgnoreSpecPattern.pattern_to_regex(line)
                if regex is not None:
                    patterns.append(GitIgnoreSpecPattern(re.compile(without_backtracking(regex)), include))
    return GitIgnoreSpec(patterns, backend="simple")  # others know no atomic groups


def without_backtracking(regex: str) -> str:
    """A regular expression that matches what that of pathspec for a pattern does, in time by the square of the path at most.

    What stands between two stars may be taken where it is found first: the second star matches all that the first one then
    does not. The same holds of the directories between two ``**``. As pathspec 1.1.1 has it, every star is tried everywhere:
    five of them in a name of 200 characters take 7 seconds, each more some thirty times as long.
    """
    regex = _BETWEEN_STARS.sub(r"(?>[^/]*?\1)", _STARS.sub("[^/]*", regex))
    first, *others = regex.split(_ANY_DIRECTORIES)
    if not others:
        return regex
    settled = [first.replace(_LEADING_DIRECTORIES, "(?:.+?/)??"), *(f"(?:/.+?)??{each}" for each in others[:-1])]
    return "".join(f"(?>{part}(?=/))" for part in settled) + _ANY_DIRECTORIES + others[-1]
