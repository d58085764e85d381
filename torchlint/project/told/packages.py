"""Which files of a project may be installed for code that nobody here sees: what may be packaged is public."""

from __future__ import annotations

import os
import re

from torchlint.project import roots
from torchlint.text.reading import read_file

_LARGEST = 1_000_000
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")
_BUILDING = {
    "pyproject.toml": re.compile(
        rb"(?m)^[ \t]*\[+[ \t\"']*(?:project|build-system|tool[. \t\"']+"
        rb"(?:poetry|flit|setuptools|hatch|pdm|maturin|scikit-build|setuptools_scm))\b"
    ),
    "setup.cfg": re.compile(rb"(?m)^\[(?:metadata|options)\b"),
    "setup.py": re.compile(rb""),
}
_IN_SOURCES = re.compile(rb"[\"'=:/. ]src\b")
_APART = frozenset(
    {"tests", "test", "scripts", "script", "examples", "example", "tools", "benchmarks", "benchmark", "notebooks", "docs"}
)
"""Folders that are not packaged where the packages are in ``src``."""
_CALLED_BY_OTHERS = frozenset({"hubconf.py", "conftest.py", "setup.py"})
"""Files whose functions are called by programs that find them by the name of the file."""


def opened_by(file: str, root: str, *, is_given: bool) -> str:
    """Why code outside of the project below ``root`` may use ``file``; empty if there is no reason.

    Where the root is not ``given`` by the user, something has to say that the project is all that there is: git, or that no
    folder above is marked as a project's.
    """
    if not is_given and not _is_bounded(root):
        return "nothing shows where the project ends"
    if os.path.basename(file) in _CALLED_BY_OTHERS:
        return f"other programs call what is in `{os.path.basename(file)}`"
    folder = os.path.dirname(file)
    while folder == root or folder.startswith(os.path.join(root, "")):
        for mark in _MARKS:
            path = os.path.join(folder, mark)
            if os.path.lexists(path) and _may_install(path, os.path.relpath(file, folder)):
                return f"`{os.path.relpath(path, root).replace(os.sep, '/')}` may install it for others"
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    return ""


def _is_bounded(root: str) -> bool:
    if os.path.isdir(os.path.join(root, ".git")):
        return True
    if not roots.is_marked(root):
        return False
    folder = os.path.dirname(root)
    while not roots.is_marked(folder):
        if folder == os.path.dirname(folder):
            return True
        folder = os.path.dirname(folder)
    return False


def _may_install(mark: str, below: str) -> bool:
    """Whether what packages a folder may install the file at a path ``below`` that folder."""
    try:
        text = read_file(mark, _LARGEST)
    except (OSError, ValueError):
        return True
    name = os.path.basename(mark)
    if not _BUILDING[name].search(text):
        return False
    first, *rest = below.split(os.sep)
    if not os.path.isdir(os.path.join(os.path.dirname(mark), "src")) or first == "src":
        return True
    word = (first if rest else os.path.splitext(first)[0]).encode("utf-8", "surrogatepass")
    named = re.search(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", text) or (name == "setup.py" and not _IN_SOURCES.search(text))
    return bool(named) or (bool(rest) and first not in _APART)
