"""The Python in a file of a project: a script's text as it is, and of a notebook the code of its cells."""

from __future__ import annotations

import ast
import warnings

from torchlint.text.reading import NOTEBOOK

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What code raises that is no Python, or nests too deeply to be looked through."""


def parsed(text: bytes) -> ast.Module:
    """The tree of a file's code, of which no warning is given; raises one of what is unreadable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def is_program(name: str) -> bool:
    """Whether a file of that name holds Python that runs: a stub does not."""
    return name.endswith((".py", NOTEBOOK))


def program_of(path: str, data: bytes) -> bytes:
    """The Python in the file at ``path``, which holds ``data``; of a notebook's magics, stand-ins. Nothing where it is none."""
    if not path.endswith(NOTEBOOK):
        return data
    from torchlint.text.notebook import NotebookSource
    from torchlint.text.source import SourceError

    try:
        return NotebookSource.decode(data, path).text.encode("utf-8", "surrogatepass")
    except SourceError:
        return b""


def code_of(path: str, data: bytes) -> bytes:
    """The code in the file at ``path`` as it is written, in which words are looked for: of a notebook, that of its cells."""
    if not path.endswith(NOTEBOOK):
        return data
    from torchlint.text.notebook import Notebook, NotebookError

    try:
        cells = Notebook.read(data.decode("utf-8-sig")).cells
    except (NotebookError, UnicodeDecodeError):
        return b""
    return "\n".join(cell.code for cell in cells).encode("utf-8", "surrogatepass")
