"""Diagnostics to new text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchlint.diagnostic import Applicability, Diagnostic
from torchlint.rules import Rule
from torchlint.source import Source


@dataclass(frozen=True, slots=True)
class FixResult:
    """What `fix` made of a text.

    ``text`` is the new text, ``fixed`` the findings whose fixes were applied, ``remaining`` the findings that the new text
    has, ``broken`` the findings whose fixes were dropped because the result would not have been valid Python.
    """

    text: str
    fixed: tuple[Diagnostic, ...]
    remaining: tuple[Diagnostic, ...]
    broken: tuple[Diagnostic, ...] = ()


def fix(source: Source, rules: Sequence[type[Rule]], applicability: Applicability = Applicability.SAFE) -> FixResult:
    """``source`` with the fixes of ``rules`` applied, round after round until nothing changes.

    With `Applicability.UNSAFE` unsafe fixes are applied as well. Raises `SourceError` where the text is not Python.
    """
    raise NotImplementedError
