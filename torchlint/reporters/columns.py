"""How a terminal shows text: how many columns it takes, and what stands in for characters that it would act upon."""

from __future__ import annotations

_TAB = 4
_CONTROL_PICTURES = 0x2400


def shown(text: str, column: int = 0) -> str:
    """``text`` with tabs as blanks, as it stands from ``column`` on, and with visible stand-ins for control characters."""
    if text.isprintable():
        return text
    pieces: list[str] = []
    for character in text:
        if character == "\t":
            character = " " * (_TAB - column % _TAB)
        elif ord(character) < 0x20:
            character = chr(_CONTROL_PICTURES + ord(character))
        elif not character.isprintable() and columns(character):
            character = "\N{REPLACEMENT CHARACTER}"
        pieces.append(character)
        column += columns(character)
    return "".join(pieces)


def columns(text: str) -> int:
    """How many columns a terminal gives to ``text``."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(character) in ("Mn", "Me", "Cf") else 2 if east_asian_width(character) in ("W", "F") else 1
        for character in text
    )
