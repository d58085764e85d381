"""What is done for a program grows with its length, and not with the square of it: calls of functions are counted, not time."""

from __future__ import annotations

import cProfile
from functools import cache

import pytest
from growth import CASES, START

from torchlint.diagnostic import Applicability
from torchlint.engine.runner import Action, Task, examine
from torchlint.rules import all_rules

SIZE = 60
SIZES = {"a global": 20}
"""Of what has many findings for each line."""
LIMIT = 7
"""Four times as long a program may take so many times as many calls: 4 is linear, 16 quadratic."""
FIXED = (
    *("data", "findings on one line", "accesses on one line", "accesses alone on one line", "accesses given to one call"),
    *("a long list", "one sum", "one comparison", "noqa comments", "elifs"),
)
"""What is fixed as well: many fixes in one line, one statement, one file."""


def calls(program: str, action: Action = Action.LINT) -> int:
    """How many functions are called while a program is linted, or fixed, with all the rules."""
    profile = cProfile.Profile()
    with profile:
        examine(program.encode(), "a.py", Task(all_rules(), action, Applicability.UNSAFE))
    return sum(entry.callcount for entry in profile.getstats())


@cache
def of_case(case: str, size: int) -> int:
    """How many functions are called while the program of a case is linted."""
    calls(START)  # what is done once for all files
    return calls(START + CASES[case](size))


@pytest.mark.parametrize("case", [case for case in CASES if case != "training code"])
def test_growth(case: str) -> None:
    size = SIZES.get(case, SIZE)
    small, large = (of_case(case, size) for size in (size, 4 * size))
    assert large < LIMIT * small


def test_training_code_takes_no_more_a_line_in_longer_files() -> None:
    """Twice the definitions take twice the calls: a look at every name of the file for each function made it 2.8 times."""
    small, large = (of_case("training code", size) for size in (2 * SIZE, 4 * SIZE))
    assert large < 2.1 * small


@pytest.mark.parametrize("case", FIXED)
def test_growth_of_fixing(case: str) -> None:
    calls(START, Action.FIX)
    small, large = (calls(START + CASES[case](size), Action.FIX) for size in (SIZE, 4 * SIZE))
    assert large < LIMIT * small
