"""How much is tried: a sample of what costs most, which every change has the time for, or all there is."""

from __future__ import annotations

from hypothesis import settings


def is_thorough() -> bool:
    """Whether all is tried: ``--hypothesis-profile=thorough``."""
    return settings.default is not None and settings.default.max_examples > 100
