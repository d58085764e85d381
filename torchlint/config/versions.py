"""Which torchlint a configuration asks for."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TypeAlias

_SPECIFIER = re.compile(
    r"(?P<sign>===|==|!=|>=|<=|~=|<|>|)\s*"
    r"(?P<version>\d{1,9}(?:\.\d{1,9}){0,5}(?P<candidate>(?:a|b|rc)\d{1,9})?)(?P<rest>\.\*)?"
)
_Phase: TypeAlias = tuple[str, int]
_FINAL: _Phase = ("v", 0)
"""What comes behind all candidates, whose letters sort before it."""
_MOST = 6
"""The numbers that a version has at most."""
_Version: TypeAlias = tuple[tuple[int, ...], _Phase]
_SIGNS: dict[str, Callable[[_Version, _Version], bool]] = {
    "": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
}


def fits(version: str, required: str) -> bool:
    """Whether a ``version`` is one that ``required`` names: a version, or conditions as in ``>=0.1,<1``, of which all hold.

    Candidates come before the version that they are for, as installers have it, and are none that is older: 1.0rc1 is neither
    ``>=1.0`` nor ``<1.0``.
    Raises `ValueError` where that is something else.
    """
    return all([_fits(version, each.strip()) for each in required.split(",")])


def _fits(version: str, condition: str) -> bool:
    match = _SPECIFIER.fullmatch(condition)
    if match is None or match["sign"] == "===" or (match["rest"] and (match["sign"] not in ("==", "!=") or match["candidate"])):
        raise ValueError(f"not a version, or conditions for one such as `>=0.1,<1`: {condition!r}")
    running, wanted = _parsed(version), _parsed(match["version"])
    count = len(re.findall(r"[.]", match["version"])) + 1
    if match["rest"]:
        return (running[0][:count] == wanted[0][:count]) is (match["sign"] == "==")
    if match["sign"] == "~=":
        if count < 2:
            raise ValueError(f"`~=` needs a version of two numbers or more: {condition!r}")
        return running >= wanted and running[0][: count - 1] == wanted[0][: count - 1]
    if match["sign"] == "<" and not match["candidate"] and running[0] == wanted[0]:
        return False
    return _SIGNS[match["sign"]](running, wanted)


def _parsed(version: str) -> _Version:
    """The numbers of a version, as many as there may be, for `1` is `1.0`, and how far it is from being released."""
    match = re.match(r"([\d.]+)(?:(a|b|rc)(\d+))?", version)
    assert match is not None
    numbers = [int(each) for each in match[1].split(".")]
    return (*numbers, *[0] * (_MOST - len(numbers))), (match[2], int(match[3])) if match[2] else _FINAL
