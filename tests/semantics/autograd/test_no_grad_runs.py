"""Which statements share one ``no_grad``.

In the snippets, calls of ``need`` are the statements that go under it, those of ``bear`` may as well. What is expected are the
lines of the run around the statement in line ``at``.
"""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from torchlint.semantics.autograd.no_grad_runs import NoGradRuns, is_suspending
from torchlint.semantics.code.tree import Tree


def run(snippet: str, at: int, *, crowded: frozenset[int] = frozenset()) -> list[int]:
    """The lines on which the statements of a run start; those in lines that are ``crowded`` share them with other code."""
    tree = Tree(ast.parse(dedent(snippet).lstrip("\n")))

    def calls_of(name: str) -> set[ast.stmt]:
        return {each for each in tree.of_type(ast.Expr) if ast.unparse(each).startswith(f"{name}(")}

    runs = NoGradRuns(tree, calls_of("need"), calls_of("bear"), lambda statement: statement.lineno not in crowded)
    [statement] = [each for each in tree.of_type(ast.Expr) if each.lineno == at]
    return [each.lineno for each in runs.around(statement)]


@pytest.mark.parametrize(
    ("snippet", "lines"),
    [
        ("need()", [1]),
        ("need()\nneed()\nneed()", [1, 2, 3]),
        ("need()\nother()\nneed()", [1]),
        ("need()\nbear()\nneed()\nbear()", [1, 2, 3]),
        ("need()\nif x:\n    need()\nneed()", [1, 2, 4]),
        ("need()\nif x:\n    other()\nneed()", [1]),
        ("need()\nif f(x):\n    need()", [1]),
        ("need()\nfor p in x.parameters():\n    need()", [1, 2]),
        ("need()\nfor p in f(x):\n    need()", [1]),
        ("need()\nfor p in x:\n    need()\nelse:\n    need()", [1]),
        ("need()\nwhile x:\n    need()", [1]),
        ("need()\nfor p in x:\n    if p is None:\n        continue\n    need()", [1, 2]),
        ("need()\nif (y := x):\n    need()", [1]),
    ],
)
def test_neighbours(snippet: str, lines: list[int]) -> None:
    assert run(snippet, 1) == lines


@pytest.mark.parametrize(
    ("snippet", "at", "lines"),
    [
        ("for p in x:\n    need()", 2, [1]),
        ("for p in x:\n    need()\n    other()", 2, [2]),
        ("for p in x:\n    for q in p:\n        need()\n    need()", 3, [1]),
        ("if x:\n    need()\nelse:\n    need()", 2, [1]),
        ("if x:\n    need()", 2, [2]),
        ("if x:\n    bear()\nelse:\n    need()\n    need()", 4, [4, 5]),
        ("def f():\n    need()", 2, [2]),
    ],
)
def test_loops_and_conditions_around_it(snippet: str, at: int, lines: list[int]) -> None:
    assert run(snippet, at) == lines


def test_what_shares_its_lines_with_other_code() -> None:
    assert run("need(); need()\nneed()", 2, crowded=frozenset({1})) == [2]
    assert run("for p in x:\n    need()", 2, crowded=frozenset({2})) == [1]
    assert run("for p in x:\n    need()", 2, crowded=frozenset({1, 2})) == []


def test_what_does_not_have_to() -> None:
    assert run("need()\nother()\nneed()", 2) == []
    assert run("need()\nbear()", 2) == run("bear()\nneed()", 1) == []
    assert run("need()\nbear()\nneed()", 2) == [1, 2, 3]
    assert run("need()\nfor p in x:\n    bear()\nneed()", 3) == [1, 2, 4]


def test_long_runs_are_divided() -> None:
    snippet = "need()\n" * 120
    assert run(snippet, 1) == run(snippet, 50) == list(range(1, 51))
    assert run(snippet, 120) == list(range(101, 121))


@pytest.mark.parametrize(
    ("statement", "suspending"),
    [("f((yield))", True), ("x = await y", True), ("f((y := x))", True), ("x = y", False)],
)
def test_statements_that_hand_something_to_code_outside(statement: str, suspending: bool) -> None:
    [function] = ast.parse(f"async def f():\n    {statement}").body
    assert isinstance(function, ast.AsyncFunctionDef)
    assert is_suspending(function.body[0]) is suspending
