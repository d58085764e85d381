"""Diagnostics to new text.

The fixes of one round do not overlap; what they make of the text is linted again, and so on until nothing changes. Dropped
are a fix whose result would not be Python, and all fixes of rules that never come to an end.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from torchlint.diagnostic import Applicability, Diagnostic, Edit, FileError, applies
from torchlint.engine.linter import lint
from torchlint.options import DEFAULTS, Options
from torchlint.rules.catalogue import Entry
from torchlint.text.source import Source

_ROUNDS = 100
"""How many rounds may pass in which the findings become no fewer."""

if TYPE_CHECKING:
    from torchlint.project.reading import Reading


@dataclass(frozen=True, slots=True)
class FixResult:
    """What `fix` made of a text.

    ``text`` is the new text, ``fixed`` the findings whose fixes were applied, as they were when their turn came, ``remaining``
    the findings that the new text has, ``broken`` those whose fixes were dropped, because the result would not have been valid
    Python or would have been fixed again without end, ``errors`` those of the statements, and of the cells of a notebook, that
    were passed over.
    """

    text: str
    fixed: tuple[Diagnostic, ...]
    remaining: tuple[Diagnostic, ...]
    broken: tuple[Diagnostic, ...] = ()
    errors: tuple[FileError, ...] = ()


def fix(
    source: Source,
    rules: Sequence[Entry],
    applicability: Applicability = Applicability.SAFE,
    options: Options = DEFAULTS,
    *,
    suppress: bool = True,
    wanted: Callable[[list[Diagnostic]], list[Diagnostic]] = list,
    reading: Reading | None = None,
) -> FixResult:
    """``source`` with the fixes of ``rules`` applied, round after round until nothing changes.

    With `Applicability.UNSAFE` unsafe fixes are applied as well; with ``suppress`` off, noqa comments do not count. ``wanted``
    chooses among the findings of each round; the ``reading`` is that of the project, if there is one. Raises `SourceError`
    where the text is not Python.
    """
    endless: dict[str, Diagnostic] = {}
    while True:  # ends, as each time around another rule is without its fixes
        try:
            less = options._replace(unfixable=options.unfixable | endless.keys())
            result = _fix(source, applicability, partial(_findings, rules, less, suppress, wanted, reading))
            return replace(result, broken=(*endless.values(), *result.broken))
        except _EndlessError as error:
            endless |= {found.code: found for found in error.diagnostics}


def _findings(
    rules: Sequence[Entry],
    options: Options,
    suppress: bool,
    wanted: Callable[[list[Diagnostic]], list[Diagnostic]],
    reading: Reading | None,
    source: Source,
) -> list[Diagnostic]:
    return wanted(lint(source, rules, options, suppress=suppress, reading=reading))


class _EndlessError(Exception):
    """Findings that still had a fix after the last round."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        super().__init__()
        self.diagnostics = tuple(diagnostics)


def _fix(source: Source, applicability: Applicability, findings: Callable[[Source], list[Diagnostic]]) -> FixResult:
    """``source`` with its fixes applied, round after round; raises `_EndlessError`."""
    fixed: list[Diagnostic] = []
    broken: dict[tuple[str, str], Diagnostic] = {}
    found = findings(source)
    chosen: list[Diagnostic] = []
    fewest, idle = len(found), 0
    while idle < _ROUNDS:
        chosen = _compatible(
            diagnostic
            for diagnostic in found
            if diagnostic.fix is not None and applies(diagnostic.fix, applicability) and _key(diagnostic) not in broken
        )
        if not chosen:
            return FixResult(source.text, tuple(fixed), tuple(found), tuple(broken.values()), source.passed_over)
        text = apply(source, chosen)
        if not source.is_sound(text):
            culprits = [diagnostic for diagnostic in chosen if not source.is_sound(apply(source, [diagnostic]))] or chosen
            broken.update({_key(diagnostic): source.located(diagnostic) for diagnostic in culprits})
            continue  # with fewer to choose from
        fixed.extend(map(source.located, chosen))
        source = source.with_text(text)
        found = findings(source)
        idle = 0 if len(found) < fewest else idle + 1
        fewest = min(fewest, len(found))
    raise _EndlessError(map(source.located, chosen))


def _key(diagnostic: Diagnostic) -> tuple[str, str]:
    """What tells a finding whose fix failed once when it is met again, on whatever line."""
    return (diagnostic.code, diagnostic.snippet)


def _compatible(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings, in their order, whose edits do not clash with those of the ones before; equal edits are shared."""
    chosen: list[Diagnostic] = []
    taken: list[Edit] = []  # sorted; none clashes with another, so that a new one can clash with its neighbours only
    seen: set[Edit] = set()
    for diagnostic in diagnostics:
        assert diagnostic.fix is not None
        new = [edit for edit in diagnostic.fix.edits if edit not in seen]
        if not any(_clash(edit, other) for edit in new for other in _neighbours(edit, taken)):
            chosen.append(diagnostic)
            seen.update(new)
            for edit in new:
                insort(taken, edit)
    return chosen


def _neighbours(edit: Edit, edits: Sequence[Edit]) -> Sequence[Edit]:
    """The last of the sorted ``edits`` before ``edit`` and the first behind it."""
    place = bisect_left(edits, edit)
    return edits[max(place - 1, 0) : place + 1]


def _clash(one: Edit, other: Edit) -> bool:
    """Whether two different edits cannot both be made: they overlap, or insert at the same place."""
    if one.location == other.location:
        return True
    first, second = sorted((one, other))
    return second.location < first.end_location


def apply(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """The text with the fixes of ``diagnostics``, which must not clash, applied."""
    return source.edited(edit for diagnostic in diagnostics if diagnostic.fix is not None for edit in diagnostic.fix.edits)
