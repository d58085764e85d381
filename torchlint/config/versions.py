"""Which torchlint a configuration asks for."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from itertools import zip_longest

_SPECIFIER = re.compile(r"(?P<sign>===|==|!=|>=|<=|~=|<|>|)\s*(?P<version>\d{1,9}(?:\.\d{1,9}){0,5})(?P<rest>\.\*)?")
_SIGNS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
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

    Raises `ValueError` where that is something else.
    """
    return all([_fits(version, each.strip()) for each in required.split(",")])


def _fits(version: str, condition: str) -> bool:
    match = _SPECIFIER.fullmatch(condition)
    if match is None or match["sign"] == "===" or (match["rest"] and match["sign"] not in ("==", "!=")):
        raise ValueError(f"not a version, or conditions for one such as `>=0.1,<1`: {condition!r}")
    running, wanted = _numbers(version), _numbers(match["version"])
    if match["rest"]:
        return (running[: len(wanted)] == wanted) is (match["sign"] == "==")
    if match["sign"] == "~=":
        if len(wanted) < 2:
            raise ValueError(f"`~=` needs a version of two numbers or more: {condition!r}")
        return _compared(operator.ge, running, wanted) and running[: len(wanted) - 1] == wanted[:-1]
    return _compared(_SIGNS[match["sign"]], running, wanted)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _compared(sign: Callable[[tuple[int, ...], tuple[int, ...]], bool], one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Compares versions of which one may have more numbers: `1` is `1.0`."""
    pairs = list(zip_longest(one, other, fillvalue=0))
    return sign(tuple(first for first, _ in pairs), tuple(second for _, second in pairs))
