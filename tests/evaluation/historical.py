"""Holds torchlint against bugs that commits of public repositories fixed: found before, gone after? See the README here."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parents[1]
sys.path[:0] = [str(FOLDER), str(REPOSITORY)]

from code_bases import DownloadError, two_versions  # noqa: E402
from labels import LabelError, Place, place_and_codes, read_table  # noqa: E402
from tables import aligned, percentage  # noqa: E402

from torchlint.engine.linter import lint  # noqa: E402
from torchlint.options import DEFAULTS  # noqa: E402
from torchlint.rules.selection import select_rules, unnamed  # noqa: E402
from torchlint.text.source import Source, SourceError  # noqa: E402

COLUMNS = ("repository", "commit", "file", "place", "code", "decidable", "flagged", "cleared", "what")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether the bug was reported before it was fixed, and whether nothing was reported at its place afterwards."""

    flagged: bool
    cleared: bool


@dataclass(frozen=True, slots=True)
class Fix:
    """A bug that ``commit`` of a public repository fixed.

    ``place`` is where it stands in the file before the commit, and one of ``codes`` has to report it. ``decidable`` is off
    where only another file, or a person, can tell. ``first`` is what torchlint made of it at first contact.
    """

    repository: str
    commit: str
    file: str
    place: Place
    codes: tuple[str, ...]
    decidable: bool
    first: Outcome
    what: str

    def __str__(self) -> str:
        return f"{self.repository}@{self.commit[:8]} {self.file}:{self.place} {'|'.join(self.codes)}: {self.what}"


@dataclass(slots=True)
class Shares:
    """How many of the bugs were reported, and how many of these reports ended with the fix."""

    bugs: int = 0
    flagged: int = 0
    cleared: int = 0

    def add(self, outcome: Outcome) -> None:
        self.bugs += 1
        self.flagged += outcome.flagged
        self.cleared += outcome.flagged and outcome.cleared

    def __str__(self) -> str:
        found = percentage(self.flagged / self.bugs if self.bugs else None)
        return f"{self.flagged} of {self.bugs} flagged ({found}), {self.cleared} of these cleared by the fix"


def main(arguments: Sequence[str]) -> int:
    """Prints the table and the shares; the exit code is 2 where a repository cannot be had."""
    options = _parser().parse_args(arguments)
    fixes = read_fixes(FOLDER / "historical.tsv")
    try:
        pairs = [two_versions(options.git_address, fix.repository, fix.commit, fix.file) for fix in fixes]
    except DownloadError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    with ProcessPoolExecutor(options.jobs) as executor:
        outcomes = list(executor.map(outcome_of, fixes, *zip(*pairs)))
    print(report(fixes, outcomes))
    return 0


def read_fixes(path: Path) -> list[Fix]:
    """The bugs in a tab-separated file; raises `LabelError` for a line that is not one."""
    return [_fix(where, row) for where, row in read_table(path, COLUMNS)]


def _fix(where: str, row: dict[str, str]) -> Fix:
    answers = {}
    for column in ("decidable", "flagged", "cleared"):
        if row[column] not in ("yes", "no"):
            raise LabelError(f"{where}: {column} is `yes` or `no`, not {row[column]!r}")
        answers[column] = row[column] == "yes"
    place, codes = place_and_codes(where, row)
    first = Outcome(answers["flagged"], answers["cleared"])
    return Fix(row["repository"], row["commit"], row["file"], place, codes, answers["decidable"], first, row["what"])


def outcome_of(fix: Fix, before: bytes, after: bytes) -> Outcome:
    """What the default rules make of the file as it was and as the commit left it; one that is not Python has no finding."""
    place = moved(fix.place, _lines(before), _lines(after))
    return Outcome(_reports(fix, before, fix.place), not _reports(fix, after, place))


def moved(place: Place, before: Sequence[str], after: Sequence[str]) -> Place:
    """The lines of ``after`` where those of ``place`` stood in ``before``, with all that was put between them."""
    first, last = 1, len(after)
    for _, start, end, new_start, new_end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        kept = end - start == new_end - new_start
        if start < place.first <= end:
            first = new_start + (place.first - start if kept else 1)
        if start < place.last <= end:
            last = new_start + (place.last - start) if kept else new_end
    return Place(min(first, last), max(first, last))


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").split("\n")


def _reports(fix: Fix, text: bytes, place: Place) -> bool:
    rules = select_rules()
    try:
        found = lint(Source.decode(text, fix.file), rules, DEFAULTS._replace(lenient=unnamed(rules, ())), suppress=False)
    except SourceError:
        return False
    return any(each.code in fix.codes and place.covers(each.location.row, each.location.column) for each in found)


def report(fixes: Sequence[Fix], outcomes: Sequence[Outcome]) -> str:
    """The table, rule by rule, the shares, at first contact and now, and what is missed or still reported."""
    decidable = [(fix, outcome) for fix, outcome in zip(fixes, outcomes) if fix.decidable]
    table = [["rule", "bugs", "first contact", "now", "still reported after the fix"]]
    for code, (first, now) in sorted(_by_rule(decidable).items()):
        table.append([code, *map(str, (now.bugs, first.flagged, now.flagged, now.flagged - now.cleared))])
    lines = aligned(table)
    lines.append(f"decidable in the file: {_total(outcome for _, outcome in decidable)}")
    lines.append(f"    at first contact: {_total(fix.first for fix, _ in decidable)}")
    lines.append(f"all: {_total(outcomes)}")
    lines += [f"missed: {fix}" for fix, outcome in decidable if not outcome.flagged]
    lines += [f"still reported: {fix}" for fix, outcome in zip(fixes, outcomes) if outcome.flagged and not outcome.cleared]
    return "\n".join(lines)


def _by_rule(judged: Iterable[tuple[Fix, Outcome]]) -> dict[str, tuple[Shares, Shares]]:
    """What was made of the bugs of each rule, at first contact and now; the first of a bug's codes is its rule."""
    rules: defaultdict[str, tuple[Shares, Shares]] = defaultdict(lambda: (Shares(), Shares()))
    for fix, outcome in judged:
        first, now = rules[fix.codes[0]]
        first.add(fix.first)
        now.add(outcome)
    return dict(rules)


def _total(outcomes: Iterable[Outcome]) -> Shares:
    shares = Shares()
    for outcome in outcomes:
        shares.add(outcome)
    return shares


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--git-address",
        default="https://github.com/{owner}/{name}.git",
        help="a mirror to fetch from, or git folders (default: %(default)s)",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
