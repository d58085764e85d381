"""Clippings that no step sees: the marked calls are, too early or too late, or there are none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.steps.clipping import Clippings

HEAD = """\
import torch
from torch import optim
from torch.nn.utils import clip_grad_norm_
from elsewhere import helper
def train(model, loader, n):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for i, x in enumerate(loader):
"""
ZERO, BACKWARD, STEP = "optimizer.zero_grad()", "model(x).sum().backward()", "optimizer.step()"
CLIP, UNMARKED = "«clip_grad_norm_(model.parameters(), 1)»", "clip_grad_norm_(model.parameters(), 1)"


def idle(*statements: str, behind: str = "") -> list[tuple[bool, bool]]:
    """Of each clipping that is idle, whether it is early, and whether it can be moved."""
    lines = [f"        {line}" for statement in statements for line in statement.split("\n")]
    semantics, nodes = marked(HEAD + "\n".join(lines) + "\n" + behind)
    found = semantics.of(Clippings).idle
    assert list(found) == nodes
    return [(each.is_early, isinstance(each.moved, ast.Expr)) for each in found.values()]


@pytest.mark.parametrize(
    "order",
    [
        (ZERO, BACKWARD, STEP, CLIP),
        (BACKWARD, STEP, CLIP, ZERO),
        ("model.zero_grad()", BACKWARD, STEP, CLIP),
        (ZERO, BACKWARD, STEP, "print(x)", CLIP),
        (ZERO, BACKWARD, "torch.save(optimizer.state_dict(), 'x')", STEP, CLIP),
    ],
)
def test_behind_the_step(order: tuple[str, ...]) -> None:
    assert idle(*order) == [(False, True)]


def test_behind_the_step_in_a_block_of_its_own() -> None:
    assert idle(ZERO, BACKWARD, STEP, f"if n:\n    {CLIP}") == [(False, False)]


@pytest.mark.parametrize("order", [(ZERO, CLIP, BACKWARD, STEP), (BACKWARD, STEP, ZERO, CLIP)])
def test_before_the_backward(order: tuple[str, ...]) -> None:
    assert idle(*order) == [(True, False)]


@pytest.mark.parametrize(
    "order",
    [
        (ZERO, BACKWARD, UNMARKED, STEP),
        (BACKWARD, UNMARKED, STEP, ZERO),
        (BACKWARD, STEP, UNMARKED),
        (ZERO, BACKWARD, STEP, UNMARKED, STEP),
        (ZERO, BACKWARD, STEP, UNMARKED, "helper(optimizer)"),
        (ZERO, BACKWARD, UNMARKED, ZERO, BACKWARD, STEP),  # no step has used these: they are wiped
        (ZERO, BACKWARD, STEP, UNMARKED, "optimizer.inner.step()"),
        (f"if i % n == 0:\n    {STEP}\n    {ZERO}", BACKWARD, UNMARKED),
        (ZERO, BACKWARD, STEP, UNMARKED.replace("model.parameters()", "labels")),
        (
            "other = optim.SGD(n.parameters())",
            ZERO,
            "other.zero_grad()",
            BACKWARD,
            STEP,
            UNMARKED.replace("model.", "n."),
            "other.step()",
        ),
    ],
)
def test_where_a_step_may_see_it(order: tuple[str, ...]) -> None:
    assert idle(*order) == []


def test_the_step_of_a_function_that_the_loop_calls() -> None:
    helper = f"def clip(model):\n    {CLIP}\n"
    assert idle(ZERO, BACKWARD, STEP, "clip(model)", behind=helper) == [(False, False)]
    assert idle(ZERO, BACKWARD, "clip(model)", STEP, behind=helper.replace("«", "").replace("»", "")) == []
