"""One text to its diagnostics: the only way there is, used by the command, the flake8 plugin, tests and library users."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from torchlint.diagnostic import Diagnostic, FileError
from torchlint.engine.sieve import Raw, triggered
from torchlint.options import DEFAULTS, Options
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.comment_rule import CommentRule
from torchlint.semantics import Semantics
from torchlint.text.comments import keeps_comments
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source, SourceError

_OTHER_LIBRARIES = (
    *(b"chainer", b"cupy", b"jax", b"jittor", b"keras", b"mindspore", b"mxnet", b"oneflow", b"paddle", b"pandas", b"scipy"),
    *(b"sklearn", b"sympy", b"tensorflow", b"theano"),
)
_IMPORTS_OTHER = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(?:" + b"|".join(_OTHER_LIBRARIES) + rb")\b", re.MULTILINE)
_IMPORTS_TORCH = re.compile(rb"^[ \t]*(?:import|from)[ \t].*(?:(?<!py)torch|lightning|fastai)", re.MULTILINE)

_RECURSION_LIMIT = 6000
"""Deep enough for every program that Python's own parser takes, within what it has room for on its stack."""


def passes_sieve(data: bytes, rules: Iterable[Entry]) -> bool:
    """Whether any of ``rules`` could find something in a file with these bytes."""
    return any(map(Raw(data).may_hold, rules)) and not _is_foreign(data)


def _is_foreign(data: bytes) -> bool:
    """Whether a file imports another library whose objects have a ``data`` or a ``backward``, and not torch."""
    if not any(name in data for name in _OTHER_LIBRARIES):
        return False
    return _IMPORTS_OTHER.search(data) is not None and _IMPORTS_TORCH.search(data) is None


def lint(
    source: Source,
    rules: Sequence[Entry],
    options: Options = DEFAULTS,
    *,
    suppress: bool = True,
    triggers: bool = True,
) -> list[Diagnostic]:
    """The findings of ``rules`` in ``source`` that no noqa comment suppresses, in the order of the text.

    With ``suppress`` off, noqa comments are left to the caller. With ``triggers`` off, every rule is shown the whole file under
    libcst's own traversal: the same findings, slowly. Raises `SourceError` where the text is not Python.
    """
    data = source.text.encode("utf-8", "surrogatepass")
    awake = _awake(rules, data, options, triggers=triggers)
    if not awake or _is_foreign(data):
        return []
    suppressions = Suppressions(source)
    try:
        with _recursion_headroom():
            found = _Run(source, data, suppressions, options, triggers=triggers).findings(rules, awake)
    except RecursionError:
        raise SourceError(FileError(source.filename, "cannot lint: the code is nested too deeply")) from None
    kept = [each for each in found if not (suppress and suppressions.covers(each.code, each.location.row))]
    offered = [each if _is_offered(each, source, options) else replace(each, fix=None) for each in kept]
    return sorted(offered, key=lambda diagnostic: diagnostic.order)


def _awake(rules: Iterable[Entry], data: bytes, options: Options, *, triggers: bool) -> list[Entry]:
    """Those of ``rules`` that could find something in a text with these bytes."""
    raw = Raw(data)
    return [rule for rule in rules if rule.since <= options.target and (not triggers or raw.may_hold(rule))]


class _Run:
    """Runs rules on one text."""

    def __init__(self, source: Source, data: bytes, suppressions: Suppressions, options: Options, *, triggers: bool) -> None:
        self._source = source
        self._data = data
        self._suppressions = suppressions
        self._options = options
        self._semantics = Semantics(source.tree)
        self._triggers = triggers

    def findings(self, rules: Sequence[Entry], awake: Sequence[Entry]) -> list[Diagnostic]:
        """What ``rules`` find, suppressed or not; those of them that are ``awake`` are run."""
        found = self._visited([rule for rule in awake if not rule.is_about_comments])
        strongest = without_yielding({rule: found.get(rule.code, []) for rule in awake})

        def findings_of(wanted: Sequence[Entry]) -> list[Diagnostic]:
            codes = {rule.code for rule in wanted}
            others = [rule for rule in wanted if rule not in rules]
            awake = _awake(others, self._data, self._options, triggers=self._triggers)
            more = self.findings(others, awake) if others else []
            return [each for each in strongest if each.code in codes] + more

        return strongest + [each for rule in awake if rule.is_about_comments for each in self._reviewed(rule, findings_of)]

    def _visited(self, rules: Sequence[Entry]) -> dict[str, list[Diagnostic]]:
        """What rules about nodes find, by their codes."""
        shown = triggered(self._semantics, rules) if self._triggers else {}
        if self._triggers and not shown:
            return {}  # and neither libcst nor a rule is imported
        from torchlint.engine.looking import Looking

        looking = Looking(self._source, self._semantics, self._suppressions, self._options)
        return looking.at(shown) if self._triggers else looking.at_everything(rules)

    def _reviewed(self, rule: Entry, findings_of: Callable[[Sequence[Entry]], list[Diagnostic]]) -> list[Diagnostic]:
        """What a rule about comments finds."""
        made = rule.load()
        assert issubclass(made, CommentRule)
        running = made(self._source, self._suppressions, all_rules(self._options.plugins))
        running.review(findings_of)
        return running.diagnostics


def _is_offered(diagnostic: Diagnostic, source: Source, options: Options) -> bool:
    """Whether a finding's fix may be made."""
    fix = diagnostic.fix
    return fix is None or (diagnostic.code not in options.unfixable and source.allows(fix) and keeps_comments(fix, source))


def without_yielding(found: Mapping[Entry, list[Diagnostic]]) -> list[Diagnostic]:
    """The findings of all rules, but for those at places of which another rule says more."""
    by_code = {rule.code: diagnostics for rule, diagnostics in found.items()}
    kept: list[Diagnostic] = []
    for rule, diagnostics in found.items():
        stronger = [diagnostic for code in rule.yields_to for diagnostic in by_code.get(code, ())]
        kept += [each for each in diagnostics if not any(_overlap(each, other) for other in stronger)]
    return kept


def _overlap(one: Diagnostic, other: Diagnostic) -> bool:
    return one.location < other.end_location and other.location < one.end_location


@contextmanager
def _recursion_headroom() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
