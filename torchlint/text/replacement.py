"""Replacing a file's content so that nothing can be lost on the way."""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

_PREFIX, _SUFFIX = ".torchlint-", ".tmp"
_TEMPORARY = re.compile(rf"{re.escape(_PREFIX)}[a-z0-9_]{{8}}{re.escape(_SUFFIX)}")
"""The names of temporary files: no file that anyone lints, and no name that anyone chooses."""
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,9})")


class FileChangedError(Exception):
    """The file no longer holds what it was read as."""


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps a signal that ends the process until the end: a temporary file is renamed or removed before."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@_undisturbed()
def replace_file(path: str, old: bytes, new: bytes) -> None:
    """Makes ``path``, which holds ``old``, hold ``new``.

    At every moment the file is either the old one or the new one: the new one is written beside it, flushed to the disk and
    then renamed, and the rename is flushed in its turn. Mode and extended attributes, and owner where allowed, are kept. A
    symbolic link stays, its target is replaced; other hard links to the file keep the old content. Raises `FileChangedError`
    where the file holds something else by now, and `OSError` where it cannot be written, a file without write permission
    included; in both cases the file is as it was.

    A process that is killed meanwhile may leave its temporary file, ``.torchlint-….tmp``, behind. It holds nothing that is
    needed, and goes the next time that a file is replaced in that folder.
    """
    target = os.path.realpath(path)
    status = os.stat(target)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", path)
    folder = os.path.dirname(target)
    _remove_leftovers(folder)
    descriptor, temporary = _temporary_file(folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(new)
            file.flush()
            _keep_attributes(temporary, target, status)
            os.fsync(file.fileno())
            if not _still_holds(target, status, old):
                raise FileChangedError(path)
            if sys.platform != "win32":  # where an open file cannot be renamed
                os.replace(temporary, target)
        if sys.platform == "win32":
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _flush_folder(folder)


def write_file(path: str, content: bytes) -> None:
    """Makes ``path`` hold ``content``; what it held before stays until that is done. Raises what `replace_file` raises.

    What is written to where the standard output or error goes, be it a file by another name, is put behind what is there.
    """
    if (descriptor := _open_descriptor(path)) is not None:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        return
    try:
        with open(path, "xb") as file:
            _write_or_remove(file, content)
    except FileExistsError:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                old = file.read()
            replace_file(path, old, content)
        else:  # a device or a pipe
            with open(path, "wb") as file:
                file.write(content)


def _open_descriptor(path: str) -> int | None:
    """The descriptor that ``path`` names, or that of the standard output or error where it leads to the same."""
    with suppress(OSError):
        status = os.stat(path)
        if match := _DESCRIPTOR.fullmatch(path):
            return int(match[1])
        for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            if os.path.samestat(os.fstat(descriptor), status):
                stream.flush()  # what was written before stays before
                return descriptor
    return None


def _write_or_remove(file: BinaryIO, content: bytes) -> None:
    """Writes to a new file; where that fails, there is none."""
    try:
        file.write(content)
        file.flush()
    except BaseException:
        with suppress(OSError):
            os.unlink(file.name)
        raise


def _still_holds(path: str, status: os.stat_result, content: bytes) -> bool:
    """Whether the file at ``path`` is the one that ``status`` is of, and holds ``content``."""
    with open(path, "rb", opener=_without_waiting) as file:
        return _identity(os.fstat(file.fileno())) == _identity(status) and file.read(len(content) + 1) == content


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mode, status.st_uid, status.st_gid


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # should it be a pipe by now


def _keep_attributes(path: str, original: str, status: os.stat_result) -> None:
    """Gives the file at ``path`` the owner, mode and extended attributes of the one at ``original``."""
    mode = stat.S_IMODE(status.st_mode)
    if not _keep_owner(path, status):
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
    if sys.platform == "linux":
        _keep_extended_attributes(path, original)
    if stat.S_IMODE(os.stat(path).st_mode) != mode:  # some file systems know one mode only, and refuse every change
        os.chmod(path, mode)  # after the change of owner, which clears the set-id bits


def _keep_owner(path: str, status: os.stat_result) -> bool:
    """Gives a file the owner and group of ``status``, or at least the group; whether it has both."""
    if sys.platform == "win32":
        return True
    own = os.stat(path)
    if (own.st_uid, own.st_gid) == (status.st_uid, status.st_gid):
        return True
    with suppress(OSError):
        os.chown(path, status.st_uid, status.st_gid)
        return True
    with suppress(OSError):
        os.chown(path, -1, status.st_gid)
    return False


def _keep_extended_attributes(path: str, original: str) -> None:
    """Gives a file the extended attributes of ``original``, its access control list among them, as far as allowed."""
    with suppress(OSError):
        wanted = os.listxattr(original)
        for name in wanted:
            with suppress(OSError):
                os.setxattr(path, name, os.getxattr(original, name))
        for name in set(os.listxattr(path)).difference(wanted):  # inherited from the folder
            with suppress(OSError):
                os.removexattr(path, name)


def _flush_folder(folder: str) -> None:
    """Has the disk know of a rename in ``folder``. Where that is impossible, the file is one of the two all the same."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# --- temporary files -------------------------------------------------------------------------------------------------
#
# A temporary file is locked for as long as its process has it open. The lock ends with the process, however that ends: a
# temporary file that can be locked is nobody's.


def _temporary_file(folder: str) -> tuple[int, str]:
    """A new file in ``folder``, locked: its descriptor and path."""
    import tempfile  # which takes a while to import

    while True:
        descriptor, path = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=folder)
        if sys.platform == "win32":
            return descriptor, path
        with suppress(OSError):  # some file systems have no locks; nobody takes the file for abandoned there
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_at(descriptor, path):
            return descriptor, path
        os.close(descriptor)  # another process took it for abandoned before it was locked


@lru_cache(maxsize=1024)
def _remove_leftovers(folder: str) -> None:
    """Removes the temporary files of processes that are gone; done once in each folder."""
    if sys.platform == "win32":
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(path: str) -> None:
    """Removes a temporary file; raises `OSError` where a process has it locked, or it cannot be told."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(descriptor, path):
            os.unlink(path)
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, path: str) -> bool:
    """Whether the open file is the one at ``path``."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
