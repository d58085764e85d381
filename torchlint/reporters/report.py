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
