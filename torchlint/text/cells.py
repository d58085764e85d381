"""Cells of notebooks, and of scripts that are made of cells: what a cell ends with is shown."""

from __future__ import annotations

import re

_START = r"(?:# ?(?:%%|In ?\[|torchlint: cell \d)|if True:  # torchlint: cell \d)"
_CELLS = re.compile(rf"^{_START}", re.MULTILINE)
_END = re.compile(rf"(?:[ \t]*(?!{_START})(?:#[^\r\n]*)?(?:\r\n|\r(?!\n)|\n))*[ \t]*(?:{_START}|#[^\r\n]*\Z|\Z)")
"""Nothing but comments, up to the next cell."""


def has_cells(text: str) -> bool:
    """Whether a text is divided into cells."""
    return _CELLS.search(text) is not None


def ends_cell(text: str, place: int) -> bool:
    """Whether no code follows behind an offset in the cell around it."""
    return _END.match(text, place) is not None
