"""What somebody found in scripts that were read before torchlint was run on them, held against what a first run reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from first_findings import FirstFinding
from judgement import Finding, matched
from labels import NOISE, USEFUL, CodeBase, LabelError, Occurrence, place_and_codes, read_table

_COLUMNS = ("repo", "path", "line", "code", "decidable", "worth", "default")
_VALUES = {"decidable": ("yes", "no"), "worth": (USEFUL, NOISE), "default": ("on", "opt")}


@dataclass(frozen=True, slots=True)
class Known:
    """A place of which a reader said that one of the rules is about it, and whether an author would change it.

    It is ``on`` where the rule runs by default. It is ``found`` where the default rules report it, ``found_with_all`` where
    the rules do if all are asked for.
    """

    occurrence: Occurrence
    is_useful: bool
    is_on: bool
    found: bool = False
    found_with_all: bool = False

    @property
    def script(self) -> tuple[str, str]:
        """The repository and the path."""
        return self.occurrence.code_base.package, self.occurrence.file


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of the decidable ones there are and are found; the others are counted apart."""

    known: int
    found: int
    found_with_all: int
    undecidable: int

    @classmethod
    def of(cls, known: Iterable[Known]) -> Recall:
        """The places, counted."""
        each = list(known)
        decidable = [one for one in each if one.occurrence.decidable]
        found, with_all = sum(one.found for one in decidable), sum(one.found_with_all for one in decidable)
        return cls(len(decidable), found, with_all, len(each) - len(decidable))

    @property
    def share(self) -> float | None:
        """The share that the default rules find; None where there is nothing."""
        return self.found / self.known if self.known else None

    @property
    def share_with_all(self) -> float | None:
        """The share that all rules find; None where there is nothing."""
        return self.found_with_all / self.known if self.known else None


def read_known(path: Path, findings: Sequence[FirstFinding]) -> list[Known]:
    """The places in a tab-separated file, held against the findings; raises `LabelError`."""
    rows = []
    for where, row in read_table(path, _COLUMNS):
        for name, values in _VALUES.items():
            if row[name] not in values:
                raise LabelError(f"{where}: {name} is one of {', '.join(values)}, not {row[name]!r}")
        place, codes = place_and_codes(where, {**row, "place": row["line"]})
        occurrence = Occurrence(CodeBase(row["repo"], ""), row["path"], place, codes, row["decidable"] == "yes")
        rows.append((occurrence, row["worth"] == USEFUL, row["default"] == "on"))
    occurrences = [occurrence for occurrence, _, _ in rows]
    found = matched(_places(findings, lambda each: each.strict == "no"), occurrences)
    with_all = matched(_places(findings, lambda each: True), occurrences)
    return [Known(*row, *flags) for row, flags in zip(rows, zip(found, with_all, strict=True), strict=True)]


def _places(findings: Iterable[FirstFinding], wanted: Callable[[FirstFinding], bool]) -> list[Finding]:
    return [
        Finding(CodeBase(each.repo, ""), each.path, each.line, each.column, each.code)
        for each in findings
        if not each.cell and wanted(each)
    ]
