"""A baseline: what an old code base has been reported for already, so that only what is new is reported.

A finding is known by its file, its code and the text of its line, so that it may move. The file is JSON that can be read,
reviewed and merged: for each file and code, the lines and how many findings each has.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from torchlint.diagnostic import Diagnostic

_VERSION = 1

Known: TypeAlias = Mapping[tuple[str, str, str], int]
"""How many findings are known by file (relative to the baseline, with slashes), code and line."""


class BaselineError(Exception):
    """A baseline that cannot be used; the message is one line and names the file."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings; ``folder`` is the directory that file names in it start from."""

    folder: str
    known: Known

    @classmethod
    def of(cls, diagnostics: Iterable[Diagnostic], path: str) -> Baseline:
        """The baseline that knows ``diagnostics``, to be written to ``path``."""
        folder = os.path.dirname(os.path.abspath(path))
        return cls(folder, Counter(_key(diagnostic, folder) for diagnostic in diagnostics))

    @classmethod
    def read(cls, path: str) -> Baseline:
        """The baseline in the file at ``path``; raises `BaselineError`."""
        import json

        try:
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
        except OSError as error:
            raise BaselineError(f"{path}: error: cannot read the baseline: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise BaselineError(f"{path}: error: not a baseline: {error}") from None
        return cls(os.path.dirname(os.path.abspath(path)), _known(content, path))

    def write(self, path: str) -> None:
        """Writes the baseline to the file at ``path``; raises `BaselineError` where that is impossible."""
        import json

        from torchlint.text.replacement import FileChangedError, write_file

        files: dict[str, dict[str, dict[str, int]]] = {}
        for (file, code, line), count in sorted(self.known.items()):
            files.setdefault(file, {}).setdefault(code, {})[line] = count
        text = json.dumps({"version": _VERSION, "findings": files}, indent=1, ensure_ascii=False) + "\n"
        try:
            write_file(path, text.encode("utf-8", "surrogateescape"))
        except FileChangedError:
            raise BaselineError(f"{path}: error: cannot write the baseline: it was changed meanwhile") from None
        except OSError as error:
            raise BaselineError(f"{path}: error: cannot write the baseline: {error.strerror or error}") from None

    def new(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Those of a file's findings that are not known; of more findings on like lines than are known, the last ones."""
        left = dict(self.known)
        found = []
        for diagnostic in diagnostics:
            key = _key(diagnostic, self.folder)
            if left.get(key, 0) > 0:
                left[key] -= 1
            else:
                found.append(diagnostic)
        return found


def _key(diagnostic: Diagnostic, folder: str) -> tuple[str, str, str]:
    file = os.path.relpath(os.path.abspath(diagnostic.filename), folder).replace(os.sep, "/")
    return file, diagnostic.code, diagnostic.snippet.strip()


def _known(content: object, path: str) -> Known:
    match content:
        case {"version": version} if version != _VERSION:
            raise BaselineError(f"{path}: error: a baseline of version {version!r}, which this torchlint does not know")
        case {"version": _, "findings": dict(files)}:
            try:
                return {
                    (str(file), str(code), str(line)): int(count)
                    for file, codes in files.items()
                    for code, lines in codes.items()
                    for line, count in lines.items()
                }
            except (AttributeError, OverflowError, TypeError, ValueError):
                pass
    raise BaselineError(f"{path}: error: not a baseline of torchlint")
