"""``# noqa`` comments: which findings they silence."""

from __future__ import annotations

from collections.abc import Iterable

from torchlint.diagnostic import Diagnostic
from torchlint.source import Source


def suppressed(diagnostics: Iterable[Diagnostic], source: Source) -> list[Diagnostic]:
    """``diagnostics`` less those that a noqa comment silences."""
    raise NotImplementedError
