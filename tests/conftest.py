"""How many tests run, how many examples the property tests try, and how many threads torch computes with."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

_CHECKS = list(HealthCheck)  # programs take their time to make
settings.register_profile(  # the same examples each time; what fails is shrunk under the other profile
    "quick",
    max_examples=20,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=_CHECKS,
)
settings.register_profile("thorough", max_examples=500, deadline=None, suppress_health_check=_CHECKS)
settings.load_profile("quick")

os.environ.setdefault("OMP_NUM_THREADS", "1")
"""What torch is asked here is small, and threads that wait for it take as much time again."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--every 3`` runs a third of the tests: the first of each file, and each third one behind it."""
    parser.addoption("--every", type=int, default=1, metavar="N", help="run each Nth test of a file, from its first on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    every: int = config.getoption("--every")
    turns: dict[str, int] = {}
    chosen: list[pytest.Item] = []
    rest: list[pytest.Item] = []
    for item in items:
        turn = turns[item.location[0]] = turns.get(item.location[0], -1) + 1
        (rest if turn % every else chosen).append(item)
    items[:] = chosen
    if rest:
        config.hook.pytest_deselected(items=rest)
