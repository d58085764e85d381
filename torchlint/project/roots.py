"""Where a project starts: the nearest folder with a mark of one, or else the folder that packages are imported from."""

from __future__ import annotations

import os
from functools import lru_cache

_MARKS = ("pyproject.toml", ".git", "setup.py", "setup.cfg")


@lru_cache(maxsize=4096)
def root_of(folder: str) -> str:
    """The root of the project that an absolute ``folder`` is in; without any mark above, the folder over its packages."""
    while not is_marked(folder) and _is_package(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return _root_over(folder)


@lru_cache(maxsize=4096)
def _root_over(folder: str) -> str:
    current = folder
    while True:
        if is_marked(current):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return package_root(folder)
        current = parent


def package_root(folder: str) -> str:
    """The folder that the packages are imported from that ``folder`` is a part of: it is that itself where it is in none."""
    while _is_package(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def look_again() -> None:
    """Has the roots be looked for anew: what marks them may have changed on disk."""
    for known in (root_of, _root_over, is_marked, _is_package):
        known.cache_clear()


@lru_cache(maxsize=4096)
def is_marked(folder: str) -> bool:
    """Whether a folder has a mark of a project."""
    return any(os.path.lexists(os.path.join(folder, mark)) for mark in _MARKS)


@lru_cache(maxsize=4096)
def _is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))
