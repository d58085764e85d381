"""Where values come from."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.memory.origins import Origins


def comes_from_source(text: str) -> bool:
    """Whether the argument of ``sink(…)`` comes from a call of ``source()``."""
    semantics = Semantics(ast.parse(textwrap.dedent(text)))
    (sink,) = semantics.facts.calls["sink"]
    found = Origins(semantics).of(*sink.args)
    return any(isinstance(part, ast.Call) and ast.unparse(part.func) == "source" for part in found)


@pytest.mark.parametrize(
    "text",
    [
        "sink(source())",
        "x = source()\nsink(x)",
        "x = source()['a']['b']\nsink({'k': x})",
        "x = source()\ny = {k: v for k, v in x.items()}\nsink(y)",
        "y = {}\nfor k, v in source().items():\n    y[k] = v\nsink(y)",
        "y = {}\ny.update(source())\nsink(y)",
        "sink(clean(source()))",
        "def read():\n    return source()\nsink(read())",
        "def give(x):\n    sink(x)\ngive(source())",
        "class A:\n    def f(self):\n        self.x = source()\n    def g(self):\n        sink(self.x)",
        "with open(p) as f:\n    x = source()\nsink(x if x else None)",
    ],
)
def test_values_are_followed(text: str) -> None:
    assert comes_from_source(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = source()\nsink(y)",
        "x = source()\nx = 3\nsink(x)",
        "sink(build(source()).state_dict())",
        "sink(len(source()))",
        "x = source()\nsink([0 for _ in x])",
        "def read():\n    source()\nsink(read())",
        "class A:\n    def f(self):\n        self.x = source()\n    def g(self):\n        sink(self.y)",
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert not comes_from_source(text)
