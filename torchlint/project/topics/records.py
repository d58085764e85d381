"""Copies of a project's own files that runs have left beside their results: a record of what was run, which nobody edits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

OF_RUNS = frozenset(
    {
        *("log", "logs", "tb_logs", "lightning_logs", "wandb", "runs", "output", "outputs", "result", "results"),
        *("checkpoint", "checkpoints", "ckpt", "ckpts", "snapshot", "snapshots", "saved_models", "work_dirs"),
    }
)
"""What the folders are called where runs keep what comes of them."""
_MOST_FILES = 400
_MOST_ALIKE = 8
"""So many files of one name are compared with a copy."""
_FEWEST_LINES = 5
_SHARED = 0.9
"""So much of each of the two is in the other one: the project goes on while its records stay."""


def may_be_record(below: str) -> bool:
    """Whether a path below a root leads into a folder where runs keep what comes of them."""
    return below.endswith(".py") and _folder_of_runs(below) is not None


def _folder_of_runs(below: str) -> str | None:
    return next((part for part in below.split(os.sep)[:-1] if part.lower() in OF_RUNS), None)


class Records:
    """Tells of files whether they are such copies; each project is looked through once."""

    def __init__(
        self,
        code: Callable[[str], bytes | None],
        files: Callable[[str], Iterator[str | None]],
        imports: Callable[[str], Iterable[list[str]]],
    ) -> None:
        self._code = code
        self._files = files
        self._imports = imports
        self._projects: dict[str, tuple[dict[str, list[str]], set[str]] | None] = {}
        self._lines: dict[str, frozenset[bytes]] = {}

    def forget(self) -> None:
        """Has all files be read again."""
        self._projects.clear()
        self._lines.clear()

    def is_record(self, below: str, root: str) -> bool:
        """Whether the file at a path below a root is nearly the same as one of its name outside of such folders, and nothing
        there imports what is in its folder.
        """
        folder = _folder_of_runs(below)
        if root not in self._projects:
            self._projects[root] = self._looked_through(root)
        project = self._projects[root]
        if folder is None or project is None or folder in project[1]:
            return False
        originals = project[0].get(os.path.basename(below), [])
        if not 0 < len(originals) <= _MOST_ALIKE:
            return False
        own = self._read(os.path.join(root, below))
        return any(_are_alike(own, self._lines_of(original)) for original in originals)

    def _looked_through(self, root: str) -> tuple[dict[str, list[str]], set[str]] | None:
        """The project's own files by their names, and the parts of what they import; `None` where there are too many."""
        named: dict[str, list[str]] = {}
        imported: set[str] = set()
        for number, path in enumerate(self._files(root)):
            if path is None or number == _MOST_FILES:
                return None
            named.setdefault(os.path.basename(path), []).append(path)
            imported.update(*self._imports(path))
        return named, imported

    def _lines_of(self, path: str) -> frozenset[bytes]:
        if path not in self._lines:
            self._lines[path] = self._read(path)
        return self._lines[path]

    def _read(self, path: str) -> frozenset[bytes]:
        return frozenset(filter(None, map(bytes.strip, (self._code(path) or b"").splitlines())))


def _are_alike(one: frozenset[bytes], other: frozenset[bytes]) -> bool:
    """Whether two files have most of their lines in common."""
    least = _SHARED * max(len(one), len(other))
    return min(len(one), len(other)) >= max(least, _FEWEST_LINES) and len(one & other) >= least
