"""How a run's result is written: one module per output format, each with a ``render`` function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from torchlint.reporters.report import Report, Style

FORMATS = ("full", "concise", "grouped", "json", "json-lines", "github", "gitlab", "sarif", "junit")


def render(name: str, report: Report, style: Style) -> Iterator[str]:
    """``report`` in the format ``name``, one of `FORMATS`, in pieces of text to be written one after the other."""
    module = f"torchlint.reporters.{name.replace('-', '_')}"
    chosen = cast("Callable[[Report, Style], Iterator[str]]", import_module(module).render)
    return chosen(report, style)
