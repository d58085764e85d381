"""Tensors that are made empty and filled: whether they carry the graph of what is written into them."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.kinds.bound import filled
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
        "out.resize_as_(layer(x))",
        "out.logical_and_(layer(x))",
        "out[0] = layer(x)\nout.detach_()",
        "def inner():\n    out[0] = layer(x)",
    ],
)
def test_have_none_otherwise(written: str) -> None:
    assert grad(f"out = torch.zeros(3, 4, 2)\n{written}\nreturn «out»") is Grad.NONE


@pytest.mark.parametrize(
    "made",
    [
        "torch.zeros(3, dtype=torch.long)",
        "torch.zeros(3).long()",
        "torch.LongTensor(3)",
        "torch.zeros(3, dtype=bool)",
        "torch.zeros(3, dtype=x.dtype)",
        "torch.arange(3)",
        "torch.tensor([1, 2, 3])",
        "torch.full((3,), 1)",
        "torch.zeros(3).to(other)",
        "torch.zeros(3).type_as(x)",
    ],
)
def test_have_none_where_they_hold_no_floating_point(made: str) -> None:
    assert grad(f"out = {made}\nout[0] = layer(x)\nreturn «out»") is Grad.NONE


@pytest.mark.parametrize(
    "made",
    [
        "torch.zeros(3, device='cuda')",
        "torch.rand(3).to(x.device)",
        "torch.empty(3).to('cuda').double()",
        "torch.randn(3).cuda()",
    ],
)
def test_have_it_where_they_are_only_moved(made: str) -> None:
    assert grad(f"out = {made}\nout[0] = layer(x)\nreturn «out»") is Grad.GRAPH


def test_have_none_before_anything_is_written() -> None:
    assert grad("out = torch.zeros(3, 2)\ny = «out».clone()\nout[0] = layer(x)") is Grad.NONE
    assert grad("for i in x:\n    out = torch.zeros(3, 2)\n    y = «out».clone()\n    out[0] = layer(x)") is Grad.NONE
    assert grad("out = torch.zeros(3, 2)\nfor i in x:\n    y = «out».clone()\n    out[0] = layer(x)") is Grad.GRAPH


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


def test_methods_that_hand_their_graph_on_do_so_on_torch() -> None:
    torch = pytest.importorskip("torch")
    given = torch.ones(2, 2, requires_grad=True) * 1
    index, mask = torch.tensor([0, 1]), torch.tensor([[True, False], [False, True]])
    arguments = {
        **{"lerp_": (given, 0.5), "addcmul_": (given, given), "addcdiv_": (given, given), "addmm_": (given, given)},
        **{"addmv_": (given, given[0]), "baddbmm_": (given[None], given[None]), "fill_": (given.sum(),)},
        **{"index_add_": (0, index, given), "index_copy_": (0, index, given), "index_put_": ((index,), given)},
        **{"scatter_": (0, index[None], given), "scatter_add_": (0, index[None], given)},
        **{"masked_scatter_": (mask, given), "masked_fill_": (mask, given.sum())},
    }
    for name in filled._WRITING:
        sizes = (1, 2, 2) if name == "baddbmm_" else (2,) if name == "addmv_" else (2, 2)
        out = torch.zeros(sizes)
        getattr(out, name)(*arguments.get(name, (given,)))
        assert out.requires_grad, name
