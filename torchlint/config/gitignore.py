"""What .gitignore files leave out, as git reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from torchlint.text.reading import read_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".gitignore"

_REPOSITORY = ".git"
_LARGEST = 1_000_000
"""Bytes of a .gitignore file that is heeded."""
_LONGEST_LINE = 10_000
"""Characters of a pattern that is heeded; no path is as long."""
_MANY_STARS = 3
"""Patterns with fewer stars are matched as pathspec has them."""
_STAR = "[^/]*"
_ONE_CHARACTER = "[^/]"
_ANY_DIRECTORIES = "(?:/.+)?"
_FEWEST_DIRECTORIES = "(?:/.+?)??"
_LEADING_DIRECTORIES = "(?:.+/)?"
_FEWEST_LEADING = "(?:.+?/)??"
"""How pathspec writes ``*``, ``?`` and ``**``, and the same with as few directories as possible."""
_OWN = os.path.join(_REPOSITORY, "info", "exclude")


class Ignored:
    """What the .gitignore files from the root of the repository, or from a search's first directory, down say of a path.

    Objects are made with `above`, which reads those up the tree, and `within`, which adds that of a directory below.
    """

    def __init__(self, specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()) -> None:
        self._specs = specs

    @classmethod
    def above(cls, directory: str) -> Ignored:
        """What holds in the absolute path ``directory``, by the files there and further up in its repository."""
        directories = [directory]
        while not os.path.exists(os.path.join(directories[-1], _REPOSITORY)):
            parent = os.path.dirname(directories[-1])
            if parent == directories[-1]:
                directories = [directory]  # in no repository
                break
            directories.append(parent)
        found = cls()
        own = _read(os.path.join(directories[-1], _OWN))
        if own is not None:
            found = cls(((directories[-1], own),))
        for each in reversed(directories):
            found = found.within(each)
        return found

    def within(self, directory: str) -> Ignored:
        """What holds in ``directory`` by its own .gitignore, too."""
        spec = _read(os.path.join(directory, NAME))
        return self if spec is None else Ignored((*self._specs, (directory, spec)))

    def match(self, path: str, *, is_directory: bool) -> bool:
        """Whether the absolute ``path`` is left out; the file that is nearest to it and says something of it decides."""
        for directory, spec in reversed(self._specs):
            relative = path[len(directory) :].lstrip(os.sep).replace(os.sep, "/")
            said = spec.check_file(relative + "/" if is_directory else relative).include
            if said is not None:
                return said
        return False


def _read(path: str) -> GitIgnoreSpec | None:
    """The patterns in a file; None where there are none, or the file cannot be read."""
    try:
        lines = read_file(path, _LARGEST).decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    if not any(line.strip() and not line.startswith("#") for line in lines):
        return None
    return read_patterns(lines)


def read_patterns(lines: Iterable[str]) -> GitIgnoreSpec:
    """The patterns of a .gitignore file, a line each; what git takes for no pattern (``!``, ``[z-a]``) matches nothing."""
    from pathspec import GitIgnoreSpec

    kind: Callable[..., Any] = type(GitIgnoreSpec.from_lines(["x"]).patterns[0])
    patterns = [pattern for line in lines if (pattern := _pattern(line, kind)) is not None]
    try:
        return GitIgnoreSpec(patterns, backend="simple")  # others know no lookahead
    except TypeError:  # pathspec before 1.0 has but one
        return GitIgnoreSpec(patterns)


def _pattern(line: str, kind: Callable[..., Any]) -> Any:
    """The pattern in a line, of one of pathspec's classes; None where there is none."""
    if len(line) > _LONGEST_LINE:
        return None
    try:
        pattern = kind(line)
    except (ValueError, re.error):
        return None
    if pattern.regex is None or line.count("*") < _MANY_STARS:
        return pattern
    return kind(re.compile(without_backtracking(pattern.regex.pattern)), pattern.include)


def without_backtracking(regex: str) -> str:
    """A regular expression that matches what that of pathspec for a pattern does, in time by the square of the path at most.

    What stands between two stars may be taken where it is found first: the second star matches all that the first one then
    does not. So there is no need to go back to an earlier star. The same holds of the directories between two ``**``.
    """
    groups = [_with_settled_stars(group, number) for number, group in enumerate(regex.split(_ANY_DIRECTORIES))]
    *settled, last = groups
    if settled:
        settled[0] = settled[0].replace(_LEADING_DIRECTORIES, _FEWEST_LEADING)
        settled[1:] = [_FEWEST_DIRECTORIES + group for group in settled[1:]]
        last = _ANY_DIRECTORIES + last
    return "".join(_settled(f"{group}(?=/)", f"d{number}") for number, group in enumerate(settled)) + last


def _with_settled_stars(group: str, place: int) -> str:
    """The part of an expression between two ``**``, the ``place``-th, with the stars within each name settled."""
    first, *others = group.split(_STAR)
    parts = [first]
    for number, part in enumerate(others):
        is_last = number == len(others) - 1
        if is_last or "/" in part.replace(_ONE_CHARACTER, ""):
            parts.append(_STAR + part)
        elif part:  # of several stars in a row, one is enough
            parts.append(_settled(f"[^/]*?{part}", f"s{place}_{number}"))
    return "".join(parts)


def _settled(expression: str, name: str) -> str:
    """An expression that takes its first match and does not look for another: ``(?>…)``, which came with Python 3.11."""
    return f"(?=(?P<{name}>{expression}))(?P={name})"
