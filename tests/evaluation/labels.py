"""What people said about places in the code bases: labels, known occurrences, and the files that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LABEL_COLUMNS = ("package", "version", "file", "place", "code", "verdict", "why")
OCCURRENCE_COLUMNS = ("package", "version", "file", "place", "code", "decidable")
TELLS_COLUMNS = ("package", "version", "file", "place", "code", "tells", "where")

USEFUL, NOISE, FALSE, UNJUDGED = "useful", "noise", "false", "unjudged"
TRUE = "true"
"""A label from before there were three: useful or noise, nobody has asked."""
VERDICTS = (FALSE, NOISE, TRUE, USEFUL)
"""What a label can say, the worst first."""

_PLACE = re.compile(r"(?P<first>[1-9]\d*)(?:-(?P<last>[1-9]\d*)|:(?P<column>[1-9]\d*))?")
_LINE = re.compile(r"[^:]+\.py:[1-9]\d*")
_CODES = re.compile(r"TPL\d{3}(?:\|TPL\d{3})*")


class LabelError(Exception):
    """A line of a label file that says nothing that can be used; the message names the file and the line."""


@dataclass(frozen=True, slots=True, order=True)
class CodeBase:
    """One release of a package, or one commit of a repository."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a label is about: the lines of a statement, or one column of a line where the line holds several."""

    first: int
    last: int
    column: int | None = None

    @classmethod
    def parse(cls, text: str) -> Place:
        """The place that ``12``, ``12-14`` or ``12:5`` stands for; raises ValueError for anything else."""
        match = _PLACE.fullmatch(text)
        if match is None:
            raise ValueError(f"not a place: {text!r}")
        first = int(match["first"])
        last = int(match["last"] or first)
        if last < first:
            raise ValueError(f"ends before it begins: {text!r}")
        return cls(first, last, int(match["column"]) if match["column"] else None)

    def covers(self, row: int, column: int) -> bool:
        """Whether a finding that starts at ``row`` and ``column`` is at this place."""
        return self.first <= row <= self.last and self.column in (None, column)

    @property
    def width(self) -> tuple[int, bool]:
        """How narrow the place is: of two places that cover a finding, the smaller is meant."""
        return (self.last - self.first, self.column is None)

    def __str__(self) -> str:
        if self.column is not None:
            return f"{self.first}:{self.column}"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Label:
    """Whether a finding with one of ``codes`` at this place is useful, noise, false or, without saying which, true, and why."""

    code_base: CodeBase
    file: str
    place: Place
    codes: frozenset[str]
    verdict: str
    why: str

    @property
    def true(self) -> bool:
        """Whether the finding is true, useful or not."""
        return self.verdict != FALSE


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where one of ``codes`` has to be reported.

    ``decidable`` is off where the file does not tell that the value is what the rule is about. ``by_project`` is on where it
    does not and another file of the project does.
    """

    code_base: CodeBase
    file: str
    place: Place
    codes: tuple[str, ...]
    decidable: bool
    by_project: bool = False

    @property
    def rule(self) -> str:
        """The rule that the occurrence counts for: the first of those that may report it."""
        return self.codes[0]

    def __str__(self) -> str:
        return f"{self.code_base} {self.file}:{self.place} {'|'.join(self.codes)}"


def read_labels(path: Path) -> list[Label]:
    """The labels in a tab-separated file; raises `LabelError` for a line that is not one."""
    labels = []
    for where, row in read_table(path, LABEL_COLUMNS):
        if row["verdict"] not in VERDICTS:
            raise LabelError(f"{where}: a verdict is one of {', '.join(VERDICTS)}, not {row['verdict']!r}")
        if not row["why"].strip():
            raise LabelError(f"{where}: a label says why")
        place, codes = place_and_codes(where, row)
        code_base = CodeBase(row["package"], row["version"])
        labels.append(Label(code_base, row["file"], place, frozenset(codes), row["verdict"], row["why"]))
    return labels


def read_occurrences(path: Path) -> list[Occurrence]:
    """The known occurrences in a tab-separated file; raises `LabelError` for a line that is not one."""
    occurrences = []
    for where, row in read_table(path, OCCURRENCE_COLUMNS):
        said = row["decidable"]
        if said not in ("yes", "project", "no"):
            raise LabelError(f"{where}: an occurrence is decidable, `yes`, `project` or `no`, not {said!r}")
        place, codes = place_and_codes(where, row)
        code_base = CodeBase(row["package"], row["version"])
        occurrences.append(Occurrence(code_base, row["file"], place, codes, said == "yes", said == "project"))
    return occurrences


@dataclass(frozen=True, slots=True)
class Teller:
    """What tells of an occurrence that the file was once said not to tell of.

    ``tells`` is ``file`` (read again, the file does tell), ``project`` (``where`` is a file of the project and a line),
    ``no`` (``where`` says in a word who tells), or ``none`` (it is no occurrence after all; ``where`` says why).
    """

    occurrence: Occurrence
    tells: str
    where: str


def read_tellers(path: Path) -> list[Teller]:
    """What tells of the occurrences in a tab-separated file; raises `LabelError` for a line that makes no sense."""
    tellers = []
    for where, row in read_table(path, TELLS_COLUMNS):
        tells = row["tells"]
        if tells not in ("file", "project", "no", "none"):
            raise LabelError(f"{where}: what tells is `file`, `project`, `no` or `none`, not {tells!r}")
        if tells == "project" and not _LINE.fullmatch(row["where"]):
            raise LabelError(f"{where}: not a file and a line of it: {row['where']!r}")
        if (tells == "file") != (not row["where"]):
            raise LabelError(f"{where}: it is said who tells, unless the file does")
        place, codes = place_and_codes(where, row)
        code_base = CodeBase(row["package"], row["version"])
        occurrence = Occurrence(code_base, row["file"], place, codes, tells == "file", tells == "project")
        tellers.append(Teller(occurrence, tells, row["where"]))
    return tellers


def read_table(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a tab-separated file that has these columns, and others perhaps, each with where it is.

    Raises `LabelError` for a file that lacks one, and for a row of another length.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    head = lines[0].split("\t")
    if not {*columns} <= {*head}:
        raise LabelError(f"{path.name}:1: the columns are {', '.join(columns)}")
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        where = f"{path.name}:{number}"
        if not line and number == len(lines):
            return
        if len(fields) != len(head):
            raise LabelError(f"{where}: {len(fields)} columns where there are {len(head)}")
        yield where, dict(zip(head, fields))


def place_and_codes(where: str, row: dict[str, str]) -> tuple[Place, tuple[str, ...]]:
    """The place and the codes of a line; raises `LabelError` where one of them makes no sense."""
    if not _CODES.fullmatch(row["code"]):
        raise LabelError(f"{where}: not a code: {row['code']!r}")
    try:
        return Place.parse(row["place"]), tuple(row["code"].split("|"))
    except ValueError as error:
        raise LabelError(f"{where}: {error}") from None
