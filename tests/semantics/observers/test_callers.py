"""Whether all callers of a function are in sight."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from torchlint.fact import CERTAIN, Fact
from torchlint.semantics import Semantics
from torchlint.semantics.observers.callers import Callers


def fact(text: str) -> Fact:
    """What is known of the callers of the function ``f``, or ``_f``, of a program."""
    semantics = Semantics(ast.parse(dedent(text)))
    [function] = [node for node in ast.walk(semantics.tree.module) if isinstance(node, ast.FunctionDef) and "f" in node.name]
    return semantics.of(Callers).fact(function)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x): ...\n\nf(1)\nprint(2)",
        "def f(x): ...\n\nfor _ in range(3):\n    f(1).backward()",
        "def _f(x): ...\n\ndef g():\n    _f(1)",
        "def g():\n    def f(x): ...\n    return f(1)",
        "class A:\n    def __init__(self):\n        self.apply(self._f)\n\n    def _f(self, m): ...",
        "def f(m): ...\n\nnet = Net()\nnet.apply(f)",
    ],
)
def test_in_sight(text: str) -> None:
    assert fact(text) == CERTAIN


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("def f(x): ...\n\nf(1)", "`f` may be called from elsewhere, between a forward and its backward"),
        (
            "def f(x): ...\n\nif __name__ == '__main__':\n    print(f(1))",
            "`f` may be called from elsewhere, between a forward and its backward",
        ),
        ("def f(x): ...\n\nprint(f)\nf(1)", "`f` is handed on, and may be called anywhere"),
        ("def _f(x): ...", "nothing here shows when `_f` is called"),
        ("@cached\ndef f(x): ...\n\nf(1)\nprint(2)", "`f` may be called from elsewhere"),
        (
            "class A:\n    def f(self): ...\n\n    def __init__(self):\n        self.f()",
            "`f` may be called from elsewhere, between a forward and its backward",
        ),
    ],
)
def test_not_in_sight(text: str, doubt: str) -> None:
    assert fact(text).doubt == doubt
