"""The vocabulary of generated programs: text files of phrases, parts and expressions, code with holes in it.

A file of a topic has sections. ``== part Name`` is a class or function, which a program may have in either of its files, and
``Name(Base)`` one that needs another part beside it. ``== phrases`` are statements, parted by blank lines. In
``expressions.txt`` and ``endings.txt`` a line is ``kind: code``. Lines that start with ``##`` are comments. `writer.py` says
what the holes mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_suffix("")

_PART = re.compile(r"part (\w+)(?:\((\w+)\))?")


@dataclass(frozen=True, slots=True)
class Part:
    """A class or function: its name, that of the part it is derived from, if any, and its text."""

    name: str
    base: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Topic:
    """What there is to say about one thing: parts, and phrases to use these and other things."""

    parts: tuple[Part, ...]
    phrases: tuple[str, ...]


def _lines(name: str) -> list[str]:
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("##")]


def topic(name: str) -> Topic:
    """The topic of that name."""
    parts: list[Part] = []
    phrases: tuple[str, ...] = ()
    for section in re.split(r"^== ", "\n".join(_lines(name)), flags=re.MULTILINE)[1:]:
        title, text = section.split("\n", 1)
        if match := _PART.fullmatch(title):
            parts.append(Part(match[1], match[2], text.rstrip()))
        else:
            phrases = tuple(phrase for phrase in re.split(r"\n\n+", text.strip()) if phrase)
    return Topic(tuple(parts), phrases)


def alternatives(name: str) -> dict[str, tuple[str, ...]]:
    """The alternatives for each kind in a file of lines."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _lines(name):
        kind, _, text = line.partition(":")
        found[kind] = (*found.get(kind, ()), text.strip())
    return found


GENERAL = topic("training")
TOPICS = {name: topic(name) for name in ("changes", "reads", "sums", "variables", "evaluation", "hazards")}
EXPRESSIONS = alternatives("expressions")
ENDINGS = alternatives("endings")
