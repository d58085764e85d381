"""What torch, torchvision and torchaudio deprecate and have removed, from a table that is generated of their releases."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("deprecations.tsv")
_EVERYDAY = frozenset(
    {"load", "save", "export", "ignore", "isinstance", "wait", "fork", "annotate", "interface", "freeze", "main"}
)
"""Words in every other file: what is called so, and warns of nothing that is seen, is not worth the look."""


@dataclass(frozen=True, slots=True)
class Deprecation:
    """What is said of an API by its full name, or of one of its parameters.

    ``since`` and ``removed`` are releases of ``library``, and empty where there was none. ``replacement`` is the full name of
    what to use, or a call in which ``...`` stands for the arguments; empty where no one answer is right. ``found`` says how
    that was found, ``message`` is what the library says, in its words and perhaps not to its end.
    """

    symbol: str
    parameter: str
    library: str
    since: str
    removed: str
    replacement: str
    found: frozenset[str]
    message: str

    @property
    def warns(self) -> bool:
        """Whether using it warns where people see it: what is only documented as deprecated does not."""
        return not self.found <= {"docstring", "quiet warning"}

    @property
    def only_raises(self) -> bool:
        """Whether it is still there, and raises."""
        return "raises" in self.found

    def is_deprecated_for(self, target: tuple[int, int]) -> bool:
        """Whether the oldest torch that code is to run on deprecates it already: what it recommends is there."""
        return bool(self.since) and _torch_of(self.library, self.since) <= target

    def is_removed_for(self, target: tuple[int, int]) -> bool:
        """Whether the oldest torch that code is to run on has it no more."""
        return bool(self.removed) and _torch_of(self.library, self.removed) <= target


@cache
def deprecations() -> dict[tuple[str, str], Deprecation]:
    """The table, by the full name and the parameter, which is empty for what is deprecated as a whole."""
    with _TABLE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        found = (
            Deprecation(
                **{key: row[key] for key in ("symbol", "parameter", "library", "since", "removed", "replacement", "message")},
                found=frozenset(row["found"].split(",")),
            )
            for row in rows
        )
        return {(each.symbol, each.parameter): each for each in found}


@cache
def whole() -> dict[str, Deprecation]:
    """What is deprecated, or has been removed, as a whole, by its full name."""
    rows = (row for (_, parameter), row in deprecations().items() if not parameter)
    return {row.symbol: row for row in rows if row.warns or row.symbol.rpartition(".")[2] not in _EVERYDAY}


@cache
def symbols() -> frozenset[str]:
    """The full names of it all."""
    return frozenset(whole())


@cache
def members() -> dict[str, frozenset[str]]:
    """The full names of the methods and attributes of classes, by their last part."""
    found: dict[str, set[str]] = defaultdict(set)
    for symbol in whole():
        owner, _, name = symbol.rpartition(".")
        if owner.rpartition(".")[2][:1].isupper():
            found[name].add(symbol)
    return {name: frozenset(symbols) for name, symbols in found.items()}


@cache
def modules() -> frozenset[str]:
    """The full names of modules that go as a whole, with all that is in them; torch itself has none."""
    found = (symbol for symbol, row in whole().items() if row.library != "torch")
    return frozenset(symbol for symbol in found if symbol.rpartition(".")[2].islower())


def words() -> list[str]:
    """Words of which a file that uses any of it has one: what torch's own are called, the names of the other libraries."""
    return sorted({name.rpartition(".")[2] if name.startswith("torch.") else name.partition(".")[0] for name in symbols()})


def _torch_of(library: str, version: str) -> tuple[int, int]:
    """The release of torch that a release of a library belongs to."""
    major, minor = (int(part) for part in version.split(".")[:2])
    match library:
        case "torchvision":  # 0.13 with torch 1.12, 0.15 with 2.0, 0.28 with 2.13
            return (2, minor - 15) if minor >= 15 else (1, minor - 1)
        case "torchaudio" if major == 0:  # 0.13 with torch 1.13
            return 1, minor
    return major, minor
