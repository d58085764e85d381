"""Claims in circles: yes where nothing speaks against them, whatever was asked first."""

from __future__ import annotations

from itertools import permutations

import pytest

from torchlint.semantics.code.invariants import Invariants

Made = dict[str, list[str]]


def holding(made: Made, asked: tuple[str, ...]) -> set[str]:
    """Which of the values of a program are good: each is made of others, and ``bad`` is not."""
    invariants = Invariants[str](lambda name: name != "bad" and all(invariants.holds(part) for part in made[name]))
    return {name for name in asked if invariants.holds(name)}


@pytest.mark.parametrize(
    ("made", "good"),
    [
        ({"a": []}, {"a"}),
        ({"a": ["b"], "b": ["a"]}, {"a", "b"}),
        ({"a": ["b"], "b": ["a", "bad"], "bad": []}, set()),
        ({"a": ["b", "c"], "b": ["a"], "c": ["bad"], "bad": []}, set()),
        ({"a": ["b"], "b": ["c"], "c": ["b", "a"], "d": ["a", "bad"], "bad": []}, {"a", "b", "c"}),
        ({"a": ["b", "bad"], "b": ["c"], "c": ["b"], "bad": []}, {"b", "c"}),
        ({"a": ["b", "bad"], "b": ["a", "c"], "c": ["c"], "bad": []}, {"c"}),
    ],
)
def test_answers_do_not_depend_on_what_was_asked_first(made: Made, good: set[str]) -> None:
    for asked in permutations(made):
        assert holding(made, asked) == good
