"""What the code means: names, kinds and flow. Knows no rule."""

from __future__ import annotations

from torchlint.source import Source


class Semantics:
    """The facts about one file, computed as far as asked for."""

    def __init__(self, source: Source) -> None:
        self.source = source
