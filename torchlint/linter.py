"""One text to its diagnostics: the only way there is, used by the command, the flake8 plugin, tests and library users."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from torchlint.diagnostic import Diagnostic
from torchlint.rules import Rule
from torchlint.semantics import Semantics
from torchlint.source import Source
from torchlint.suppression import suppressed

Visitor = Callable[[ast.AST], None]


def passes_screen(data: bytes, rules: Iterable[type[Rule]]) -> bool:
    """Whether any of ``rules`` could find something in a file with these bytes."""
    return any(rule.screen.passes(data) for rule in rules)


def lint(source: Source, rules: Sequence[type[Rule]]) -> list[Diagnostic]:
    """The findings of ``rules`` in ``source`` that no noqa comment suppresses, in the order of the text.

    Raises `SourceError` where the text is not Python.
    """
    data = source.text.encode("utf-8", "surrogatepass")
    screened = [rule for rule in rules if rule.screen.passes(data)]
    if not screened:
        return []
    semantics = Semantics(source)
    running = [rule(source, semantics) for rule in screened]
    traverse(source.tree, running)
    found = [diagnostic for rule in running for diagnostic in rule.diagnostics]
    return sorted(suppressed(found, source), key=lambda diagnostic: diagnostic.order)


def traverse(tree: ast.AST, rules: Sequence[Rule]) -> None:
    """Hands every node of ``tree`` to the visit methods for its type, in the order of the text, once for all rules."""
    visitors: dict[str, list[Visitor]] = defaultdict(list)
    for rule in rules:
        for name in dir(rule):
            if name.startswith("visit_"):
                visitors[name.removeprefix("visit_")].append(getattr(rule, name))
    raise NotImplementedError
