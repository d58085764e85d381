"""Shows what readers said about the findings of a first run, and what of the known places it found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from first_findings import AFTER, BEFORE, UNKNOWN, FirstFinding, Repositories
from known import Known, Recall
from labels import FALSE, NOISE, UNJUDGED
from shares import ORDER, Agreement, Labels, as_true, as_useful, confusion, interval, judged_pairs, sum_of, verdict
from tables import markdown, percentage


@dataclass(frozen=True, slots=True)
class Reading:
    """What was said about one finding; ``label`` is the one that counts, ``notes`` are the readers' own words."""

    finding: FirstFinding
    age: str
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
        age = repositories.age(finding.repo, finding.path)
        one, two, three = (answer[0] if answer else None for answer in (first, second, settled))
        return cls(finding, age, one, two, three, notes)

    @property
    def label(self) -> str | None:
        """What counts: what a third reading settled, or else the first reader's label."""
        return self.settled or self.first

    @property
    def differs(self) -> bool:
        """Whether two readers gave different labels."""
        return self.second is not None and self.first is not None and self.first != self.second


def report(
    findings: Sequence[FirstFinding],
    readings: Sequence[Reading],
    known: Sequence[Known],
    scripts: Sequence[tuple[str, str]],
) -> str:
    """The whole report, as Markdown."""
    read = [each for each in readings if each.label is not None]
    parts = [
        "# First contact",
        "",
        *_totals(findings, readings, read),
        "",
        *_by_rule(findings, read),
        "",
        *_by_repository(read),
    ]
    parts += ["", "## Two readers", "", *_agreement(read)]
    if known:
        parts += ["", "## Recall", "", *_recall(known), "", *_recall_by_rule(known), "", *_recall_by_script(known, scripts)]
        parts += ["", "Missed by the default rules, decidable and useful, of rules that are on:", ""]
        missed = [each for each in known if each.occurrence.decidable and each.is_useful and each.is_on and not each.found]
        parts += [f"- {_place_of(each)}" for each in missed]
    parts += ["", "## False", "", *_listed(each for each in read if each.label == FALSE)]
    parts += [
        "",
        "## Noise",
        "",
        *_listed(sorted((each for each in read if each.label == NOISE), key=lambda each: each.finding.code)),
    ]
    parts += ["", "## Not settled", "", *_listed(each for each in read if each.differs and not each.settled)]
    return "\n".join(parts) + "\n"


def _totals(findings: Sequence[FirstFinding], readings: Sequence[Reading], read: Sequence[Reading]) -> list[str]:
    rows = [["code", "read", "useful", "noise", "false", "unjudged", "useful of judged", "true of judged"]]
    for age in (None, BEFORE, AFTER, UNKNOWN):
        labels = Labels.of(each.label or UNJUDGED for each in read if age in (None, each.age))
        counts = (labels.useful, labels.noise, labels.false, labels.unjudged)
        if age is None or any(counts):
            shares = [_with_interval(labels.useful, labels.judged), _with_interval(labels.true, labels.judged)]
            rows.append([age or "all", str(sum(counts)), *map(str, counts), *shares])
    by_default = sum(each.strict == "no" for each in findings)
    text = f"{by_default} findings by default, {len(readings)} drawn, {len(read)} read."
    return [text, "", *markdown(rows)]


def _with_interval(part: int, whole: int) -> str:
    spread = interval(part, whole)
    if spread is None:
        return "–"
    return f"{percentage(part / whole)} ({100 * spread[0]:.1f} to {100 * spread[1]:.1f})"


def _by_rule(findings: Iterable[FirstFinding], read: Iterable[Reading]) -> list[str]:
    reported = Counter(each.code for each in findings if each.strict == "no")
    labels: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for each in read:
        labels[each.finding.code][each.age].append(each.label or UNJUDGED)
    head = ["rule", "reported", "judged", "useful", "noise", "false", "unjudged", "useful share", "true share"]
    rows = [[*head, BEFORE, AFTER, "verdict"]]
    for code, by_age in sorted(labels.items()):
        counted = {age: Labels.of(each) for age, each in by_age.items()}
        both = sum_of(counted.values())
        numbers = [reported[code], both.judged, both.useful, both.noise, both.false, both.unjudged]
        ages = [_useful_of(counted.get(age, Labels())) for age in (BEFORE, AFTER)]
        shares = [percentage(both.useful_share), percentage(both.true_share)]
        rows.append([code, *map(str, numbers), *shares, *ages, verdict(counted)])
    return markdown(rows)


def _useful_of(labels: Labels) -> str:
    """How many of how many are useful, and how many are false."""
    if not labels.judged:
        return "–"
    false = f", {labels.false} false" if labels.false else ""
    return f"{labels.useful} of {labels.judged}, {percentage(labels.useful_share)}{false}"


def _by_repository(read: Iterable[Reading]) -> list[str]:
    labels: dict[str, list[str]] = defaultdict(list)
    for each in read:
        labels[each.finding.repo].append(each.label or UNJUDGED)
    rows = [["repository", "judged", "useful", "noise", "false", "useful share"]]
    for repo, given in sorted(labels.items()):
        counted = Labels.of(given)
        numbers = (counted.judged, counted.useful, counted.noise, counted.false)
        rows.append([repo, *map(str, numbers), percentage(counted.useful_share)])
    return markdown(rows)


def _agreement(read: Iterable[Reading]) -> list[str]:
    pairs = judged_pairs((each.first, each.second) for each in read if each.first and each.second)
    three, true, useful = Agreement.of(pairs), Agreement.of(as_true(pairs)), Agreement.of(as_useful(pairs))
    named = {"useful, noise, false": three, "true, false": true, "useful, or not": useful}
    rows = [["labels", "both judged", "same", "agreement", "Cohen's kappa"]]
    for name, each in named.items():
        kappa = "–" if each.kappa is None else f"{each.kappa:.2f}"
        rows.append([name, str(each.both), str(each.same), percentage(each.plain), kappa])
    counts = confusion(pairs)
    table = [["first reader \\ second", *ORDER], *([one, *(str(counts[one, two]) for two in ORDER)] for one in ORDER)]
    return [*markdown(rows), "", *markdown(table)]


def _recall(known: Sequence[Known]) -> list[str]:
    rows = [["known places", "decidable", "found by default", "share", "found with all rules", "share", "undecidable"]]
    chosen = {
        "all": known,
        "of rules that are on": [each for each in known if each.is_on],
        "useful": [each for each in known if each.is_useful],
        "useful, of rules that are on": [each for each in known if each.is_useful and each.is_on],
        "noise": [each for each in known if not each.is_useful],
        "noise, of rules that are on": [each for each in known if not each.is_useful and each.is_on],
    }
    return markdown([*rows, *([name, *_counted(Recall.of(each))] for name, each in chosen.items())])


def _counted(recall: Recall) -> list[str]:
    found = [str(recall.found), percentage(recall.share), str(recall.found_with_all), percentage(recall.share_with_all)]
    return [str(recall.known), *found, str(recall.undecidable)]


def _recall_by_rule(known: Iterable[Known]) -> list[str]:
    rules: dict[str, list[Known]] = defaultdict(list)
    for each in known:
        rules[each.occurrence.rule].append(each)
    rows = [
        ["rule", "decidable", "found by default", "share", "found with all rules", "share", "undecidable", "useful ones found"]
    ]
    for code, places in sorted(rules.items()):
        useful = Recall.of(each for each in places if each.is_useful)
        rows.append([code, *_counted(Recall.of(places)), f"{useful.found} of {useful.known}"])
    return markdown(rows)


def _recall_by_script(known: Sequence[Known], scripts: Sequence[tuple[str, str]]) -> list[str]:
    rows = [
        [
            "script",
            "decidable",
            "found by default",
            "share",
            "found with all rules",
            "share",
            "undecidable",
            "useful ones found",
        ]
    ]
    for script in scripts or sorted({each.script for each in known}):
        places = [each for each in known if each.script == script]
        useful = Recall.of(each for each in places if each.is_useful)
        rows.append([" ".join(script), *_counted(Recall.of(places)), f"{useful.found} of {useful.known}"])
    return markdown(rows)


def _place_of(known: Known) -> str:
    each = known.occurrence
    return f"`{each.code_base.package} {each.file}:{each.place} {'|'.join(each.codes)}`" + (
        ", found with all rules" if known.found_with_all else ""
    )


def _listed(readings: Iterable[Reading]) -> list[str]:
    rows = []
    for each in readings:
        found = each.finding
        cell = f" cell {found.cell}" if found.cell else ""
        labels = ", ".join(label for label in (each.first, each.second, each.settled) if label)
        rows.append(
            f"- {found.id} `{found.repo} {found.path}{cell}:{found.line}:{found.column} {found.code}` ({labels}): {each.notes}"
        )
    return rows or ["None."]
