"""How a run's result is written: one module per output format, each with a ``render`` function.

The command enters here. A format for people says with `marked` what each part of its text is, so that a terminal can show it.
Nothing here knows of the configuration or the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from torchlint.reporters.report import Marked, Report

FORMATS = ("full", "concise", "grouped", "json", "json-lines", "github", "gitlab", "sarif", "junit")
FOR_PEOPLE = ("full", "concise", "grouped")


def render(name: str, report: Report) -> Iterator[str]:
    """``report`` in the format ``name``, one of `FORMATS`, in pieces of text to be written one after the other."""
    module = import_module(f"torchlint.reporters.{name.replace('-', '_')}")
    return cast("Callable[[Report], Iterator[str]]", module.render)(report)


def marked(name: str, report: Report, width: int | None) -> Iterator[Marked]:
    """The same for one of the formats in `FOR_PEOPLE`, with its parts marked, for lines of ``width`` columns if it is given."""
    module = import_module(f"torchlint.reporters.{name}")
    return cast("Callable[[Report, int | None], Iterator[Marked]]", module.marked)(report, width)
