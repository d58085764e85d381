"""A program's files with their fixes applied, each file alone, and what that did."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules import own_rules
from torchlint.rules.catalogue import Entry
from torchlint.text.source import Source

RULES = own_rules()
"""All rules, also those that are off unless they are asked for."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A program behind its fixes: its files, how many fixes of each rule were applied, and the rules that found something."""

    files: dict[str, str]
    applied: Counter[str]
    found: frozenset[str]


def fixed(
    files: Mapping[str, str],
    rules: Sequence[Entry] = RULES,
    applicability: Applicability = Applicability.SAFE,
) -> Fixed:
    """The program with the fixes of ``rules`` applied, repeated until nothing changes."""
    texts: dict[str, str] = {}
    applied: Counter[str] = Counter()
    found: set[str] = set()
    for name, text in files.items():
        result = fix(Source(text, name), rules, applicability)
        texts[name] = result.text
        applied.update(diagnostic.code for diagnostic in result.fixed)
        found |= {diagnostic.code for diagnostic in (*result.fixed, *result.remaining, *result.broken)}
    return Fixed(texts, applied, frozenset(found))


def found_at_first(files: Mapping[str, str], rules: Sequence[Entry] = RULES) -> set[str]:
    """The rules that find something in the program as it is, also what the fix of another rule takes away."""
    return {diagnostic.code for name, text in files.items() for diagnostic in lint(Source(text, name), rules)}


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What became of a program's files, as a unified diff."""
    return "".join(difference(before[name], after[name], name) for name in before)


def difference(before: str, after: str, name: str) -> str:
    """A unified diff of two texts; nothing where they are the same."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"{name} before", f"{name} after", lineterm="", n=2)
    return "".join(f"{line}\n" for line in lines)
