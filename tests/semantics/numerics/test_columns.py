"""Columns and vectors: what the expression is that `f` returns."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.numerics.columns import Columns, Shape

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
class Critic(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.value = nn.Linear(n, 1)
        self.two = nn.Linear(n, 2)
    def forward(self, s):
        if self.training:
            return F.relu(self.value(s))
        return self.value(s)
    def flat(self, s):
        return self.value(s).squeeze(-1)
head = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1), nn.Sigmoid())
q = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3))
critic = Critic(8)
def doubled(t):
    return t * 2
def f(x, y, model, n: int):
"""


def shape(body: str) -> Shape | None:
    *lines, last = body.split("; ")
    semantics, nodes = marked(HEAD + "".join(f"    {line}\n" for line in [*lines, f"return «{last}»"]))
    assert isinstance(nodes[0], ast.expr)
    return semantics.of(Columns).of(nodes[0])


@pytest.mark.parametrize(
    "body",
    [
        "nn.Linear(8, 1)(x)",
        "nn.Linear(8, out_features=1)(x)",
        "head(x)",
        "critic(x)",
        "torch.sigmoid(head(x)).detach()",
        "head(x) > 0.5",
        "head(x) * 2 - 1",
        "-head(x) + critic(x)",
        "doubled(head(x))",
        "q(x).gather(1, y.unsqueeze(1))",
        "model(x).gather(1, y.long().view(-1, 1))",
        "torch.gather(model(x), 1, y[:, None])",
        "out = head(x); out = out.float(); out",
    ],
)
def test_is_a_column(body: str) -> None:
    assert shape(body) is Shape.COLUMN


@pytest.mark.parametrize(
    "body",
    [
        "head(x).squeeze(-1)",
        "head(x).squeeze()",
        "head(x).view(-1)",
        "q(x).max(1)[0]",
        "q(x).max(dim=1).values.detach()",
        "torch.max(q(x), 1)[0]",
        "best, _ = q(x).max(1); best * 0.9",
        "y + 0.9 * q(x).max(1)[0] * (1 - y)",
        "q(x).argmax(dim=-1)",
        "q(x).sum(1)",
        "torch.zeros(n)",
        "torch.ones(16).cuda()",
        "F.mse_loss(head(x), y.unsqueeze(1)); y",
    ],
)
def test_is_a_vector(body: str) -> None:
    assert shape(body) is Shape.VECTOR


@pytest.mark.parametrize(
    "body",
    [
        "model(x)",
        "q(x)",
        "nn.Linear(8, n)(x)",
        "critic.two(x)",
        "nn.Linear(8, 1)(torch.zeros(8))",
        "head(x).unsqueeze(0)",
        "head(x).t()",
        "head(x) * y",
        "head(x) - q(x).max(1)[0]",
        "head(x) if n else head(x).squeeze(-1)",
        "y.unsqueeze(1)",
        "model(x).max(1)[0]",
        "q(x).max(1, keepdim=True)[0]",
        "q(x).max(0)[0]",
        "q(x).mean()",
        "q(x).view(-1)",
        "q(x).gather(1, y)",
        "torch.zeros(1)",
        "torch.zeros(n, 2)",
        "model(x, y.unsqueeze(1)); y",
    ],
)
def test_is_neither_for_all_that_is_known(body: str) -> None:
    assert shape(body) is None
