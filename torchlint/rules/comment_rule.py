"""Rules about comments: they look at no node, and run when all other rules have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias

from torchlint.diagnostic import Applicability, Diagnostic, Edit, Fix
from torchlint.rules.catalogue import Entry
from torchlint.rules.declaration import Declaration
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

TextEdit: TypeAlias = tuple[int, int, str]
"""The offsets of where what goes starts and ends, and what comes in its place."""


class CommentRule(Declaration, ABC):
    """One rule about comments, made once per file; documented and declared as a `torchlint.rules.Rule` is."""

    def __init__(self, source: Source, suppressions: Suppressions, known: Sequence[Entry]) -> None:
        self.source = source
        self.suppressions = suppressions
        self.known = known
        """The rules that there are, selected or not."""
        self.diagnostics: list[Diagnostic] = []

    @abstractmethod
    def review(self, findings_of: Callable[[Sequence[Entry]], list[Diagnostic]]) -> None:
        """Looks at the comments; ``findings_of`` gives what some rules find in the file, suppressed or not."""

    def report(self, start_offset: int, end_offset: int, message: str, fix: Fix | None = None) -> None:
        """Adds a finding that is about a span of the text."""
        start = self.source.location(start_offset)
        self.diagnostics.append(
            Diagnostic(
                code=self.code,
                name=self.name,
                message=message,
                filename=self.source.filename,
                location=start,
                end_location=self.source.location(end_offset),
                fix=fix,
                snippet=self.source.line(start.row),
                severity=self.severity,
            )
        )

    def fix(self, title: str, edits: Sequence[TextEdit]) -> Fix:
        """A safe fix: comments change nothing."""
        located = (Edit(self.source.location(start), self.source.location(end), new) for start, end, new in sorted(edits))
        return Fix(title, tuple(located), Applicability.SAFE)
