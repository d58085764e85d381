"""Gradients that are zeroed in the branch alone that a training never takes."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.steps.zeroing import Zeroing

LOOP = """
import torch
def train(args, model, loader, flag):
    optimizer = torch.optim.Adam(model.parameters())
    for i, x in enumerate(loader):
        {before}
        if {test}:
            model(x).mean().backward()
            optimizer.step()
        else:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        {behind}
"""


def piled_up(test: str, before: str = "pass", behind: str = "pass") -> list[int]:
    """The lines of the steps that use the gradients of all rounds."""
    text = LOOP.format(test=test, before=before, behind=behind)
    return sorted(call.lineno for call in Semantics(ast.parse(text)).of(Zeroing).piles)


@pytest.mark.parametrize("test", ["args.amp", "flag", "not flag", "args.scaler is not None", "args.mode == 'amp'"])
def test_a_choice_that_is_the_same_in_all_rounds(test: str) -> None:
    assert piled_up(test) == [8]


@pytest.mark.parametrize(
    ("test", "before", "behind"),
    [
        ("i % 2", "pass", "pass"),
        ("use()", "pass", "pass"),
        ("flag and i", "pass", "pass"),
        ("flag", "pass", "flag = not flag"),
        ("args.amp", "args.amp = i", "pass"),
        ("args.amp", "args = given(i)", "pass"),
        ("flag", "optimizer.zero_grad()", "pass"),
        ("flag", "pass", "model.zero_grad()"),
        ("flag", "if args.fast: optimizer.zero_grad()", "pass"),
        ("flag", "pass", "for p in model.parameters(): p.grad = None"),
    ],
)
def test_what_may_zero_them_all_the_same(test: str, before: str, behind: str) -> None:
    assert piled_up(test, before, behind) == []
