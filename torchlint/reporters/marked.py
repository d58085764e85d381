"""Text whose parts say what they are: written as it is into pipes and files, and in colours on a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Role: TypeAlias = Literal["", "name", "code", "mark", "gutter", "error", "added", "removed"]


class Part(NamedTuple):
    """Some text, what it is, and the address that it leads to."""

    text: str
    role: Role = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """One or several lines, each with its newline; ``folds`` says that they may be broken between words."""

    parts: tuple[Part, ...]
    folds: bool = False

    def __str__(self) -> str:
        return "".join(part.text for part in self.parts)


def plain(text: str) -> Marked:
    """``text`` without anything marked in it."""
    return Marked((Part(text),), folds=True)
