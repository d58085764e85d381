"""Gradients that nobody gets: of each snippet, by the marked call."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.gradients.discarded import DiscardedGradients

BEFORE = """
import time
import pytest
import torch
from torch.autograd import grad
from lib import other

def f(model, loss, weights):
"""


def discarded(*lines: str) -> str | None:
    """What the marked call in the body of a function differentiates, where nobody gets that."""
    semantics, (call,) = marked(BEFORE + "".join(f"    {line}\n" for line in lines))
    assert isinstance(call, ast.Call)
    found = semantics.of(DiscardedGradients).found.get(call)
    return None if found is None else ast.unparse(found)


@pytest.mark.parametrize(
    "lines",
    [
        ("«torch.autograd.grad(loss, model.parameters())»",),
        ("«grad(loss, weights, retain_graph=True)»",),
        ("for each in weights:", "    «grad(loss, each)»"),
        ("try:", "    «grad(loss, weights)»", "    model.step()", "except RuntimeError:", "    pass"),
    ],
)
def test_nobody_gets_them(lines: tuple[str, ...]) -> None:
    assert discarded(*lines) == "loss"


@pytest.mark.parametrize(
    "lines",
    [
        ("grads = «grad(loss, weights)»",),
        ("return «grad(loss, weights)»",),
        ("other(«grad(loss, weights)»)",),
        ("«other.grad(loss, weights)»",),
        ("«model.grad(loss, weights)»",),
        ("«grad(outputs=loss, inputs=weights)»",),
        ("with pytest.raises(RuntimeError):", "    «grad(loss, weights)»"),
        ("try:", "    «grad(loss, weights)»", "except RuntimeError:", "    return None"),
        ("start = time.time()", "«grad(loss, weights)»"),
        ("loss.register_hook(print)", "«grad(loss, weights)»"),
        ("model.conv.register_full_backward_hook(other)", "«grad(loss, weights)»"),
        ("class Own(torch.autograd.Function): ...", "«grad(loss, weights)»"),
    ],
)
def test_somebody_gets_them_or_what_is_done_on_the_way(lines: tuple[str, ...]) -> None:
    assert discarded(*lines) is None
