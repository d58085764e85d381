"""Gradients that are lent to another model, and that nothing zeroes: the marked backward, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.steps.lent_gradients import LentOut

TEXT = """
import torch
from elsewhere import Net

def train(shared, batches):
    {outside}
    optimizer = torch.optim.SGD(shared.parameters(), lr=0.1)
    for x, y in batches:
        {inside}
        loss = torch.nn.functional.mse_loss(own(x), y)
        {zero}
        «loss.backward()»
        for theirs, mine in zip(shared.parameters(), own.parameters()):
            {lends}
        optimizer.step()
"""


def found(
    outside: str = "own = Net()",
    inside: str = "pass",
    zero: str = "optimizer.zero_grad()",
    lends: str = "theirs._grad = mine.grad",
) -> bool:
    semantics, (call,) = marked(TEXT.format(outside=outside, inside=inside, zero=zero, lends=lends))
    result = semantics.of(LentOut).found
    assert not result or list(result) == [call]
    assert all(ast.unparse(each.lender) == "own" and ast.unparse(each.borrower) == "shared" for each in result.values())
    return bool(result)


@pytest.mark.parametrize("lends", ["theirs._grad = mine.grad", "theirs.grad = mine.grad"])
def test_what_is_lent_and_not_zeroed(lends: str) -> None:
    assert found(lends=lends)
    assert found(lends=f"if theirs.grad is None:\n                {lends}")


@pytest.mark.parametrize(
    "zero",
    [
        "optimizer.zero_grad(); own.zero_grad()",
        "optimizer.zero_grad(set_to_none=False)",
        "pass",
        "optimizer.zero_grad()\n        for p in own.parameters(): p.grad = None",
        "optimizer.zero_grad()\n        for p in own.parameters(): p.grad.zero_()",
    ],
)
def test_what_is_zeroed_or_may_be(zero: str) -> None:
    assert not found(zero=zero)


def test_other_models_and_other_gradients() -> None:
    assert not found(outside="pass", inside="own = Net()")
    assert not found(lends="theirs.grad = mine.grad.clone()")
    assert not found(lends="theirs.data = mine.data")
