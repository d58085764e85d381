"""New text for a string in JSON, or a list of strings that make one text; what it shares with the old stays byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise, takewhile

_CHARACTER = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class _Change:
    """What stands from ``start`` to ``end`` in the old text becomes ``content``."""

    start: int
    end: int
    content: str


def respelled(raw: str, spans: Sequence[tuple[int, int]], new: str) -> str:
    """``raw`` with ``new`` for the text that its strings make together.

    ``raw`` is JSON: a string, or a list of strings. ``spans`` are where its strings stand, quotes included. In a list, what is
    added starts a string with each of its lines, laid out like those that are there.
    """
    is_list = not raw.startswith('"')
    if not spans:
        lines = [json.dumps(line) for line in _LINE.findall(new)]
        return f"[{', '.join(lines)}]"
    places = [match.start() for start, end in spans for match in _CHARACTER.finditer(raw, start + 1, end - 1)]
    places.append(spans[-1][1] - 1)
    between = raw[spans[0][1] : spans[1][0]] if len(spans) > 1 else "," + raw[1 : spans[0][0]] if is_list else ""
    old = "".join(json.loads(raw[start:end]) for start, end in spans)
    parts: list[str] = []
    position = 0
    for change in _changes(old, new):
        start, end = places[change.start], places[change.end]
        if change.end == len(old) and not change.content:
            start = _end_before(start, spans)
        parts += [raw[position:start], _spelled(change, old, f'"{between}"' if is_list else "", ascii_only=raw.isascii())]
        position = end
    return "".join([*parts, raw[position:]])


def _spelled(change: _Change, old: str, between: str, *, ascii_only: bool) -> str:
    """The content of a change as it stands in JSON; ``between`` parts one line's string from the next."""
    lines = [json.dumps(line, ensure_ascii=ascii_only)[1:-1] for line in _LINE.findall(change.content)]
    follows_line = change.start == len(old) and old.endswith("\n")
    precedes_line = change.end < len(old) and change.content.endswith("\n")
    return between.join([*[""] * follows_line, *lines, *[""] * precedes_line])


def _end_before(place: int, spans: Sequence[tuple[int, int]]) -> int:
    """Where the string before ends, if ``place`` is where one starts: no empty one is left."""
    for (_, end), (start, _) in pairwise(spans):
        if place == start + 1:
            return end - 1
    return place


def _changes(old: str, new: str) -> Iterator[_Change]:
    """What makes ``new`` of ``old``, in order: whole lines that are added or deleted, and the parts of lines that differ."""
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    place = 0
    counted = 0
    for kind, first, last, new_first, new_last in SequenceMatcher(None, old_lines, new_lines).get_opcodes():
        place += sum(map(len, old_lines[counted:first]))
        counted = first
        if kind == "replace" and last - first == new_last - new_first:
            for one, other in zip(old_lines[first:last], new_lines[new_first:new_last]):
                yield _within(place, one, other)
                place += len(one)
            counted = last
        elif kind != "equal":
            yield _within(place, "".join(old_lines[first:last]), "".join(new_lines[new_first:new_last]))


def _within(place: int, old: str, new: str) -> _Change:
    """The change from ``old``, which stands at ``place``, to ``new``, less what both start and end with."""
    if not old or not new:
        return _Change(place, place + len(old), new)
    before = _shared(old, new)
    after = min(_shared(old[::-1], new[::-1]), len(old) - before, len(new) - before)
    return _Change(place + before, place + len(old) - after, new[before : len(new) - after])


def _shared(one: str, other: str) -> int:
    """How many characters two texts start with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other)))
