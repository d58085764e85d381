"""Findings held against labels: which are true, which are false, and what was missed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from labels import NOISE, USEFUL, VERDICTS, CodeBase, Label, Occurrence, Place


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that torchlint reported; ``file`` is relative to the code base."""

    code_base: CodeBase
    file: str
    row: int
    column: int
    code: str

    def __str__(self) -> str:
        return f"{self.code_base} {self.file}:{self.row}:{self.column} {self.code}"


@dataclass(slots=True)
class Tally:
    """What was counted for one rule, or for all of them."""

    true: int = 0
    false: int = 0
    unlabelled: int = 0
    found: int = 0
    missed: int = 0
    undecidable_found: int = 0
    undecidable_missed: int = 0
    unreadable: int = 0
    """Occurrences in files that this Python cannot parse."""
    useful: int = 0
    """True findings of which a label says that an author would change the line."""
    noise: int = 0
    """True findings of which a label says that nobody would."""

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, name) + getattr(other, name) for name in Tally.__slots__))

    @property
    def findings(self) -> int:
        return self.true + self.false + self.unlabelled

    @property
    def labelled(self) -> int:
        return self.true + self.false

    @property
    def occurrences(self) -> int:
        return self.found + self.missed

    @property
    def undecidable(self) -> int:
        return self.undecidable_found + self.undecidable_missed

    @property
    def precision(self) -> float | None:
        """The share of the labelled findings that are true; None where there are none."""
        return share(self.true, self.labelled)

    @property
    def useful_share(self) -> float | None:
        """The share of the true findings that are useful, of those of which a label says so or not; None where none does."""
        return share(self.useful, self.useful + self.noise)

    @property
    def recall(self) -> float | None:
        """The share of the decidable occurrences that are found; None where there are none."""
        return share(self.found, self.occurrences)

    @property
    def recall_of_all(self) -> float | None:
        """The share of all occurrences, decidable or not, that are found; None where there are none."""
        return share(self.found + self.undecidable_found, self.occurrences + self.undecidable)


def share(part: int, whole: int) -> float | None:
    """``part`` of ``whole`` as a fraction; None of nothing."""
    return part / whole if whole else None


@dataclass(slots=True)
class Judgement:
    """The result of an evaluation: a tally for each rule, and the places behind the figures."""

    rules: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    false: list[tuple[Finding, str]] = field(default_factory=list)
    unlabelled: list[Finding] = field(default_factory=list)
    missed: list[Occurrence] = field(default_factory=list)

    @property
    def total(self) -> Tally:
        """All rules' tallies added up."""
        return sum(self.rules.values(), start=Tally())


def judge(
    findings: Iterable[Finding],
    labels: Iterable[Label],
    occurrences: Iterable[Occurrence],
    unreadable: frozenset[tuple[CodeBase, str]] = frozenset(),
) -> Judgement:
    """Holds ``findings`` against ``labels`` and ``occurrences``; ``unreadable`` are the files that could not be parsed."""
    judgement = Judgement()
    findings = sorted(findings)
    _judge_findings(judgement, findings, labels)
    _judge_occurrences(judgement, findings, occurrences, unreadable)
    return judgement


def _judge_findings(judgement: Judgement, findings: Sequence[Finding], labels: Iterable[Label]) -> None:
    by_file: dict[tuple[CodeBase, str], list[Label]] = defaultdict(list)
    for label in labels:
        by_file[label.code_base, label.file].append(label)
    for finding in findings:
        tally = judgement.rules[finding.code]
        deciding = label_of(finding, by_file[finding.code_base, finding.file])
        if deciding is None:
            tally.unlabelled += 1
            judgement.unlabelled.append(finding)
        elif deciding.true:
            tally.true += 1
            tally.useful += deciding.verdict == USEFUL
            tally.noise += deciding.verdict == NOISE
        else:
            tally.false += 1
            judgement.false.append((finding, deciding.why))


def label_of(finding: Finding, labels: Iterable[Label]) -> Label | None:
    """The label that decides about ``finding``: the narrowest that covers it; the worse one where two are equally narrow.

    A label for another code says nothing: two rules may be right, and one of them wrong, at one place.
    """
    covering = [label for label in labels if finding.code in label.codes and label.place.covers(finding.row, finding.column)]
    return min(covering, key=lambda label: (label.place.width, VERDICTS.index(label.verdict)), default=None)


def _judge_occurrences(
    judgement: Judgement,
    findings: Sequence[Finding],
    occurrences: Iterable[Occurrence],
    unreadable: frozenset[tuple[CodeBase, str]],
) -> None:
    readable = []
    for occurrence in occurrences:
        if (occurrence.code_base, occurrence.file) in unreadable:
            judgement.rules[occurrence.rule].unreadable += 1
        else:
            readable.append(occurrence)
    for occurrence, is_found in zip(readable, matched(findings, readable), strict=True):
        _count(judgement, occurrence, found=is_found)


def matched(findings: Iterable[Finding], occurrences: Sequence[Occurrence]) -> list[bool]:
    """Whether each of the occurrences is reported.

    Occurrences of the same at the same place stand together: as many findings are wanted there, the decidable ones first, and
    those that another file of the project tells of next.
    """
    by_file: dict[tuple[CodeBase, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        by_file[finding.code_base, finding.file].append(finding)
    groups: dict[tuple[CodeBase, str, Place, tuple[str, ...]], list[int]] = defaultdict(list)
    for index, each in enumerate(occurrences):
        groups[each.code_base, each.file, each.place, each.codes].append(index)
    found = [False] * len(occurrences)
    for (code_base, file, place, codes), group in groups.items():
        at_place = [each for each in by_file[code_base, file] if each.code in codes and place.covers(each.row, each.column)]
        for index in sorted(group, key=lambda index: _doubt(occurrences[index]))[: len(at_place)]:
            found[index] = True
    return found


def _doubt(occurrence: Occurrence) -> int:
    return 0 if occurrence.decidable else 1 if occurrence.by_project else 2


def _count(judgement: Judgement, occurrence: Occurrence, *, found: bool) -> None:
    tally = judgement.rules[occurrence.rule]
    if occurrence.decidable and found:
        tally.found += 1
    elif occurrence.decidable:
        tally.missed += 1
        judgement.missed.append(occurrence)
    elif found:
        tally.undecidable_found += 1
    else:
        tally.undecidable_missed += 1
