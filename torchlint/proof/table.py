"""What came of hazard programs, side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from torchlint.proof.hazards import Proof

_HEADINGS = ("rule", "device", "before", "after", "verdict")
_GAP = "  "


def table(proofs: Sequence[Proof], width: int) -> str:
    """The proofs as a table that is about ``width`` characters wide, and what went wrong below it."""
    rows = [_HEADINGS, *((f"{p.code} {p.name}", p.device, _seen(p.before), _seen(p.after), p.verdict) for p in proofs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    room = width - widths[0] - widths[1] - widths[4] - len(_GAP) * 4
    widths[2] = min(widths[2], max(room // 2, 24))
    widths[3] = min(widths[3], max(room - widths[2], 24))
    lines = [line for row in rows for line in _row(row, widths)]
    lines.insert(1, _GAP.join("-" * column for column in widths))
    errors = [f"{proof.code} on {proof.device}: {proof.error}" for proof in proofs if proof.error]
    return "\n".join(lines + [""] * bool(errors) + errors)


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    wrapped = [textwrap.wrap(cell, width) for cell, width in zip(cells, widths)]
    for line in zip_longest(*wrapped, fillvalue=""):
        yield _GAP.join(part.ljust(width) for part, width in zip(line, widths)).rstrip()


def _seen(seen: Mapping[str, Any] | None) -> str:
    if seen is None:
        return "-"
    return ", ".join(f"{key}={_value(value)}" for key, value in seen.items())


def _value(value: object) -> str:
    """A short form: numbers without trailing zeros, of a message its first clause."""
    match value:
        case float():
            return f"{value:g}"
        case list() | tuple():
            return f"[{', '.join(_value(item) for item in value)}]"
        case str():
            return textwrap.shorten(value.partition(": ")[0].partition(". ")[0], 100, placeholder="…")
        case _:
            return str(value)
