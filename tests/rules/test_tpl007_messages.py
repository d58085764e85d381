"""What TPL007 says of a flag: whether torch refuses it, or what it hides."""

from __future__ import annotations

import pytest

import torchlint

_PROGRAM = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

def train(model: nn.Module, make, metric, x, y):
    critic = make()
    {value}
    {name}.requires_grad = True
    {loss}.backward()
"""


def said(value: str, name: str, loss: str) -> str:
    [found] = torchlint.lint(_PROGRAM.format(value=value, name=name, loss=loss), select=["TPL007"])
    return found.message


def test_a_flag_on_what_an_operation_made_raises() -> None:
    assert said("loss = F.mse_loss(model(x), y)", "loss", "loss").startswith("`loss.requires_grad = True` raises: an operation")


def test_a_flag_on_a_part_of_the_loss_raises_too() -> None:
    assert "raises: an operation made `q`" in said("q = model(x).view(-1)", "q", "F.mse_loss(q, y)")


def test_of_what_another_model_gave_it_depends() -> None:
    message = said("best = critic(x).max(1)[0]", "best", "F.mse_loss(model(x), best)")
    assert message.startswith("`best.requires_grad = True` raises where `best` has a graph; where it has none")


def test_a_flag_on_what_has_no_graph_hides_that() -> None:
    message = said("loss = 1 - metric(model(x), y)", "loss", "loss")
    assert message.endswith("`loss.backward()` runs, but no parameter gets a gradient")


def test_torch_refuses_it() -> None:
    torch = pytest.importorskip("torch")
    result = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="leaf"):
        result.requires_grad = True
    with torch.no_grad():
        cut = torch.ones(2, requires_grad=True) * 2
    cut.requires_grad = True
    assert cut.is_leaf
