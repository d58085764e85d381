"""The fixtures in other clothes: the same findings at the same statements."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from grammar import Choice
from mutations import MUTATIONS, Mutation, Statements, same_program

from forms import is_thorough
from torchlint.engine.linter import lint
from torchlint.engine.words import passes_sieve
from torchlint.rules import all_rules
from torchlint.text.source import Source, tree_of

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDERS = sorted(path.name for path in FIXTURES.iterdir() if (path / "bad.py").exists())

NAMES_ARE_EVIDENCE = frozenset({"TPL004", "TPL015", "TPL016", "TPL102", "TPL319", "TPL321", "TPL322", "TPL327", "TPL603"})
"""The rules that take a name for evidence where nothing else in the file tells what a value is: ``loss``, ``optimizer``.
Another name may then lose a finding; it never makes one."""

NOQA = re.compile("noqa", re.IGNORECASE)

Place = tuple[str, int]


@cache
def places(text: str) -> Counter[Place]:
    """The code of each finding, and the number of the statement that it is in."""
    statements = Statements.of(tree_of(text))
    lines = text.split("\n")
    found: Counter[Place] = Counter()
    for each in lint(Source(text), all_rules()):
        before = lines[each.location.row - 1][: each.location.column - 1]
        found[each.code, statements.at((each.location.row, len(before.encode())))] += 1
    return found


@cache
def original(path: Path) -> tuple[str, Counter[Place]]:
    text = path.read_bytes().decode()
    return text, places(text)


def files(folder: str) -> list[Path]:
    """``bad.py``, and under the thorough profile ``good.py`` as well."""
    names = ("bad.py", "good.py") if is_thorough() else ("bad.py",)
    return [FIXTURES / folder / name for name in names]


CASES = [
    pytest.param(folder, name, mutation, is_layout, id=f"{folder}-{name}")
    for number, folder in enumerate(FOLDERS)
    for turn, (name, mutation, is_layout) in enumerate(MUTATIONS, number)
    if is_thorough() or turn % 2
]
"""Each fixture with each mutation; or with every other, in turn, so that each mutation is tried on half of the fixtures."""


@pytest.mark.parametrize(("folder", "name", "mutation", "is_layout"), CASES)
def test_mutated_fixtures_have_the_same_findings(folder: str, name: str, mutation: Mutation, is_layout: bool) -> None:
    for path in files(folder):
        text, before = original(path)
        if NOQA.search(text) and name.startswith(("breaks", "continuations", "comments in brackets")):
            continue  # what a noqa comment speaks for is a matter of lines
        mutated = mutation(text, Choice(random.Random(folder).randrange))
        if is_layout:
            assert same_program(text, mutated)
        after = places(mutated)
        new, lost = after - before, before - after
        if name == "names":
            lost = Counter({place: count for place, count in lost.items() if place[0] not in NAMES_ARE_EVIDENCE})
        assert (new, lost) == (Counter(), Counter())


# --- one finding at a time -------------------------------------------------------------------------------------------

LAYOUTS = [(name, mutation) for name, mutation, is_layout in MUTATIONS if is_layout]
ENTRIES = {rule.code: rule for rule in all_rules()}


@cache
def finds(code: str, text: str) -> bool:
    """Whether a rule finds anything in a text, whatever its triggers say."""
    return bool(lint(Source(text), [ENTRIES[code]], suppress=False, triggers=False))


def alone(text: str, row: int, code: str) -> str | None:
    """The statement of a module that a row is in, with its imports if need be; ``None`` if the finding needs more."""
    lines = text.split("\n")
    statements = [
        (
            node,
            "\n".join(
                lines[min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]) - 1 : node.end_lineno]
            ),
        )
        for node in tree_of(text).body
    ]
    imports = [statement for node, statement in statements if isinstance(node, (ast.Import, ast.ImportFrom))]
    for node, statement in statements:
        if node.lineno <= row <= (node.end_lineno or 0):
            candidates = [f"{statement}\n", "\n".join([*imports, statement, ""])]
            return next((candidate for candidate in candidates if finds(code, candidate)), None)
    return None


@pytest.mark.parametrize("folder", FOLDERS)
def test_screens_let_each_finding_through_alone(folder: str) -> None:
    """In the whole file another finding, or a comment, may be what the screen lets through."""
    text, _ = original(FIXTURES / folder / "bad.py")
    code = folder[:6].upper()
    rows = sorted({found.location.row for found in lint(Source(text), [ENTRIES[code]], suppress=False, triggers=False)})
    for number, row in enumerate(rows):
        if (statement := alone(text, row, code)) is None:
            continue
        layouts = LAYOUTS if is_thorough() else [LAYOUTS[(number + turn) % len(LAYOUTS)] for turn in range(3)]
        for name, mutation in layouts:
            mutated = mutation(statement, Choice(random.Random(row).randrange))
            assert passes_sieve(mutated.encode(), [ENTRIES[code]]) or not finds(code, mutated), (name, mutated)
