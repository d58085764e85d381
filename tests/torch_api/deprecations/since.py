"""Since when torch warns of what was seen: its own words, looked for in the files of its releases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from history import Release, speaks


class Seen(Protocol):
    """What was seen of a callable, or of a parameter of it."""

    @property
    def name(self) -> str: ...

    @property
    def parameter(self) -> str: ...

    @property
    def message(self) -> str: ...


def first_with(seen: Sequence[Seen], releases: Sequence[Release], folder: Path, cache: Path) -> dict[tuple[str, str], str]:
    """The first release that says it, for each; the last one where the words are put together when it is run."""
    newest = releases[-1]
    texts = sorted({text for each in seen for text in _texts(each)})
    paths = {each.version: next(folder.glob(f"torch-{each.version}-*.whl")) for each in releases}
    said = {each.version: speaks(paths[each.version], texts, cache) for each in releases}
    found: dict[tuple[str, str], str] = {}
    for each in seen:
        text = next((text for text in _texts(each) if text in said[newest.version]), None)
        with_it = [one.version for one in releases if text in said[one.version] and _takes(one, each)]
        found[each.name, each.parameter] = with_it[0] if with_it else newest.version
    return found


def _texts(each: Seen) -> list[str]:
    """The message as it begins, and its parts, the longest first: its sentences without names, and without what is quoted."""
    name = re.escape(each.name.rpartition(".")[2])
    parts = re.split(rf"[\w.:]*\b{name}\b|[`'\"].*?[`'\"]|\n|(?<=[.:]) ", each.message)
    long = sorted((part[:60] for part in parts if len(part) >= _TELLING), key=len, reverse=True)
    shorter = [*(part[:_SHORT] for part in long), each.message[:_SHORT].partition("\n")[0]]
    return [each.message[:60].partition("\n")[0], *long, *shorter]


_TELLING = 28
"""Shorter parts may be those of other messages."""
_SHORT = 44
"""Of a longer one the rest may stand on the next line of the source."""


def _takes(release: Release, each: Seen) -> bool:
    taken = release.parameters.get(each.name)
    return not each.parameter or taken is None or each.parameter in taken or "**" in taken
