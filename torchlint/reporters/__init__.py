"""How a run's result is written: one module per output format, each with a ``render`` function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from torchlint.diagnostic import Applicability, Diagnostic, FileError, Fix

FORMATS = ("full", "concise", "json")


@dataclass(frozen=True, slots=True)
class Report:
    """What a run has to say: the findings left, the files that could not be linted, and how many findings it fixed.

    ``applicability`` is that of the fixes that ``--fix`` applies in a run with the same options.
    """

    diagnostics: Sequence[Diagnostic]
    errors: Sequence[FileError] = ()
    fixed: int = 0
    applicability: Applicability = Applicability.SAFE

    def fixes(self, diagnostic: Diagnostic) -> bool:
        """Whether ``--fix`` would fix this finding."""
        return diagnostic.fix is not None and applies(diagnostic.fix, self.applicability)


@dataclass(frozen=True, slots=True)
class Style:
    """Marks up text for a terminal, or leaves it as it is."""

    colour: bool = False

    def bold(self, text: str) -> str:
        return self._sgr("1", text)

    def code(self, text: str) -> str:
        """A rule's code, or the line under what a finding is about."""
        return self._sgr("1;31", text)

    def mark(self, text: str) -> str:
        """The parts that are about place or fixing."""
        return self._sgr("36", text)

    def gutter(self, text: str) -> str:
        return self._sgr("1;34", text)

    def _sgr(self, parameters: str, text: str) -> str:
        return f"\x1b[{parameters}m{text}\x1b[0m" if self.colour else text


Render = Callable[[Report, Style], Iterator[str]]


def render(name: str, report: Report, style: Style | None = None) -> Iterator[str]:
    """``report`` in the format ``name``, one of `FORMATS`, in pieces of text to be written one after the other."""
    chosen = cast(Render, import_module(f"torchlint.reporters.{name}").render)
    return chosen(report, style or Style())


def applies(fix: Fix, applicability: Applicability) -> bool:
    """Whether a run that applies fixes up to ``applicability`` applies ``fix``."""
    return fix.applicability is Applicability.SAFE or applicability is Applicability.UNSAFE
