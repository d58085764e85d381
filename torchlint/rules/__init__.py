"""The rules: what is wrong, why, and how to mend it.

A rule is one file below this package that defines one subclass of `Rule`; it is found by being there. It knows the
semantics of the code and nothing of files, formats or the command line.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from torchlint.diagnostic import Applicability, Diagnostic, Edit, Fix
from torchlint.options import DEFAULTS, Options
from torchlint.semantics import Semantics
from torchlint.source import Source
from torchlint.suppression import Suppressions
from torchlint.target import TorchVersion


@dataclass(frozen=True, slots=True)
class Screen:
    """A cheap necessary condition on a file's bytes: without it, the rule has nothing to find there.

    The bytes must hold one of ``any_of``, one of ``and_any_of``, and a match of ``pattern``, where these are given; ``check``
    has the last word.
    """

    any_of: tuple[bytes, ...]
    pattern: re.Pattern[bytes] | None = None
    check: Callable[[bytes], bool] | None = None
    and_any_of: tuple[bytes, ...] = ()

    def passes(self, data: bytes) -> bool:
        """Whether a file with these bytes could hold a finding."""
        if not _holds_any(data, self.any_of) or (self.and_any_of and not _holds_any(data, self.and_any_of)):
            return False
        if self.pattern is not None and self.pattern.search(data) is None:
            return False
        return self.check is None or self.check(data)


def _holds_any(data: bytes, parts: tuple[bytes, ...]) -> bool:
    for part in parts:  # noqa: SIM110 - a loop, as `any` of a generator takes several times as long
        if part in data:
            return True
    return False


class Rule(ABC):
    """One rule, instantiated once per file; its ``visit_*`` methods get the `ast` nodes of that type, in order.

    A subclass's docstring is the rule's documentation, in the sections "What it does", "Why is this bad", "Example",
    "Use instead", "Fix safety" and "References".
    """

    code: ClassVar[str]
    name: ClassVar[str]
    default: ClassVar[bool] = True
    """Whether the rule is on unless selected otherwise."""
    proven: ClassVar[bool] = True
    """Whether the rule has a hazard program; one that is about order in the text has nothing to show on torch."""
    screen: ClassVar[Screen]
    since: ClassVar[TorchVersion] = TorchVersion(0, 2)
    """The first torch that has what the rule recommends: for older targets the rule is silent."""
    yields_to: ClassVar[tuple[str, ...]] = ()
    """The rules that say more: where one of them reports a place that overlaps with a finding of this rule, it is dropped."""

    def __init__(self, source: Source, semantics: Semantics, suppressions: Suppressions, options: Options = DEFAULTS) -> None:
        self.source = source
        self.semantics = semantics
        self.suppressions = suppressions
        self.options = options
        self.diagnostics: list[Diagnostic] = []

    @property
    def target(self) -> TorchVersion:
        """The oldest torch that the code has to run on."""
        return self.options.target

    def finish(self) -> None:
        """Called when all nodes have been visited: for what only the whole file tells."""

    def review(self, findings_of: Callable[[Sequence[type[Rule]]], list[Diagnostic]]) -> list[Diagnostic]:
        """More findings, once all rules have run; ``findings_of`` gives what some rules find here, suppressed or not."""
        return []

    def report(
        self,
        node: ast.expr | ast.stmt | ast.keyword | ast.alias | ast.arg,
        message: str,
        fix: Fix | None = None,
    ) -> None:
        """Adds a finding that is about ``node``."""
        self.report_span(self.source.start(node), self.source.end(node), message, fix)

    def report_span(self, start_offset: int, end_offset: int, message: str, fix: Fix | None = None) -> None:
        """Adds a finding that is about a span of the text."""
        start = self.source.location(start_offset)
        self.diagnostics.append(
            Diagnostic(
                code=self.code,
                name=self.name,
                message=message,
                filename=self.source.filename,
                location=start,
                end_location=self.source.location(end_offset),
                fix=fix,
                snippet=self.source.line(start.row),
            )
        )

    def fix(self, message: str, edits: Sequence[tuple[int, int, str]], *, safe: bool) -> Fix:
        """A fix from ``edits``: (start offset, end offset, new text) each."""
        located = tuple(
            Edit(self.source.location(start), self.source.location(end), content) for start, end, content in sorted(set(edits))
        )
        return Fix(message, located, Applicability.SAFE if safe else Applicability.UNSAFE)


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule there is, sorted by code."""
    for module in pkgutil.walk_packages(__path__, __name__ + "."):
        importlib.import_module(module.name)
    return tuple(sorted(_subclasses(Rule), key=lambda rule: rule.code))


def _subclasses(base: type[Rule]) -> list[type[Rule]]:
    return [
        found for child in base.__subclasses__() for found in ([child] if hasattr(child, "code") else []) + _subclasses(child)
    ]
