"""Rules that are not libcst visitors yet."""

from __future__ import annotations

import ast
from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from torchlint.diagnostic import Applicability, Diagnostic, Edit, Fix
from torchlint.fixes.fstring_fields import fields_of
from torchlint.options import DEFAULTS, Options
from torchlint.rules.screens import Screen
from torchlint.semantics import Semantics
from torchlint.target import TorchVersion
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

if TYPE_CHECKING:
    from torchlint.rules.comment_rule import CommentRule
    from torchlint.rules.rule import Rule

AnyRule: TypeAlias = "AstRule | Rule | CommentRule"


class AstRule(ABC):
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
        """A fix from ``edits``: (start offset, end offset, new text) each. One that changes what is printed is not ``safe``."""
        fields = fields_of(self.source, self.semantics)
        safe = safe and not any(fields.prints_code(start, end) for start, end, _ in edits)
        fitting = {(start, end, fields.with_fitting_quotes(start, content)) for start, end, content in edits}
        located = tuple(
            Edit(self.source.location(start), self.source.location(end), content) for start, end, content in sorted(fitting)
        )
        return Fix(message, located, Applicability.SAFE if safe else Applicability.UNSAFE)
