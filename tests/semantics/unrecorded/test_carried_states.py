"""Values whose graph a state holds: of each loop, the marked one."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.unrecorded.carried_states import CarriedStates


def is_held(body: str) -> bool:
    semantics, (value,) = marked(f"def f(cell, xs, h, c):\n  kept = []\n  for x in xs:\n    {body}\n")
    assert isinstance(value, ast.expr)
    return semantics.of(CarriedStates).hold(value)


@pytest.mark.parametrize(
    "body",
    [
        "y, (h, c) = cell(x, (h, c))\n    kept.append(«y»)",
        "y, h = cell(x, hx=h)\n    kept.append(«y»)",
        "h = cell(x, h)\n    kept.append(«h»)",
        "h, c = cell(x, [h, c])\n    kept.append(«h»)",
    ],
)
def test_what_the_next_step_is_given(body: str) -> None:
    assert is_held(body)


@pytest.mark.parametrize(
    "body",
    [
        "y, h = cell(x, h)\n    h = h.detach()\n    kept.append(«y»)",
        "y, h = cell(x, h)\n    y = y.exp()\n    kept.append(«y»)",
        "y, s = cell(x, h)\n    kept.append(«y»)",
        "y = cell(x)\n    kept.append(«y»)",
        "h = h + x\n    kept.append(«h»)",
        "y, h = cell(x, h)\n    kept.append(«y + 1»)",
    ],
)
def test_what_it_is_not(body: str) -> None:
    assert not is_held(body)
