"""What a reporter is given, and what it makes of that for people: text whose parts say what they are.

It is written as it is into pipes and files, and in colours on a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from torchlint.diagnostic import Applicability, Diagnostic, FileError, applies

if TYPE_CHECKING:
    from torchlint.rules.catalogue import Entry

Role: TypeAlias = Literal["", "name", "error", "warning", "mark", "gutter", "added", "removed"]


@dataclass(frozen=True, slots=True)
class Report:
    """What a run has to say: the findings left, and the files that could not be linted.

    ``applicability`` is that of the fixes that ``--fix`` applies in a run with the same options; ``fixed_in`` has, for each
    file in which something was fixed, the findings that were. A ``quiet`` report ends without a summary, and one that is
    ``fix_only`` says in it what was fixed alone. ``rules`` has the rules that the findings are of, by their codes; others are
    torchlint's own.
    """

    diagnostics: Sequence[Diagnostic]
    errors: Sequence[FileError] = ()
    applicability: Applicability = Applicability.SAFE
    fixed_in: Mapping[str, Sequence[Diagnostic]] = field(default_factory=dict)
    quiet: bool = False
    fix_only: bool = False
    rules: Mapping[str, Entry] = field(default_factory=dict)

    def rule(self, code: str) -> Entry:
        """The rule with a code that findings have."""
        from torchlint.rules.selection import find_rule

        return self.rules.get(code) or find_rule(code)

    @property
    def fixed(self) -> list[Diagnostic]:
        """The findings that were fixed."""
        return [each for found in self.fixed_in.values() for each in found]

    def fixes(self, diagnostic: Diagnostic) -> bool:
        """Whether ``--fix`` would fix this finding."""
        fix = diagnostic.fix
        return fix is not None and applies(fix, self.applicability)


class Part(NamedTuple):
    """Some text, what it is, and the address that it leads to."""

    text: str
    role: Role = ""
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """One or several lines, each with its newline; ``folds`` says that they may be broken between words."""

    parts: tuple[Part, ...]
    folds: bool = False

    def __str__(self) -> str:
        return "".join(part.text for part in self.parts)


def plain(text: str) -> Marked:
    """``text`` without anything marked in it."""
    return Marked((Part(text),), folds=True)
