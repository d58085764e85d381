"""Shows an evaluation: as text for the terminal, and as the page docs/accuracy.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from first_report import first_contact
from judgement import Judgement, Tally
from labels import CodeBase, Occurrence
from tables import aligned, markdown, percentage

from torchlint.rules import all_rules

_TITLES = {
    "developed": "Packages that the rules were developed with",
    "held-out": "Packages that were labelled before torchlint ever saw them",
    "read": "Packages of which only the findings were labelled",
    "repositories": "Repositories",
    "silent": "Code that is not about torch",
}

_NOTES = {
    "developed": "The rules were changed where they failed here: these figures say what torchlint can do, not what to expect.",
    "held-out": (
        "On the very first run 173 of 176 findings were true (98.2 %) and 173 of 187 occurrences were found (92.5 %). The "
        "failures have been looked at since, so that the figures below flatter."
    ),
    "read": (
        "Two lots. Of the first, 303 of 323 findings were true on the first run (93.8 %); that was mended, and then "
        "of the second 510 of 520 (98.0 %). The second figure is the best guess at what new code will see."
    ),
    "repositories": (
        "Not judged here: TPL001, TPL002, TPL003 and TPL101 to TPL104. Of the four repositories that were new to torchlint, "
        "the first run of TPL004 got one of four findings right."
    ),
    "silent": "Nothing should be found here, except in the part of keras that is written with torch.",
}

_INTRODUCTION = """\
# Accuracy

How often a finding of torchlint is true, and how much of what is there it finds, on public code of 2017 to 2024: libraries,
their examples, training scripts and tests. This page is written by
`python tests/evaluation/evaluate.py --with-git --write docs/accuracy.md`; [tests/evaluation](../tests/evaluation/README.md)
says how the labels were made, what they are worth, and how to run it again.

**Precision** is the share of the findings that are true. Every finding has a label of its own: somebody read the place and
said whether the pattern is really there and the value is what the rule is about. **Recall** is the share of the known
occurrences that are reported, by the right rule at the right statement; counted are those that the file itself gives away.
In brackets: with those that only another file, or a person, can tell. Suppression comments are not heeded.

The tables of code bases and rules are of torchlint 24661b4e, of 2026-11-21: rules that came later are not in them, and what is
reported since has no labels there. What is said of later versions is said under [First contact](#first-contact).

True is not yet worth acting on. Which findings are *useful*, so that an author shown them changes the code, and which are
*noise* is said by [criteria](criteria.md) and measured under [First contact](#first-contact).

Bugs that commits of 111 public repositories fixed are another measure: of 163, the file itself tells of 130, and 104 of these
are reported by default before the fix (80.0 %), none of them after it: 75 of the 84 that rules of the first catalogue are about
(89.3 %), and 29 of the 46 of the second (TPL309 and later, TPL405, TPL505 to TPL507, TPL6 and TPL7). It was 110, 80 and 30
before the defaults became stricter on 2026-11-29; at first contact it was 71 of the 130 (54.6 %), and 18 of these 46. The
[README](../tests/evaluation/README.md#bugs-that-commits-fixed) has the details.
"""


_BY_RULE = """\
All code bases together. A rule whose precision is below 95 % here is mended or off by default. Of rules that are off by
default (opt) the figures are there, too. The recall of the rules after the first nine says little: their occurrences are mostly
what was found."""


_OTHER_FILES = """\
## Other files of the project

What the project's other files change, as against each file linted alone (`--no-project`): 42 repositories of 8 to 80 files
that train, drawn from those of the fourth and fifth [first contact](#first-contact), so that torchlint has known them;
torchlint of 2026-11-23, default rules, each difference read by one person. Alone, 866 findings are reported, with the project
868.

- Gained are 7, all of them true: `forward` called on modules of other files' classes (TPL302, 4), a schedule that a caller in
  another file gives (TPL108, 2), a model of another file's class that is evaluated in training mode (TPL320).
- Lost are 5: best answers of which no caller asks for several (TPL204), checkpoints of a project that speaks of no GPU (TPL501,
  3), keys with a prefix that another file takes off (TPL506).

Of 165 known occurrences it was once said that only another file, or a person, can tell of them. On 2026-11-23 one reader read
them again, with the project's other files open and without looking at what torchlint finds, and wrote down what tells
([the table](../tests/evaluation/other_files.tsv), with the file and the line): of 103 another file of the project does, of 45
the file itself, and of 17 nothing in the project, but another package, the data, or whoever calls.

| told by | occurrences | found, with the project | found in the file alone |
| --- | ---: | ---: | ---: |
| another file of the project | 103 | 75 (72.8 %) | 58 (56.3 %) |
| the file itself | 45 | 35 (77.7 %) | 35 (77.7 %) |
| nothing in the project | 17 | 2 (11.7 %) | 2 (11.7 %) |

All rules, and as many findings are wanted as occurrences stand on the same lines. Another 11 lie in files that were not at hand
and are as they were. The 45 count for the recall of their code bases the next time these are run.

When the split was made, 53 of the 103 were found (51.4 %); then methods that a base class in another file defines were
followed to the tensors that they give (6). Later on the same day, with the misses known, what functions, methods and attributes
of other files give was inferred from their code (9 more, with what annotations and star imports name), and 7 were found by what
the file itself shows, which the reader had not taken for enough. Over the 29 code bases at hand 72 findings of all rules were
gained, each read by one person and true, and 3 lost, at places where another rule now says more. Of the 28 that are missed,
10 are what the rules' pages say they leave alone: `squeeze()` of what loaders give that drop the last batch (TPL205, 8), and
single calls of a model in evaluation (TPL304, 2). The others are above all values that other files give (TPL002, 9) and
`forward` called on what they make a module (TPL302, 5)."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much code there is in a code base."""

    code_base: CodeBase
    group: str
    files: int
    lines: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found, for each group of code bases, and the files that could not be parsed."""

    groups: Mapping[str, Judgement]
    extents: Sequence[Extent]
    errors: Sequence[str]


def summary(evaluation: Evaluation) -> str:
    """The figures and every place behind a wrong one, as plain text."""
    lines: list[str] = []
    for group, judgement in evaluation.groups.items():
        lines += [_TITLES[group], _extent(evaluation, group), ""]
        lines += [*aligned(_rows(judgement)), ""] if judgement.rules else []
        lines += _listed("false", (f"{finding}: {why}" for finding, why in judgement.false))
        lines += _listed("unlabelled", map(str, judgement.unlabelled))
        lines += _listed("missed", map(str, judgement.missed))
    return "\n".join([*lines, *_listed("cannot be parsed", evaluation.errors)])


def page(evaluation: Evaluation) -> str:
    """The page docs/accuracy.md."""
    lines = [_INTRODUCTION, *_totals(evaluation), "", "## Rule by rule", "", _BY_RULE, "", *_by_rule(evaluation)]
    lines += ["", _OTHER_FILES, "", *first_contact()]
    for group, judgement in evaluation.groups.items():
        lines += ["", f"## {_TITLES[group]}", "", f"{_extent(evaluation, group)}. {_NOTES[group]}", ""]
        if judgement.rules:
            lines += [*markdown(_rows(judgement)), ""]
        else:
            lines += ["No findings.", ""]
        lines += _section("False", [f"`{finding}`: {why}" for finding, why in judgement.false])
        lines += _section("Not labelled", [f"`{finding}`" for finding in judgement.unlabelled])
        lines += _section("Missed", list(_by_code_base(judgement.missed)))
        lines += _code_bases(evaluation, group)
    if evaluation.errors:
        lines += ["", "## Files that Python cannot parse", ""]
        lines += ["Nothing is reported in them; the occurrences known there stand in the column *unreadable* above.", ""]
        lines += [f"- `{error}`" for error in evaluation.errors]
    return "\n".join(lines) + "\n"


def _by_rule(evaluation: Evaluation) -> list[str]:
    """The figures of each rule; how many of the true ones are useful is there as soon as a label says so."""
    together: dict[str, Tally] = defaultdict(Tally)
    for judgement in evaluation.groups.values():
        for code, tally in judgement.rules.items():
            together[code] += tally
    asked = any(tally.useful_share is not None for tally in together.values())
    useful = ["useful"] if asked else []
    rows = [["rule", "name", "default", "findings", "true", "false", "precision", *useful, "occurrences", "found", "recall"]]
    for rule in all_rules():
        if rule.proven:
            tally = together[rule.code]
            counted = [f"{number:,}" for number in (tally.findings, tally.true, tally.false)]
            shares = [percentage(tally.precision), *([percentage(tally.useful_share)] if asked else [])]
            found = [f"{tally.occurrences:,}", f"{tally.found:,}", percentage(tally.recall)]
            rows.append([rule.code, rule.name, "on" if rule.default else "opt", *counted, *shares, *found])
    return markdown(rows)


def _totals(evaluation: Evaluation) -> list[str]:
    rows = [["", "code bases", "files", "lines", "findings", "true", "precision", "occurrences", "found", "recall"]]
    everything = Tally()
    for group, judgement in evaluation.groups.items():
        extents = [extent for extent in evaluation.extents if extent.group == group]
        rows.append(_total(_TITLES[group], extents, judgement.total))
        everything = everything + judgement.total
    return markdown([*rows, _total("**Everything**", evaluation.extents, everything)])


def _total(name: str, extents: Sequence[Extent], tally: Tally) -> list[str]:
    files = sum(extent.files for extent in extents)
    lines = sum(extent.lines for extent in extents)
    precision = [str(tally.findings), str(tally.true), percentage(tally.precision)]
    recall = [str(tally.occurrences), str(tally.found), percentage(tally.recall)]
    return [name, str(len(extents)), f"{files:,}", f"{lines:,}", *precision, *recall]


def _rows(judgement: Judgement) -> list[list[str]]:
    head = ["rule", "findings", "true", "false", "precision", "occurrences", "found", "recall", "unreadable"]
    named = [*sorted(judgement.rules.items()), ("all", judgement.total)]
    return [head, *(_row(name, tally) for name, tally in named)]


def _row(name: str, tally: Tally) -> list[str]:
    recall = percentage(tally.recall)
    if tally.undecidable:
        recall += f" ({percentage(tally.recall_of_all)})"
    figures = [str(tally.findings), str(tally.true), str(tally.false), percentage(tally.precision)]
    return [name, *figures, str(tally.occurrences), str(tally.found), recall, str(tally.unreadable)]


def _extent(evaluation: Evaluation, group: str) -> str:
    extents = [extent for extent in evaluation.extents if extent.group == group]
    files = sum(extent.files for extent in extents)
    lines = sum(extent.lines for extent in extents)
    return f"{len(extents)} code bases, {files:,} files, {lines:,} lines"


def _code_bases(evaluation: Evaluation, group: str) -> list[str]:
    rows = [["code base", "files", "lines", "not parsed"]]
    rows += [
        [str(extent.code_base), str(extent.files), f"{extent.lines:,}", str(extent.unreadable or "")]
        for extent in evaluation.extents
        if extent.group == group
    ]
    return ["<details><summary>The code bases</summary>", "", *markdown(rows), "", "</details>"]


def _by_code_base(missed: Iterable[Occurrence]) -> Iterable[str]:
    places: dict[CodeBase, list[str]] = {}
    for occurrence in sorted(missed, key=lambda each: (each.code_base, each.file, each.place)):
        text = f"{occurrence.file}:{occurrence.place} {'|'.join(occurrence.codes)}"
        places.setdefault(occurrence.code_base, []).append(f"`{text}`")
    return (f"{code_base}: {', '.join(found)}" for code_base, found in places.items())


def _section(title: str, entries: Sequence[str]) -> list[str]:
    return [f"{title}:", "", *(f"- {entry}" for entry in entries), ""] if entries else []


def _listed(title: str, entries: Iterable[str]) -> list[str]:
    found = [f"  {entry}" for entry in entries]
    return [f"{title}:", *found, ""] if found else []
