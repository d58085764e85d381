"""Shows what readers said about the findings of a first run, and what of the known places it found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from first_findings import AFTER, BEFORE, UNKNOWN, FirstFinding
from judgement import share
from known import Known, Recall
from labels import FALSE, NOISE, UNJUDGED, LabelError
from readings import Contact, Reading, read_contact
from shares import ORDER, Agreement, Labels, as_true, as_useful, confusion, interval, judged_pairs, sum_of, verdict
from tables import markdown, percentage

FOLDER = Path(__file__).parent
_HEADING = "## First contact"
_INTRODUCTION = """\
What torchlint reported on the first run over code that none of its authors had looked at. The figures are as they were before
anything was mended."""
_READ = """\
Readers labelled each finding [useful, noise or false](criteria.md). True are the useful ones and the noise; in brackets stands
where a share lies with 95 % confidence. Code is old if its file was last changed before 2019. A rule, and an age of code, is
below if fewer than 80 % of at least 20 findings that were read are useful, or fewer than 98 % true. What is known beforehand
was written down by reading scripts before torchlint was run; it is useful or noise, too.

Of a [seventh](../tests/evaluation/README.md#to-measure-first-contact), of 2026-11-23, only totals are left: of 303 findings
86.7 % were useful and 96.0 % true; of 86 known places 71 were found (82.6 %), of the first catalogue's 67 of 79 (84.8 %).

Of a twenty-eighth, of 2026-11-29, over 14 repositories, only totals are left, too. Its reader had not seen the criteria: of
439 findings 99.3 % were true and 63.6 % useful to them. Of the rest more than half, 83, were initialisers of TPL001, which are
useful by the criteria, and have been warnings since. Another reader labelled beforehand whatever a linter could say of that
code, be there a rule for it or not: of 179 bugs that the code shows 77 were found by default and 16 with all rules on, of 247
wastes 22 and 21.

Of a twenty-ninth, of the same day, over 37 repositories, only totals are left as well. None of its three readers had seen the
criteria: of 724 findings 721 were true (99.6 %) and 307 useful to them (42.4 %). Of the 414 that are true and no more, 225 were
those of TPL001 on the initialisers of layers and on weights that follow those of another network. With the reader before, four
of four would not change such a line: these are strict since, and noise by the criteria, too; so is each use but the first of
what is deprecated, imported by itself and changed by hand. The same repositories have 512 findings now. Two of the readers had
labelled 16 of them beforehand: of 72 bugs that the code shows 4 were found by default and 2 with all rules on, of 152 wastes 22
and 24. Rules that were built with these misses at hand find 14 more of the bugs by default, which measures nothing."""
_ORDINALS = (
    "",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twenty-first",
    "twenty-second",
    "twenty-third",
    "twenty-fourth",
    "twenty-fifth",
    "twenty-sixth",
    "twenty-seventh",
    "twenty-eighth",
    "twenty-ninth",
)
_EARLIER = """\
### Earlier: true or false

[21 packages and repositories](../tests/evaluation/README.md#first-contact), all rules on. Of each rule up to 60 findings were
judged, 40 drawn at random where there were more; whether they are useful was not asked. For the occurrences, 15 scripts were
read before their findings were looked at, for everything that the catalogue names and the file itself gives away."""


def first_contact(folder: Path = FOLDER) -> list[str]:
    """What docs/accuracy.md says about first contacts: those that a folder keeps, the latest first, and an earlier one."""
    folders = sorted((path.parent for path in folder.glob("*/contact.json")), key=_order, reverse=True)
    contacts = [read_contact(each) for each in folders]
    lines = [_HEADING, "", _INTRODUCTION]
    if contacts:
        lines += ["", _READ]
    for contact in contacts:
        lines += ["", *section(contact)]
    return [*lines, "", _EARLIER, "", *_earlier()]


def _order(folder: Path) -> tuple[str, int]:
    """Where a contact stands among the others: its date, and which one of it is: `2026-11-23-sixth`."""
    date, ordinal = folder.name[:10], folder.name[11:]
    return date, _ORDINALS.index(ordinal)


def with_section(page: str) -> str:
    """A page of docs/accuracy.md with the part about first contacts as it is now; the rest stays."""
    before, heading, rest = page.partition(f"{_HEADING}\n")
    if not heading:
        raise LabelError(f"the page has no {_HEADING!r}")
    _, following, after = rest.partition("\n## ")
    return before + "\n".join(first_contact()) + "\n" + following + after


def report(contact: Contact) -> str:
    """All that was said and found, with the readers' notes, as Markdown."""
    read = contact.read
    noise = sorted((each for each in read if each.label == NOISE), key=lambda each: each.finding.code)
    parts = ["# First contact", "", *_shares(contact), "", *_by_repository(read)]
    if contact.known:
        parts += ["", *_recalls(contact)]
    parts += ["", "## False", "", *_listed(each for each in read if each.label == FALSE)]
    parts += ["", "## Noise", "", *_listed(noise)]
    parts += ["", "## Not settled", "", *_listed(each for each in read if each.differs and not each.settled)]
    return "\n".join(parts) + "\n"


def section(contact: Contact) -> list[str]:
    """The part of docs/accuracy.md about one first contact."""
    about, files = contact.about, sum(contact.files.values())
    cap = f", at most {about['cap']} findings of each" if about["cap"] else ""
    parts = [
        f"### {contact.name}",
        "",
        f"{len(contact.files)} repositories{cap}, {files:,} files; torchlint {about['torchlint']}.",
    ]
    parts += [*_shares(contact)]
    if contact.known:
        parts += ["", *_recalls(contact)]
    false = [f"- `{_where(each.finding)}`" for each in contact.read if each.label == FALSE]
    return [*parts, *(["", "False:", "", *false] if false else [])]


# --- what was read ---------------------------------------------------------------------------------------------------


def _shares(contact: Contact) -> list[str]:
    labels = _labels_by_rule(contact.read)
    below = [f"{code} ({said})" for code, by_age in labels.items() if (said := verdict(by_age)).startswith("below")]
    named = f"Below 80 % useful or 98 % true: {', '.join(below) or 'none'}."
    return [*_totals(contact), "", *_by_rule(contact.findings, labels), "", named, "", *_agreement(contact.read)]


def _totals(contact: Contact) -> list[str]:
    read = contact.read
    rows = [["code", "read", "useful", "noise", "false", "unjudged", "useful of judged", "true of judged"]]
    for age in (None, BEFORE, AFTER, UNKNOWN):
        labels = Labels.of(each.label or UNJUDGED for each in read if age in (None, each.age))
        counts = (labels.useful, labels.noise, labels.false, labels.unjudged)
        if age is None or any(counts):
            shares = [_with_interval(labels.useful, labels.judged), _with_interval(labels.true, labels.judged)]
            rows.append([age or "all", str(sum(counts)), *map(str, counts), *shares])
    by_default = sum(each.strict == "no" for each in contact.findings)
    text = f"{by_default:,} findings by default, {len(contact.readings):,} of them drawn, {len(read):,} read."
    return [text, "", *markdown(rows)]


def _with_interval(part: int, whole: int) -> str:
    spread = interval(part, whole)
    if spread is None:
        return "–"
    return f"{percentage(part / whole)} ({100 * spread[0]:.1f} to {100 * spread[1]:.1f})"


def _labels_by_rule(read: Iterable[Reading]) -> dict[str, dict[str, Labels]]:
    """The labels of each rule for each age of code."""
    labels: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for each in read:
        labels[each.finding.code][each.age].append(each.label or UNJUDGED)
    return {code: {age: Labels.of(given) for age, given in by_age.items()} for code, by_age in sorted(labels.items())}


def _by_rule(findings: Iterable[FirstFinding], labels: dict[str, dict[str, Labels]]) -> list[str]:
    reported = Counter(each.code for each in findings if each.strict == "no")
    head = ["rule", "reported", "judged", "useful", "noise", "false", "unjudged", "useful share", "true share"]
    rows = [[*head, BEFORE, AFTER, "verdict"]]
    for code, by_age in labels.items():
        both = sum_of(by_age.values())
        numbers = [reported[code], both.judged, both.useful, both.noise, both.false, both.unjudged]
        ages = [_useful_of(by_age.get(age, Labels())) for age in (BEFORE, AFTER)]
        shares = [percentage(both.useful_share), percentage(both.true_share)]
        rows.append([code, *map(str, numbers), *shares, *ages, verdict(by_age)])
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


# --- what was known --------------------------------------------------------------------------------------------------


def _recalls(contact: Contact) -> list[str]:
    known = contact.known
    parts = [*_recall(known), "", *_recall_by_rule(known), "", *_recall_by_script(known, contact.scripts)]
    missed = [each for each in known if each.occurrence.decidable and each.is_useful and each.is_on and not each.found]
    if missed:
        parts += ["", "Missed by the default rules, decidable and useful, of rules that are on:", ""]
        parts += [f"- {_place_of(each)}" for each in missed]
    return parts


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


# --- lists -----------------------------------------------------------------------------------------------------------


def _where(finding: FirstFinding) -> str:
    cell = f" cell {finding.cell}" if finding.cell else ""
    return f"{finding.repo} {finding.path}{cell}:{finding.line}:{finding.column} {finding.code}"


def _listed(readings: Iterable[Reading]) -> list[str]:
    rows = []
    for each in readings:
        labels = ", ".join(label for label in (each.first, each.second, each.settled) if label)
        rows.append(f"- {each.finding.id} `{_where(each.finding)}` ({labels}): {each.notes}")
    return rows or ["None."]


def _earlier() -> list[str]:
    head, *rows = (line.split("\t") for line in (FOLDER / "earlier.tsv").read_text(encoding="utf-8").splitlines())
    table = [[*head, "precision", "recall"]]
    totals = [0] * len(head[1:])
    for code, *counts in rows:
        numbers = [int(count) for count in counts]
        totals = [total + number for total, number in zip(totals, numbers, strict=True)]
        table.append([code, *counts, *_precision_and_recall(numbers)])
    table.append(["all", *map(str, totals), *_precision_and_recall(totals)])
    return markdown(table)


def _precision_and_recall(numbers: Sequence[int]) -> tuple[str, str]:
    """Both from (findings, judged, true, occurrences, found)."""
    _, judged, true, occurrences, found = numbers
    return percentage(share(true, judged)), percentage(share(found, occurrences))
