"""What marks a folder as a cache of torchlint, and which folders may become one."""

from __future__ import annotations

import os
from contextlib import suppress

from torchlint.text.reading import read_file

TAG = "CACHEDIR.TAG"
TAG_TEXT = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of torchlint; see https://bford.info/cachedir/\n"
)
IGNORE = ".gitignore"
IGNORE_TEXT = "# Made by torchlint\n*\n"
"""Keeps the cache out of repositories. The search for files to lint does not heed it: no code may hide behind it."""


def may_be_cache(folder: str) -> bool:
    """Whether nothing but the cache is in ``folder``: it is new, empty, or marked as a cache of torchlint.

    A link is taken only where it leads to a folder that is marked.
    """
    if _is_marked(folder):
        return True
    if os.path.islink(folder):
        return False
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return all(name.startswith(TAG) for name in names)  # of a run that was killed before the mark had its name


def make(folder: str) -> None:
    """Makes a folder, and puts the marks of a cache into it; raises `OSError`."""
    os.makedirs(folder, exist_ok=True)
    for name, content in ((TAG, TAG_TEXT), (IGNORE, IGNORE_TEXT)):
        path = os.path.join(folder, name)
        if not os.path.lexists(path):
            write(path, content.encode())


def write(path: str, data: bytes) -> None:
    """Puts a file in its place in one step; raises `OSError`."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(temporary, "xb") as file:  # which follows no link that lies there
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _is_marked(folder: str) -> bool:
    try:
        return read_file(os.path.join(folder, TAG), len(TAG_TEXT)) == TAG_TEXT.encode()
    except (OSError, ValueError):
        return False
