"""What the folders of a project import of one another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_IMPORTING = re.compile(rb"(?m)^[ \t]{0,60}(?:from[ \t]+([\w.]{1,200})[ \t]+import|import[ \t]+([\w., \t]{1,400}))")


@dataclass(slots=True)
class Folder:
    """What the code in one folder imports: the ``first`` parts of the names, and all ``parts``; and its own ``modules``."""

    first: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)


def folders_of(codes: Iterable[tuple[str, bytes]]) -> dict[str, Folder]:
    """What the code in each folder imports, of files given as their paths and code."""
    found: dict[str, Folder] = {}
    for path, text in codes:
        folder = found.setdefault(os.path.dirname(path), Folder())
        folder.modules.add(os.path.splitext(os.path.basename(path))[0])
        for name in names_imported(text):
            folder.first.add(name[0])
            folder.parts.update(name)
    return found


def names_imported(text: bytes) -> Iterator[list[str]]:
    """The parts of the names of what code imports from."""
    for match in _IMPORTING.finditer(text):
        for name in (match[1] or match[2]).decode("ascii", "replace").split(","):
            parts = [part for part in name.split()[0].split(".") if part] if name.split() else []
            if parts:
                yield parts


def leans(folder: str, imported: dict[str, Folder]) -> bool:
    """Whether code in a folder imports a folder or file of the project that stands beside it, or above, or is imported by what
    does not stand within it. A name that the folder has itself is its own.
    """
    inside = folder + os.sep
    within = {each: said for each, said in imported.items() if each == folder or each.startswith(inside)}
    beside = {each: said for each, said in imported.items() if each not in within}
    if any(os.path.basename(folder) in said.parts for said in beside.values()):
        return True
    above = {each for each in beside if inside.startswith(each + os.sep)}
    own = {os.path.basename(each) for each in within}.union(*(said.modules for said in within.values()))
    others = {os.path.relpath(each, os.path.commonpath((each, folder))).partition(os.sep)[0] for each in beside}
    others.update(*(beside[each].modules for each in above))
    return any((others - own) & said.first for said in within.values())
