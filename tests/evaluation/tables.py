"""Tables and shares as they are shown."""

from __future__ import annotations

from collections.abc import Sequence


def percentage(fraction: float | None) -> str:
    """A share in per cent with one decimal, never rounded up to 100; a dash where there is none."""
    if fraction is None:
        return "–"
    return f"{int(fraction * 1000) / 10:.1f} %" if fraction < 1 else "100 %"


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table, the first row being its head; all columns but the first are aligned to the right."""
    head, *body = rows
    rule = ["---", *("---:" for _ in head[1:])]
    return ["| " + " | ".join(row) + " |" for row in (head, rule, *body)]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table for the terminal."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
