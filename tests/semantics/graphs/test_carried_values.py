"""Lists of callers and sums that come back: `carried_values`, asked about a marked name."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.graphs.carried_values import CarriedValues

ADD = "def add(x, kept):\n    «kept».append(x)\n"
SUM = "def add(x, sums):\n    total, n = sums\n    «total» += x\n    return total, n\n"


def asked(snippet: str) -> tuple[CarriedValues, ast.Name]:
    semantics, (name,) = marked(snippet)
    assert isinstance(name, ast.Name)
    return semantics.of(CarriedValues), name


@pytest.mark.parametrize(
    ("callers", "expected"),
    [
        ("", True),
        ("kept = []\nfor x in data:\n    add(x, kept)", True),
        ("for x in data:\n    add(x, self.kept)", True),
        ("for x in data:\n    kept = []\n    add(x, kept)", False),
        ("for x in data:\n    self.kept = []\n    add(x, self.kept)", False),
        ("for x in data:\n    add(x, [])", False),
        ("kept = []\nadd(x, kept)", False),
        ("for x in data:\n    add(*x)", False),
    ],
)
def test_lists_of_callers(callers: str, expected: bool) -> None:
    carried, name = asked(ADD + callers)
    assert carried.is_list_of_callers(name) is expected


@pytest.mark.parametrize("start", ["    kept = kept or []\n", "    kept = []\n"])
def test_a_list_of_its_own(start: str) -> None:
    carried, name = asked(ADD.replace("kept):\n", "kept=None):\n" + start))
    assert not carried.is_list_of_callers(name)


@pytest.mark.parametrize(
    ("callers", "expected"),
    [
        ("s = 0, 0\nfor x in data:\n    s = add(x, s)", True),
        ("s = 0, 0\nfor x in data:\n    s = add(sums=s, x=x)", True),
        ("s = 0, 0\nfor x in data:\n    t = add(x, s)", False),
        ("for x in data:\n    s = 0, 0\n    s = add(x, s)", False),
        ("s = 0, 0\ns = add(x, s)", False),
        ("", False),
    ],
)
def test_sums_that_come_back(callers: str, expected: bool) -> None:
    carried, name = asked(SUM + callers)
    assert carried.comes_back(name) is expected


@pytest.mark.parametrize(
    "text", [SUM.replace("return total, n", "return n"), SUM.replace("total, n = sums", "total, n = 0, 0")]
)
def test_sums_that_stay(text: str) -> None:
    carried, name = asked(text + "s = 0, 0\nfor x in data:\n    s = add(x, s)")
    assert not carried.comes_back(name)
