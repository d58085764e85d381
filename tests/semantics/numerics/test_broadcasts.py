"""Columns that meet vectors in a loss: of each snippet the marked places, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.numerics.broadcasts import Broadcasts

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
net = nn.Linear(8, 1)
criterion = nn.SmoothL1Loss()
def f(x, y, other):
    column = net(x)
    vector = net(y).squeeze(-1)
"""


def broadcasts(body: str) -> list[tuple[str, str, bool]]:
    semantics, nodes = marked(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    found = semantics.of(Broadcasts).found
    assert list(found) == nodes
    return [(ast.unparse(each.column), ast.unparse(each.vector), each.warns) for each in found.values()]


@pytest.mark.parametrize(
    "body",
    [
        "return («column - vector»).pow(2).mean()",
        "return torch.mean((«vector - column») ** 2)",
        "return torch.sum(torch.abs(«column - vector»))",
        "return («column == vector»).float().sum()",
        "return -(other * («vector * column»)).mean()",
        "error = «column - vector»\nsquared = error ** 2\nreturn squared.mean()",
    ],
)
def test_is_found(body: str) -> None:
    assert broadcasts(body) == [("column", "vector", False)]


@pytest.mark.parametrize("body", ["return «F.mse_loss(column, vector)»", "return «criterion(vector, column)»"])
def test_torch_warns_of_some(body: str) -> None:
    assert broadcasts(body) == [("column", "vector", True)]


@pytest.mark.parametrize(
    "body",
    [
        "return (column - other).pow(2).mean()",
        "return (column - net(y)).pow(2).mean()",
        "return (vector - vector.mean()).pow(2).mean()",
        "return column - vector",
        "return (column - vector).pow(2).mean(dim=0)",
        "return other(column - vector).mean()",
        "return F.binary_cross_entropy(column, vector)",
        "return (vector.unsqueeze(1) - vector).abs().mean()",
    ],
)
def test_is_not_known_to_be_one(body: str) -> None:
    assert broadcasts(body) == []
