"""The oldest torch that the linted code has to run on."""

from __future__ import annotations

import re
from typing import NamedTuple


class TorchVersion(NamedTuple):
    """A release of torch, as far as rules ask for it."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @classmethod
    def parse(cls, text: str) -> TorchVersion:
        """The version that a text such as ``1.13`` or ``2.0.1`` names; raises `ValueError` where it names none."""
        match = re.fullmatch(r"\s*(\d{1,3})\.(\d{1,3})(?:\.\d+)*\s*", text)
        if match is None:
            raise ValueError(f"not a version of torch: {text!r} (expected one such as 1.13 or 2.0)")
        return cls(int(match[1]), int(match[2]))


NEWEST = TorchVersion(2, 13)
"""What the rules were checked on."""
MODULES_HAVE_REQUIRES_GRAD_ = TorchVersion(1, 3)
"""The first torch whose modules have `requires_grad_`."""
OLDEST = TorchVersion(0, 2)
"""What rules that say nothing else are for as well."""
