"""Whether a variable is read once the statement has run that the marked name stands in."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.code.later_reads import LaterReads


def is_read(*lines: str) -> bool:
    semantics, (name,) = marked("def f(xs, x):\n" + "".join(f"    {line}\n" for line in lines))
    assert isinstance(name, ast.Name)
    return semantics.of(LaterReads).follow(semantics.tree.statement(name), name)


@pytest.mark.parametrize(
    "lines",
    [
        ("g(«x»)", "print(x)"),
        ("g(«x»)", "if xs:", "    return x"),
        ("for _ in xs:", "    print(x)", "    g(«x»)"),
        ("g(«x»)", "return lambda: x"),
    ],
)
def test_what_is_read(lines: tuple[str, ...]) -> None:
    assert is_read(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("print(x)", "g(«x»)"),
        ("g(«x», x)",),
        ("g(«x»)", "x = 1", "print(x)"),
        ("for x in xs:", "    print(x)", "    g(«x»)"),
        ("g(«x»)", "return 1", "print(x)"),
        ("g(«y»)", "print(y)"),
    ],
)
def test_what_is_not_read_or_another_functions(lines: tuple[str, ...]) -> None:
    assert not is_read(*lines)
