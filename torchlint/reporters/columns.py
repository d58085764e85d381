"""How a terminal shows text: how many columns it takes, and what stands in for characters that it would act upon."""

from __future__ import annotations

import re

from torchlint.diagnostic import printable

_TAB = 4
_CONTROL_PICTURES = 0x2400


def shown(text: str, column: int = 0) -> str:
    """``text`` with tabs as blanks, as it stands from ``column`` on, and with visible stand-ins for control characters.

    Others that are `printable` only as escapes are escaped.
    """
    if text.isprintable():
        return text
    pieces: list[str] = []
    for character in text:
        if character == "\t":
            character = " " * (_TAB - column % _TAB)
        elif ord(character) < 0x20:
            character = chr(_CONTROL_PICTURES + ord(character))
        else:
            character = printable(character)
        pieces.append(character)
        column += columns(character)
    return "".join(pieces)


def diff_lines(text: str) -> list[str]:
    """The lines of unified diffs as a terminal shows them."""
    return [shown(line) for line in re.split(r"\r\n|\r|\n", text)[:-1]]


def columns(text: str) -> int:
    """How many columns a terminal gives to ``text``."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(character) in ("Mn", "Me", "Cf") else 2 if east_asian_width(character) in ("W", "F") else 1
        for character in text
    )
