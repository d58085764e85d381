"""Reading files that may be anything, within bounds."""

from __future__ import annotations

import errno
import os
import re
import stat

DEFAULT_LIMIT = 10_000_000
"""Bytes of code in one file. Where code has to be parsed, it takes 150 to 350 times its size of memory (growth.py)."""
NOTEBOOK = ".ipynb"
"""How the name of a notebook ends."""
_NOTEBOOK_FACTOR = 10
"""How many times as large a notebook may be, which holds outputs as well; its code is held to the limit."""

TICK = 2_000_000_000
"""Nanoseconds: no file system in use is coarser in the times that it keeps of its files."""

_SIZE = re.compile(r"(\d{1,15}) ?([kMG]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def read_file(path: str, limit: int) -> bytes:
    """What the file at ``path`` holds, which must be a regular file within ``limit`` (see `refuse_larger`); raises `OSError`.

    Nothing is waited for, and no more read than the limit: the file may have become a pipe since it was found, or belong to
    a file system that invents its content.
    """
    with open(path, "rb", buffering=0, opener=_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        refuse_larger(status.st_size, path, limit)
        parts: list[bytes] = []
        read = 0
        while part := file.read(max(status.st_size - read, 0) + 1 if status.st_size else 65536):
            parts.append(part)
            read += len(part)
            refuse_larger(read, path, limit)
            if read == status.st_size:  # where more was asked for
                break
    return parts[0] if len(parts) == 1 else b"".join(parts)


def refuse_larger(size: int, path: str, limit: int) -> None:
    """Raises `OSError` where a file of ``size`` is larger than allowed."""
    allowed = limit * _NOTEBOOK_FACTOR if path.endswith(NOTEBOOK) else limit
    if size > allowed:
        raise OSError(errno.EFBIG, f"it is larger than {shown_size(allowed)} (see max-file-size)", path)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def parse_size(text: str) -> int:
    """The bytes that ``text``, such as 10MB, stands for; raises `ValueError`."""
    match = _SIZE.fullmatch(text.strip())
    if not match or not text.isascii():
        raise ValueError(f"not a size such as 10MB: {text!r}")
    return int(match[1]) * _UNITS[match[2].lower()]


def shown_size(size: int) -> str:
    """``size`` with the largest unit that keeps it whole."""
    unit = next(unit for unit in ("g", "m", "k", "") if not unit or (size % _UNITS[unit] == 0 and size >= _UNITS[unit]))
    return f"{size // _UNITS[unit]}{'k' if unit == 'k' else unit.upper()}B"
