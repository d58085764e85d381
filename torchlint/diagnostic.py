"""What a run reports: diagnostics, and the fixes and edits that they carry.

All of these are plain frozen values: they can be compared, sorted, pickled and sent between processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias, get_args

_DOCUMENTATION = "https://github.com/torchlint/torchlint/blob/main/docs/rules/{code}.md"
_OURS = "TPL"


def page_url(code: str, declared: str = "") -> str | None:
    """The address of a rule's page: the one that it declares or, for torchlint's own, the page in its repository."""
    return declared or (_DOCUMENTATION.format(code=code) if code.startswith(_OURS) else None)


def printable(text: str) -> str:
    """``text`` on one line, with escapes for what a terminal or a log would act upon, or would not show: control characters,
    those that turn the direction of writing or have no width, and whatever else is no character to be seen.

    What comes from files, their names among it, passes through here, or through `columns.shown`, on its way out; but for the
    formats that have escapes of their own, and for diffs that are not for a terminal, which have to be what `patch` needs.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


Severity: TypeAlias = Literal["error", "warning"]
"""How bad a finding is: an ``error`` is wrong or raises, a ``warning`` is slow, unclear or dated."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)


class Applicability(StrEnum):
    """Whether a fix may be applied without a human reading it."""

    SAFE = "safe"
    """The program computes the same results, less the hazard."""
    UNSAFE = "unsafe"
    """The results may change: applied only with ``--unsafe-fixes``."""


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a text; row and column count from 1, the column in characters, as ruff counts them."""

    row: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replaces the text from ``location`` up to, not including, ``end_location`` by ``content``; in a notebook, of ``cell``."""

    location: Location
    end_location: Location
    content: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that are applied together or not at all; ``reason`` says in a phrase why they are unsafe, where they are."""

    message: str
    edits: tuple[Edit, ...]
    applicability: Applicability
    reason: str = ""

    @property
    def title(self) -> str:
        """What the fix does and, where it is unsafe, that it is and why."""
        return f"{self.message} (unsafe: {self.reason})" if self.reason else self.message


def applies(fix: Fix, wanted: Applicability) -> bool:
    """Whether a fix is applied where fixes of the applicability ``wanted`` are: the safe ones always are."""
    return fix.applicability is Applicability.SAFE or wanted is Applicability.UNSAFE


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding of one rule.

    ``snippet`` is the source line that ``location`` is on, without its newline, for reports that show it. Of a finding in a
    notebook, ``cell`` is the number of its cell, counted from 1 with all others, the places are within the cell, and
    ``json_row`` is the row of the file, which is JSON, that the finding's line is in. ``declared_url`` is the address that its
    rule says its page has. A finding that ``is_strict`` is true, but few authors would change the line for it.
    """

    code: str
    name: str
    message: str
    filename: str
    location: Location
    end_location: Location
    fix: Fix | None
    snippet: str
    cell: int | None = None
    json_row: int | None = None
    declared_url: str = ""
    severity: Severity = "error"
    is_strict: bool = False

    @property
    def place(self) -> str:
        """Where the finding is, as ``file:row:column``, with the cell in between for a notebook."""
        cell = "" if self.cell is None else f":cell {self.cell}"
        return f"{printable(self.filename)}{cell}:{self.location.row}:{self.location.column}"

    @property
    def url(self) -> str | None:
        """The address of the rule's page; a rule of a plugin may have none."""
        return page_url(self.code, self.declared_url)

    @property
    def order(self) -> tuple[int, Location, Location, str]:
        """What the findings of a file are sorted by."""
        return (self.cell or 0, self.location, self.end_location, self.code)


@dataclass(frozen=True, slots=True)
class FileError:
    """A file, or a place in it, that could not be linted, and why, in one line; ``code`` names the kind of error.

    ``cell`` and ``json_row`` are as in a `Diagnostic`.
    """

    filename: str
    message: str
    location: Location | None = None
    code: str = "invalid-syntax"
    cell: int | None = None
    json_row: int | None = None

    @property
    def place(self) -> str:
        """Where the error is, as far as that is known: the file, its cell, row and column."""
        cell = "" if self.cell is None else f":cell {self.cell}"
        location = f":{self.location.row}:{self.location.column}" if self.location else ""
        return printable(f"{self.filename}{cell}{location}")

    @property
    def is_of_whole_file(self) -> bool:
        """Whether nothing of the file could be read."""
        in_part = ("not looked at", "not fixed", "cannot fix", "cannot write", "cannot add")
        is_read = self.cell is not None or self.message.startswith(in_part)
        return not is_read and self.code in ("invalid-syntax", "io-error")

    def __str__(self) -> str:
        return f"{self.place}: error: {printable(self.message)}"
