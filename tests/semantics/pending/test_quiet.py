"""Which statements compute nothing but numbers, so that they can run with autograd off."""

from __future__ import annotations

import ast

import pytest

from torchlint.fact import CERTAIN, Fact
from torchlint.semantics import Semantics
from torchlint.semantics.pending.quiet import Quiet

HEADER = """\
import math
import torch
from torch import nn
from own import bank, config, fit, hessian, keep, problem, step, steps

w = torch.zeros(3)
layer = nn.Linear(2, 2)
"""


def fact(text: str) -> Fact:
    """What is known of the last statement of a program."""
    semantics = Semantics(ast.parse(HEADER + text))
    return semantics.of(Quiet).fact(semantics.tree.module.body[-1])


@pytest.mark.parametrize(
    "text",
    [
        "w.data.normal_(0, 0.02)",
        "w.data.uniform_(-bound, bound)",
        "w.data.fill_(config.scale)",
        "w.data -= 0.1 * w.grad",
        "w.data[0] = torch.exp(w[1]) + 1",
        "layer.weight.data.normal_(0, math.sqrt(2 / layer.weight.size(1)))",
        "for p in layer.parameters():\n    p.data.mul_(0.5)",
        "for m in layer.modules():\n    if isinstance(m, nn.Linear) and m.bias is not None:\n        m.bias.data.zero_()",
    ],
)
def test_quiet(text: str) -> None:
    assert fact(text) == CERTAIN


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("w.data.copy_(fit(w))", "`fit(w)` may need autograd, which is off then"),
        ("w.data -= torch.autograd.grad(f(w), w)[0]", "`torch.autograd.grad(f(w), w)` may need autograd, which is off then"),
        ("w.data.copy_(next(steps))", "`next(steps)` may need autograd, which is off then"),
        ("w.data.sub_(problem.gradient)", "`problem.gradient` may be computed with autograd"),
        ("w.data.sub_(steps[0])", "`steps[0]` may be computed with autograd"),
        ("w.data -= 0.1 * step", "`step` may be an object that computes with autograd"),
        ("w.data.copy_(hessian @ w)", "`hessian` may be an object that computes with autograd"),
        ("w.data.copy_(keep(lambda: w))", "`keep(lambda: w)` may need autograd, which is off then"),
        ("for name, step in bank.items():\n    w.data.sub_(step)", "`bank.items()` may compute with autograd"),
    ],
)
def test_not_quiet(text: str, doubt: str) -> None:
    assert fact(text).doubt == doubt
