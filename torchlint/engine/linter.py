"""One text to its diagnostics: the only way there is, used by the command, the flake8 plugin, tests and library users."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from torchlint.diagnostic import Diagnostic, FileError
from torchlint.options import DEFAULTS, Options
from torchlint.rules import Rule
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
"""Deep enough for every program that Python's own parser takes, within what Python 3.10 has room for on its stack."""


def passes_screen(data: bytes, rules: Iterable[type[Rule]]) -> bool:
    """Whether any of ``rules`` could find something in a file with these bytes."""
    return any(rule.screen.passes(data) for rule in rules) and not _is_foreign(data)


def _is_foreign(data: bytes) -> bool:
    """Whether a file imports another library whose objects have a ``data`` or a ``backward``, and not torch."""
    if not any(name in data for name in _OTHER_LIBRARIES):
        return False
    return _IMPORTS_OTHER.search(data) is not None and _IMPORTS_TORCH.search(data) is None


def lint(
    source: Source, rules: Sequence[type[Rule]], options: Options = DEFAULTS, *, suppress: bool = True
) -> list[Diagnostic]:
    """The findings of ``rules`` in ``source`` that no noqa comment suppresses, in the order of the text.

    With ``suppress`` off, noqa comments are left to the caller. Raises `SourceError` where the text is not Python.
    """
    data = source.text.encode("utf-8", "surrogatepass")
    screened = _screened(rules, data, options)
    if not screened or _is_foreign(data):
        return []
    suppressions = Suppressions(source)
    try:
        with _recursion_headroom():
            found = _Run(source, data, suppressions, options).findings(rules, screened)
    except RecursionError:
        raise SourceError(FileError(source.filename, "cannot lint: the code is nested too deeply")) from None
    kept = [each for each in found if not (suppress and suppressions.covers(each.code, each.location.row))]
    offered = [each if _is_offered(each, source, options) else replace(each, fix=None) for each in kept]
    return sorted(offered, key=lambda diagnostic: diagnostic.order)


def _screened(rules: Iterable[type[Rule]], data: bytes, options: Options) -> list[type[Rule]]:
    """Those of ``rules`` that could find something in a text with these bytes."""
    return [rule for rule in rules if rule.since <= options.target and rule.screen.passes(data)]


class _Run:
    """Runs rules on one text."""

    def __init__(self, source: Source, data: bytes, suppressions: Suppressions, options: Options) -> None:
        self._source = source
        self._data = data
        self._suppressions = suppressions
        self._options = options
        self._semantics = Semantics(source.tree)

    def findings(self, rules: Sequence[type[Rule]], screened: Sequence[type[Rule]]) -> list[Diagnostic]:
        """What ``rules`` find, suppressed or not; those of them that are ``screened`` are run."""
        running = [rule(self._source, self._semantics, self._suppressions, self._options) for rule in screened]
        traverse(self._semantics.tree.nodes, running)
        found = without_yielding(running)

        def findings_of(wanted: Sequence[type[Rule]]) -> list[Diagnostic]:
            codes = {rule.code for rule in wanted}
            others = [rule for rule in wanted if rule not in rules]
            more = self.findings(others, _screened(others, self._data, self._options)) if others else []
            return [each for each in found if each.code in codes] + more

        return found + [diagnostic for rule in running for diagnostic in rule.review(findings_of)]


def _is_offered(diagnostic: Diagnostic, source: Source, options: Options) -> bool:
    """Whether a finding's fix may be made."""
    fix = diagnostic.fix
    return fix is None or (diagnostic.code not in options.unfixable and source.allows(fix) and keeps_comments(fix, source))


def without_yielding(rules: Iterable[Rule]) -> list[Diagnostic]:
    """The findings of all rules, but for those at places of which another rule says more."""
    found = {rule.code: rule.diagnostics for rule in rules}
    kept: list[Diagnostic] = []
    for rule in rules:
        stronger = [diagnostic for code in rule.yields_to for diagnostic in found.get(code, ())]
        kept += [each for each in rule.diagnostics if not any(_overlap(each, other) for other in stronger)]
    return kept


def _overlap(one: Diagnostic, other: Diagnostic) -> bool:
    return one.location < other.end_location and other.location < one.end_location


def traverse(nodes: Iterable[ast.AST], rules: Sequence[Rule]) -> None:
    """Hands each node to the visit methods for its type, once for all rules, and then lets each rule finish."""
    visitors: dict[type[ast.AST], list[Callable[[Any], None]]] = defaultdict(list)
    for rule in rules:
        for node_type, name in _visit_methods(type(rule)):
            visitors[node_type].append(getattr(rule, name))
    for node in nodes:
        visits = visitors.get(type(node))
        if visits is None or getattr(node, "end_lineno", 0) is None:
            continue  # the latter is a part of an f-string whose place is not known (torchlint.text.fstrings)
        for visit in visits:
            visit(node)
    for rule in rules:
        rule.finish()


@cache
def _visit_methods(rule: type[Rule]) -> tuple[tuple[type[ast.AST], str], ...]:
    """The names of a rule's visit methods, with the types of the nodes that each is for."""
    names = [name for name in dir(rule) if name.startswith("visit_")]
    return tuple((getattr(ast, name.removeprefix("visit_")), name) for name in names)


@contextmanager
def _recursion_headroom() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
