"""The patterns of ``einsum`` and einops: what their parsers refuse of any tensors (run: torch 2.13, einops 0.8.2)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_ARROW = re.compile(r"=>|-\s+>|-->|→|(?<![-=])>")
"""What is written for an arrow that is none."""
_WORD = re.compile(r"[A-Za-z]\w*")
_ELLIPSIS = "..."
_LONGEST = 3
"""Longer words beside others are names for one axis each, and no tensor has as many axes as they have letters."""
_LETTERS = "ijklmnopqrstuvwxyzabcdefgh"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a pattern is refused; ``unused`` is the length that it has no use for, where that is all."""

    reason: str
    unused: str = ""


# --- torch.einsum ----------------------------------------------------------------------------------------------------


def refused_by_torch(equation: str, operands: int | None) -> Refusal | None:
    """Why ``torch.einsum`` refuses an equation for so many operands; ``None`` where it does not, or they are not known."""
    if (mark := re.search(r"[^A-Za-z ,.>-]|-(?!>)|(?<!-)>", equation)) is not None:
        return Refusal(f"`{mark[0]}` is neither a letter nor part of `->`")
    given, arrow, output = equation.partition("->")
    terms = given.split(",")
    if "->" in output:
        return Refusal("it has more than one `->`")
    for term in (*terms, output):
        dots = term.replace(_ELLIPSIS, "", 1)
        if "." in dots:
            return Refusal(
                f"`{term.strip()}` has dots beside its ellipsis" if _ELLIPSIS in term else "an ellipsis is three dots"
            )
        words = term.split()
        if len(words) > 1 and (long := next((word for word in words if len(word) > _LONGEST), None)):
            return Refusal(f"each letter is an axis, so that `{long}` is {len(long)}")
    if operands is not None and len(terms) != operands:
        return Refusal(f"it has {_count(len(terms), 'term')} for {_count(operands, 'operand')}")
    if not arrow:
        return None
    known = set("".join(terms))
    for letter, times in Counter(output.replace(" ", "").replace(".", "")).items():
        if letter not in known:
            return Refusal(f"`{letter}` is in the output and in no operand")
        if times > 1:
            return Refusal(f"`{letter}` is in the output twice")
    return None


def subscripts(equation: str) -> list[int | None]:
    """How many dimensions each operand of ``torch.einsum`` has to have; ``None`` for one with an ellipsis."""
    terms = equation.partition("->")[0].split(",")
    return [None if "." in term else len(term.replace(" ", "")) for term in terms]


def with_letters(equation: str) -> str | None:
    """The equation for ``torch.einsum`` that was meant by one in words, or with another arrow; ``None`` if there is none."""
    sides = [side.strip() for side in _ARROW.split(equation)]
    meant = " -> ".join(sides) if len(sides) > 1 else equation
    given, arrow, output = meant.partition("->")
    parts = [part.split() for part in (*given.split(","), *([output] if arrow else []))]
    words = [word for part in parts for word in part if word != _ELLIPSIS]
    if not all(_WORD.fullmatch(word) for word in words):
        return None
    if not any(len(part) > 1 and any(len(word) > 1 for word in part) for part in parts):
        return meant if meant != equation else None
    letters = _letters(words)
    if letters is None:
        return None
    shown = ["".join(word if word == _ELLIPSIS else letters[word] for word in part) for part in parts]
    return ", ".join(shown[: len(shown) - bool(arrow)]) + (f" -> {shown[-1]}" if arrow else "")


def _letters(words: list[str]) -> dict[str, str] | None:
    """A letter for each word: its own first one where that is free."""
    found = {word: word for word in words if len(word) == 1}
    for word in words:
        if word not in found:
            free = [letter for letter in (word[0], *_LETTERS) if letter not in found.values()]
            if not free or not free[0].isalpha():
                return None
            found[word] = free[0]
    return found


# --- einops ----------------------------------------------------------------------------------------------------------


def refused_by_einops(function: str, pattern: str, lengths: frozenset[str] | None) -> Refusal | None:
    """Why ``rearrange``, ``reduce`` or ``repeat`` refuses a pattern; ``lengths`` are the axes that a length is given for.

    These are ``None`` where they are not known. Without a reason the result is ``None``.
    """
    sides = pattern.split("->")
    if len(sides) != 2:
        return Refusal("it has no `->`" if len(sides) == 1 else "it has more than one `->`")
    left, right = (re.findall(r"\.\.\.|[()]|[^\s()]+", side) for side in sides)
    for side in (left, right):
        if (reason := _malformed(side)) is not None:
            return Refusal(reason)
    return (
        _unmatched(function, left, right)
        or (_unsized(function, left, right, lengths) if lengths is not None else None)
        or _unused(left, right, lengths or frozenset())
    )


def axes(pattern: str) -> int | None:
    """How many dimensions a pattern of einops wants; ``None`` where it has an ellipsis."""
    left = pattern.partition("->")[0]
    return None if _ELLIPSIS in left else len(re.findall(r"\([^()]*\)|[^\s()]+", left))


def _malformed(side: list[str]) -> str | None:
    depth = 0
    for token in side:
        depth += (token == "(") - (token == ")")
        if depth > 1:
            return "parentheses stand in parentheses"
        if depth < 0:
            return "a parenthesis is not opened"
        if token in ("(", ")", _ELLIPSIS) or token.isdigit():
            continue
        if not token.isidentifier() or token.startswith("_") or token.endswith("_"):
            return f"`{token}` is no name of an axis"
    if depth:
        return "a parenthesis is not closed"
    twice = [token for token, times in Counter(_names(side)).items() if times > 1]
    return f"`{twice[0]}` is there twice on one side" if twice else None


def _unmatched(function: str, left: list[str], right: list[str]) -> Refusal | None:
    """What is on one side only and has to be on both."""
    here, there = _names(left), _names(right)
    if _ELLIPSIS in there and _ELLIPSIS not in here:
        return Refusal("the ellipsis is on the right side only")
    if function != "repeat" and (new := [name for name in there if name not in here]):
        return Refusal(f"`{new[0]}` is on the right side only")
    if function != "reduce" and (gone := [name for name in here if name not in there]):
        return Refusal(f"`{gone[0]}` is on the left side only")
    nameless = {"rearrange": [*left, *right], "reduce": right, "repeat": left}[function]
    if numbers := [token for token in nameless if token.isdigit() and token != "1"]:
        return Refusal(f"the axis of size {numbers[0]} has no name")
    return None


def _unsized(function: str, left: list[str], right: list[str], lengths: frozenset[str]) -> Refusal | None:
    """The axes whose lengths nothing tells."""
    inner: list[str] | None = None
    for token in left:
        if token == "(":
            inner = []
        elif token == ")":
            open_ones = [name for name in inner or [] if name not in lengths and not name.isdigit()]
            if _ELLIPSIS in open_ones:
                return Refusal("an ellipsis stands in parentheses on the left side")
            if len(open_ones) > 1:
                return Refusal(f"nothing tells the length of `{open_ones[0]}` or `{open_ones[1]}`")
            inner = None
        elif inner is not None:
            inner.append(token)
    new = [name for name in _names(right) if name not in _names(left) and name not in lengths] if function == "repeat" else []
    return Refusal(f"nothing tells the length of `{new[0]}`") if new else None


def _unused(left: list[str], right: list[str], lengths: frozenset[str]) -> Refusal | None:
    unused = sorted(lengths - {*left, *right})
    return Refusal(f"a length is given for `{unused[0]}`, which is not in it", unused[0]) if unused else None


def _names(side: list[str]) -> list[str]:
    """The axes of one side that have a name, and the ellipsis."""
    return [token for token in side if token not in ("(", ")") and not token.isdigit()]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
