"""What running a program came to, and when two runs came to the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"-?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|\binf\b)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program printed, and the exception that ended it, if any, as ``Type: message``."""

    printed: str
    error: str | None

    @property
    def text(self) -> str:
        """Both in one text."""
        return f"{self.printed}{self.error or ''}"

    def same(self, other: Outcome) -> bool:
        """Whether two runs agree, but for the last digits of numbers."""
        if (self.error is None) != (other.error is None):
            return False
        return _agree(self.printed, other.printed) and _agree(self.error or "", other.error or "")


def _agree(one: str, other: str) -> bool:
    """Whether two texts are the same but for the last digits of floating-point numbers."""
    if one == other:
        return True
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    pairs = zip(*([float(number) for number in _NUMBER.findall(text)] for text in (one, other)), strict=True)
    return all(first == second or abs(first - second) <= 1e-4 * max(1.0, abs(first)) for first, second in pairs)
