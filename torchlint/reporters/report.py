"""What a reporter is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torchlint.diagnostic import Applicability, Diagnostic, FileError


@dataclass(frozen=True, slots=True)
class Report:
    """What a run has to say: the findings left, the files that could not be linted, and how many findings it fixed.

    ``applicability`` is that of the fixes that ``--fix`` applies in a run with the same options; ``fixed_in`` has, for each
    file in which something was fixed, the codes of it. A ``quiet`` report ends without a summary.
    """

    diagnostics: Sequence[Diagnostic]
    errors: Sequence[FileError] = ()
    fixed: int = 0
    applicability: Applicability = Applicability.SAFE
    fixed_in: Mapping[str, Sequence[str]] = field(default_factory=dict)
    quiet: bool = False

    def fixes(self, diagnostic: Diagnostic) -> bool:
        """Whether ``--fix`` would fix this finding."""
        fix = diagnostic.fix
        return fix is not None and (fix.applicability is Applicability.SAFE or self.applicability is Applicability.UNSAFE)


@dataclass(frozen=True, slots=True)
class Style:
    """Marks up text for a terminal, or leaves it as it is."""

    colour: bool = False

    def bold(self, text: str) -> str:
        return self._sgr("1", text)

    def code(self, text: str) -> str:
        """A rule's code, or the line under what a finding is about."""
        return self._sgr("1;31", text)

    def mark(self, text: str) -> str:
        """The parts that are about place or fixing."""
        return self._sgr("36", text)

    def gutter(self, text: str) -> str:
        return self._sgr("1;34", text)

    def _sgr(self, parameters: str, text: str) -> str:
        return f"\x1b[{parameters}m{text}\x1b[0m" if self.colour else text
