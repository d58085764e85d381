"""What rules find in a text that holds words of theirs: shown to them where there are triggers, weighed against each other.

`lint` imports this, and with it the semantics, for the first text that holds such words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Self

from torchlint.diagnostic import Diagnostic
from torchlint.engine.sieve import analysis_of, triggered
from torchlint.engine.words import awake_rules
from torchlint.options import Options
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.comment_rule import CommentRule
from torchlint.rules.selection import codes_of_names
from torchlint.rules.triggers import Found
from torchlint.semantics import Semantics
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

if TYPE_CHECKING:
    from torchlint.project.reading import Reading


class Findings:
    """Runs rules on one text, whose meaning is forgotten at once when it is left as a context."""

    def __init__(
        self,
        source: Source,
        data: bytes,
        options: Options,
        *,
        triggers: bool,
        fixes: bool,
        reading: Reading | None = None,
        around: Reading | None = None,
    ) -> None:
        self.suppressions = Suppressions(source, codes_of_names(all_rules(options.plugins)))
        self._source = source
        self._data = data
        self._options = options
        file = next((each.file for each in (reading, around) if each is not None), "")
        self._semantics = Semantics(source.tree, reading, file, around)
        self._triggers = triggers
        self._fixes = fixes

    @property
    def rest_on_others(self) -> bool:
        """Whether other files of the project said anything that the findings may rest on."""
        return self._semantics.elsewhere.has_said

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._semantics.let_go()

    def of(self, rules: Sequence[Entry], awake: Sequence[Entry]) -> list[Diagnostic]:
        """What ``rules`` find, suppressed or not; those of them that are ``awake`` are run."""
        found = self._visited([rule for rule in awake if not rule.is_about_comments])
        left_out = [
            each for rule in awake for each in found.get(rule.code, ()) if self._options.leaves_out(each.code, each.is_strict)
        ]
        strongest = without_yielding(
            {
                rule: [each for each in found.get(rule.code, ()) if not self._options.leaves_out(each.code, each.is_strict)]
                for rule in awake
            }
        )

        def findings_of(wanted: Sequence[Entry]) -> list[Diagnostic]:
            codes = {rule.code for rule in wanted}
            others = [rule for rule in wanted if rule not in rules]
            awake = awake_rules(others, self._data, self._options, triggers=self._triggers)
            more = self.of(others, awake) if others else []
            return [each for each in (*strongest, *left_out) if each.code in codes] + more

        return strongest + [each for rule in awake if rule.is_about_comments for each in self._reviewed(rule, findings_of)]

    def _visited(self, rules: Sequence[Entry]) -> dict[str, list[Diagnostic]]:
        """What rules about nodes find, by their codes."""
        lenient = () if self.suppressions.are_present else self._options.lenient  # a comment may speak of what is left out
        shown = triggered(self._semantics, self._data, rules, lenient) if self._triggers else {}
        if self._triggers and not shown:
            return {}  # and neither libcst nor a rule is imported
        from torchlint.engine.looking import Looking

        with Looking(self._source, self._semantics, self.suppressions, self._options, fixes=self._fixes) as looking:
            return looking.at(shown) if self._triggers else looking.at_everything(rules)

    def _reviewed(self, rule: Entry, findings_of: Callable[[Sequence[Entry]], list[Diagnostic]]) -> list[Diagnostic]:
        """What a rule about comments finds."""
        made = rule.load()
        assert issubclass(made, CommentRule)
        running = made(self._source, self.suppressions, all_rules(self._options.plugins))
        running.review(findings_of)
        return [each for each in running.diagnostics if not self._source.is_passed_over(each.location.row)]


def load(rules: Iterable[Entry]) -> None:
    """Imports what ``rules`` need, which is otherwise imported for the first statements that are shown to them."""
    import torchlint.engine.looking  # noqa: F401

    for rule in rules:
        rule.load()
        for trigger in rule.triggers:
            if isinstance(trigger, Found):
                analysis_of(trigger.analysis)
                if trigger.strict:
                    analysis_of(trigger.strict)


def settle(rules: Iterable[Entry]) -> None:
    """Imports what ``rules`` need, and has this process keep what texts that are looked at again and again have in common."""
    load(rules)
    from torchlint.model.statements import keep_trees

    keep_trees()


def without_yielding(found: Mapping[Entry, list[Diagnostic]]) -> list[Diagnostic]:
    """The findings of all rules, but for those at places of which another rule says more."""
    by_code = {rule.code: diagnostics for rule, diagnostics in found.items()}
    kept: list[Diagnostic] = []
    for rule, diagnostics in found.items():
        stronger = _Spans(diagnostic for code in rule.yields_to for diagnostic in by_code.get(code, ()))
        kept += [each for each in diagnostics if not stronger.overlap(each)]
    return kept


class _Spans:
    """The places of some findings, to be asked for often."""

    def __init__(self, findings: Iterable[Diagnostic]) -> None:
        spans = sorted((each.location, each.end_location) for each in findings)
        self._starts = [start for start, _ in spans]
        self._ends = list(accumulate((end for _, end in spans), max))
        """The last end of a span and of all those in front of it."""

    def overlap(self, finding: Diagnostic) -> bool:
        """Whether one of them overlaps with a finding."""
        before = bisect_left(self._starts, finding.end_location)
        return before > 0 and self._ends[before - 1] > finding.location
