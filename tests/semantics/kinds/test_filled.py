"""Tensors that are made empty and filled: whether they carry the graph of what is written into them."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.kinds.kind import Grad

HEAD = """import torch
from torch import nn
layer = nn.Linear(2, 2)
def f(x: torch.Tensor):
"""


def grad(body: str) -> Grad:
    semantics, (node,) = marked(HEAD + "".join(f"    {line}\n" for line in body.split("\n")))
    assert isinstance(node, ast.expr)
    kind = semantics.kind(node)
    assert kind.is_tensor
    return kind.grad


@pytest.mark.parametrize(
    "written",
    [
        "out[0] = layer(x)",
        "out[:, 0] = layer(x)",
        "out[0][1] = layer(x)",
        "out[0] += layer(x)",
        "out.copy_(layer(x))",
        "out[0].copy_(layer(x))",
        "out.index_add_(0, i, layer(x))",
        "out.index_copy_(dim=0, index=i, source=layer(x))",
        "out.add_(layer.weight)",
        "for t in range(3):\n    out[t] = layer(x)",
        "if x.sum() > 0:\n    out[0] = layer(x)",
        "y = out[0] = layer(x)",
    ],
)
def test_have_the_graph_of_what_is_written(written: str) -> None:
    assert grad(f"out = torch.zeros(3, 4, 2)\n{written}\nreturn «out»") is Grad.GRAPH


@pytest.mark.parametrize(
    "written",
    [
        "out[0] = layer(x).detach()",
        "out[0] = 1",
        "out[0] = torch.ones(2)",
        "with torch.no_grad():\n    out[0] = layer(x)",
        "y[0] = layer(x)",
        "y = {out: layer(x)}",
        "out.data = layer(x)",
        "out.index_fill(layer(x))",
        "out[layer(x).argmax()] = 1",
        "out = layer(x)\nout = torch.zeros(3)",
    ],
)
def test_have_none_otherwise(written: str) -> None:
    assert grad(f"out = torch.zeros(3, 4, 2)\n{written}\nreturn «out»") is Grad.NONE


@pytest.mark.parametrize(
    "made", ["torch.zeros(3, dtype=torch.long)", "torch.zeros(3).long()", "torch.LongTensor(3)", "torch.zeros(3, dtype=bool)"]
)
def test_have_none_where_they_hold_no_floating_point(made: str) -> None:
    assert grad(f"out = {made}\nout[0] = layer(x)\nreturn «out»") is Grad.NONE


def test_may_be_filled_from_themselves() -> None:
    assert grad("out = torch.zeros(3, 2)\nfor t in range(3):\n    out[t] = layer(out[t - 1])\nreturn «out»") is Grad.GRAPH
    assert grad("out = torch.zeros(3, 2)\nfor t in range(3):\n    out[t] = out[t - 1]\nreturn «out»") is Grad.NONE


@pytest.mark.parametrize("dtype", [None, "long"])
def test_so_it_is_on_torch(dtype: str | None) -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(2, 2)
    out = torch.zeros(3, 2, dtype=None if dtype is None else torch.long)
    out[0] = layer(torch.ones(2))
    assert out.requires_grad is (dtype is None)
