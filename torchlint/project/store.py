"""What files say, kept on disk by their content: what was made of a text once is not made again, in whatever file it stands.

A value is one small file, called by the hash of the text that it was made of, with a checksum in front. It is put in its place
as a whole. What is missing, damaged, or no value of the type that is asked for counts as not there, and nothing is raised
because of what stands in the folder or because it cannot be written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Any, TypeVar

from torchlint.project.values import decoder, encoded
from torchlint.text.cache_folder import make, may_be_cache, write
from torchlint.text.reading import read_file

_LARGEST = 5_000_000
"""Bytes of one value; more are neither read nor written."""
_FOLDERS = 64
_MOST = 300
"""So many values are in one of the folders; where there are more, the oldest half goes."""
_Value = TypeVar("_Value")


class Store:
    """The values below a folder; ``key`` stands for all besides a text that they depend on."""

    def __init__(self, folder: str, key: Callable[[], str]) -> None:
        self._cache = folder
        self._key = key
        self._below = ""
        self._is_swept: set[str] = set()

    def kept(self, kind: str, of: Any, data: bytes, made: Callable[[], _Value]) -> _Value:
        """The value of type ``of`` that is made of a text: as it is kept, or made now."""
        path = self._path(kind, data)
        found: _Value | None = _read(path, of)
        if found is not None:
            return found
        new = made()
        self._put(path, new)
        return new

    def noted(self, kind: str, of: Any, name: str) -> Any:
        """A value that was put down under a name; `None` where there is none."""
        return _read(self._path(kind, name.encode("utf-8", "surrogatepass")), of)

    def note(self, kind: str, name: str, value: object) -> None:
        """Puts a value down under a name."""
        self._put(self._path(kind, name.encode("utf-8", "surrogatepass")), value)

    def _path(self, kind: str, data: bytes) -> str:
        if not self._below:
            self._below = os.path.join(self._cache, self._key())
        name = blake2b(data, digest_size=16, person=kind.encode()[:16]).hexdigest()
        return os.path.join(self._below, f"{int(name[:4], 16) % _FOLDERS:02}", f"{name}.json")

    def _put(self, path: str, value: object) -> None:
        payload = json.dumps(encoded(value), separators=(",", ":")).encode()
        folder = os.path.dirname(path)
        if len(payload) > _LARGEST:
            return
        with suppress(OSError, ValueError):
            if folder not in self._is_swept:
                if not may_be_cache(self._cache) or any(map(os.path.islink, (self._below, folder))):
                    return
                make(self._cache)
                os.makedirs(folder, exist_ok=True)
                self._is_swept.add(folder)
                _sweep(folder)
            write(path, _checksum(payload) + b"\n" + payload)


def _read(path: str, kind: Any) -> Any:
    """The value in a file; `None` where there is none of this type."""
    try:
        checksum, _, payload = read_file(path, _LARGEST).partition(b"\n")
        return decoder(kind)(json.loads(payload)) if checksum == _checksum(payload) else None
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def _checksum(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=16).hexdigest().encode()


def _sweep(folder: str) -> None:
    """Removes the older half of what is in a folder, where that is too much."""
    with os.scandir(folder) as entries:
        there = [entry for entry in entries if entry.name.endswith((".json", ".tmp"))]
    if len(there) > _MOST:
        for entry in sorted(there, key=lambda each: each.stat(follow_symlinks=False).st_mtime_ns)[: len(there) // 2]:
            with suppress(OSError):
                os.unlink(entry.path)
