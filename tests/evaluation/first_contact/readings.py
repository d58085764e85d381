"""What readers said about the findings of a first run, and the files that keep it: facts only, and no code.

A first contact is kept in a folder: `contact.json` (which torchlint, how drawn), `repositories.tsv`, `findings.tsv` (all that
the default rules reported, and the labels of those that were drawn) and `occurrences.tsv` (what was known beforehand, and
whether it was found).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from first_findings import FirstFinding, Repositories, age_of, write_table
from known import Known
from labels import NOISE, USEFUL, CodeBase, Occurrence, Place, read_table

_REPOSITORIES = ("repo", "commit", "year", "files")
_FINDINGS = ("repo", "path", "cell", "line", "column", "code", "year", "drawn", "label", "second", "settled")
_OCCURRENCES = ("repo", "path", "line", "code", "decidable", "worth", "default", "found", "found_with_all")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was said about one finding; ``label`` is the one that counts, ``notes`` are the readers' own words."""

    finding: FirstFinding
    year: int | None
    first: str | None
    second: str | None
    settled: str | None
    notes: str

    @classmethod
    def of(
        cls,
        finding: FirstFinding,
        repositories: Repositories,
        first: tuple[str, str] | None,
        second: tuple[str, str] | None,
        settled: tuple[str, str] | None,
    ) -> Reading:
        """A reading from the answers, each a label and a note, of those who gave one."""
        notes = "; ".join(note for answer in (first, second, settled) if answer for note in answer[1:] if note)
        year = repositories.year(finding.repo, finding.path)
        one, two, three = (answer[0] if answer else None for answer in (first, second, settled))
        return cls(finding, year, one, two, three, notes)

    @property
    def age(self) -> str:
        """Whether the code is old."""
        return age_of(self.year)

    @property
    def label(self) -> str | None:
        """What counts: what a third reading settled, or else the first reader's label."""
        return self.settled or self.first

    @property
    def differs(self) -> bool:
        """Whether two readers gave different labels."""
        return self.second is not None and self.first is not None and self.first != self.second


@dataclass(frozen=True, slots=True)
class Contact:
    """One first contact: the number of files of each repository, the findings, what was drawn of them, and what was known."""

    name: str
    about: Mapping[str, Any]
    files: Mapping[str, int]
    findings: Sequence[FirstFinding]
    readings: Sequence[Reading]
    known: Sequence[Known]
    scripts: Sequence[tuple[str, str]]

    @property
    def read(self) -> list[Reading]:
        """The readings of findings that have a label."""
        return [each for each in self.readings if each.label is not None]


def write_contact(contact: Contact, repositories: Repositories, folder: Path) -> None:
    """Writes the facts of a first contact to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "contact.json").write_text(json.dumps(contact.about, indent=2) + "\n", encoding="utf-8")
    commits = repositories.commits
    rows = ((repo, commits[repo], repositories.year(repo, "") or "", files) for repo, files in contact.files.items())
    write_table(folder / "repositories.tsv", _REPOSITORIES, rows)
    readings = {each.finding.id: each for each in contact.readings}
    default = (each for each in contact.findings if each.strict == "no")
    write_table(folder / "findings.tsv", _FINDINGS, (_facts(each, readings.get(each.id), repositories) for each in default))
    write_table(folder / "occurrences.tsv", _OCCURRENCES, map(_known_facts, contact.known))


def _facts(finding: FirstFinding, reading: Reading | None, repositories: Repositories) -> list[object]:
    place = [finding.repo, finding.path, finding.cell, finding.line, finding.column, finding.code]
    year = repositories.year(finding.repo, finding.path) or ""
    if reading is None:
        return [*place, year, "no", "", "", ""]
    return [*place, year, "yes", reading.first or "", reading.second or "", reading.settled or ""]


def _known_facts(known: Known) -> list[object]:
    each = known.occurrence
    flags = [known.found, known.found_with_all]
    said = [_yes(each.decidable), USEFUL if known.is_useful else NOISE, "on" if known.is_on else "opt", *map(_yes, flags)]
    return [each.code_base.package, each.file, each.place, "|".join(each.codes), *said]


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def read_contact(folder: Path) -> Contact:
    """The first contact that a folder keeps; raises `LabelError` for a table that is none."""
    about = json.loads((folder / "contact.json").read_text(encoding="utf-8"))
    files = {row["repo"]: int(row["files"]) for _, row in read_table(folder / "repositories.tsv", _REPOSITORIES)}
    findings, readings = [], []
    for number, (_, row) in enumerate(read_table(folder / "findings.tsv", _FINDINGS), 1):
        place = (row["repo"], row["path"], row["cell"], int(row["line"]), int(row["column"]), row["code"])
        finding = FirstFinding(f"F{number:05}", *place, message="", fix="", applicability="", strict="no")
        findings.append(finding)
        if row["drawn"] == "yes":
            year = int(row["year"]) if row["year"] else None
            readings.append(Reading(finding, year, row["label"] or None, row["second"] or None, row["settled"] or None, ""))
    known = [_known(row) for _, row in read_table(folder / "occurrences.tsv", _OCCURRENCES)]
    scripts = sorted({each.script for each in known})
    return Contact(folder.name, about, files, findings, readings, known, scripts)


def _known(row: Mapping[str, str]) -> Known:
    place, codes = Place.parse(row["line"]), tuple(row["code"].split("|"))
    occurrence = Occurrence(CodeBase(row["repo"], ""), row["path"], place, codes, row["decidable"] == "yes")
    flags = (row["worth"] == USEFUL, row["default"] == "on", row["found"] == "yes", row["found_with_all"] == "yes")
    return Known(occurrence, *flags)
