"""Replacing a file's content so that nothing can be lost on the way."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress


class FileChangedError(Exception):
    """The file no longer holds what it was read as."""


def replace_file(path: str, old: bytes, new: bytes) -> None:
    """Makes ``path``, which holds ``old``, hold ``new``.

    At every moment the file is either the old one or the new one: the new one is written beside it, flushed to the disk and
    then renamed. Mode, and owner where allowed, are kept. A symbolic link stays, its target is replaced; other hard links to
    the file keep the old content. Raises `FileChangedError` where the file holds something else by now, and `OSError`
    where it cannot be written, a file without write permission included; in both cases the file is as it was.
    """
    target = os.path.realpath(path)
    status = os.stat(target)
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", path)
    descriptor, temporary = tempfile.mkstemp(prefix=".torchlint-", dir=os.path.dirname(target))
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(new)
            file.flush()
            _keep_attributes(temporary, status)
            os.fsync(file.fileno())
        with open(target, "rb") as file:
            if file.read() != old:
                raise FileChangedError(path)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _keep_attributes(path: str, status: os.stat_result) -> None:
    if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)
    os.chmod(path, stat.S_IMODE(status.st_mode))  # after the change of owner, which clears the set-id bits
