"""Accumulation of means: the marked backward passes are to be divided by a number of rounds, or there are none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.steps.accumulation import UnscaledAccumulation

LOOP = """
import torch
from torch import nn, optim
from torch.nn import functional as F
def train(model, loader, n, args):
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.{optimizer}(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        {loss}
        {backward}
        if {condition}:
            optimizer.step()
            {zero}
"""
LOSS, BACKWARD, CONDITION, ZERO = (
    "loss = criterion(model(x), y)",
    "loss.backward()",
    "(i + 1) % n == 0",
    "optimizer.zero_grad()",
)


def unscaled(
    loss: str = LOSS, backward: str = BACKWARD, condition: str = CONDITION, zero: str = ZERO, optimizer: str = "SGD"
) -> list[tuple[str, bool]]:
    """The number of rounds of each backward, and whether its optimizer does not mind."""
    snippet = LOOP.format(optimizer=optimizer, loss=loss, backward=backward, condition=condition, zero=zero)
    semantics, nodes = marked(snippet)
    found = semantics.of(UnscaledAccumulation).found
    assert list(found) == nodes
    return [(ast.unparse(each.rounds), each.is_even) for each in found.values()]


@pytest.mark.parametrize(
    "loss",
    [
        LOSS,
        "loss = F.mse_loss(model(x), y)",
        "loss = 2 * model(x).mean() + F.l1_loss(model(x), y)",
        "first = criterion(model(x), y); loss = first",
        "output = model(x, labels=y); loss = output.loss",
    ],
)
def test_means_add_up(loss: str) -> None:
    assert unscaled(loss, f"«{BACKWARD}»") == [("n", False)]


@pytest.mark.parametrize(
    ("condition", "rounds"),
    [("i % args.steps == 0 or not i", "args.steps"), ("not i % 8", "8"), ("i % args['n'] == 0", "args['n']")],
)
def test_the_number_of_rounds_is_that_of_the_condition(condition: str, rounds: str) -> None:
    assert unscaled(backward=f"«{BACKWARD}»", condition=condition) == [(rounds, False)]


@pytest.mark.parametrize(("optimizer", "even"), [("Adam", True), ("RMSprop", True), ("SGD", False)])
def test_some_optimizers_do_not_mind(optimizer: str, even: bool) -> None:
    assert unscaled(backward=f"«{BACKWARD}»", optimizer=optimizer) == [("n", even)]


@pytest.mark.parametrize(
    "loss",
    [
        "loss = criterion(model(x), y) / n",
        "loss = criterion(model(x), y); loss = loss / n",
        "loss = criterion(model(x), y); loss /= 4",
        "loss = F.mse_loss(model(x), y, reduction='sum')",
        "loss = F.mse_loss(model(x), y, **args)",
        "loss = model(x).sum()",
        "loss = model(x, y)",
        "loss = args.weight * criterion(model(x), y)",
        "output = model(x, y); loss = output.loss",
    ],
)
def test_what_is_divided_or_not_known_to_be_a_mean(loss: str) -> None:
    assert unscaled(loss) == []


@pytest.mark.parametrize("condition", ["i % 1 == 0", "n", "i > n", "i % n % 2 == 0"])
def test_conditions_that_count_to_no_number(condition: str) -> None:
    assert unscaled(condition=condition) == []


def test_a_number_that_is_reckoned_with_anywhere() -> None:
    assert unscaled(zero=f"{ZERO}\n            rate = 0.1 / n") == []


def test_gradients_that_are_not_wiped_for_the_step_alone() -> None:
    assert unscaled(backward=f"{ZERO}; {BACKWARD}") == []
    assert unscaled(zero="pass") == []
