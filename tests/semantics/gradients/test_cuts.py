"""What values are made of, behind all that cuts them off from their graphs."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.gradients.cuts import Cuts

HEADER = """\
import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable
model = nn.Linear(3, 3)
out = model(torch.ones(3))
"""


def source(snippet: str) -> str | None:
    """What the marked expression is made of that has a graph."""
    semantics, (value,) = marked(HEADER + snippet)
    found = semantics.of(Cuts).source(value)
    return ast.unparse(found) if found is not None else None


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("«out»", "out"),
        ("«out.item()»", "out"),
        ("«out.detach().cpu().numpy()[0]»", "out"),
        ("«torch.tensor([-out.mean().item()])»", "out.mean()"),
        ("«np.asarray(out.data)»", "out"),
        ("numbers = out.tolist()\n«numbers»", "out"),
        ("«Variable(out.data)»", "out"),
    ],
)
def test_where_a_value_is_from(snippet: str, expected: str) -> None:
    assert source(snippet) == expected


@pytest.mark.parametrize(
    "snippet",
    [
        "«3.0»",
        "«torch.zeros(3)»",
        "«np.mean(out.tolist())»",  # what a function computes is another value
        "number = out.item()\nif number > 1:\n    number = 0\n«number»",
        "number = number + 1\n«number»",
        "x = Variable(x)\n«x»",
        "«unknown(out)»",
    ],
)
def test_what_is_from_no_graph_that_is_seen(snippet: str) -> None:
    assert source(snippet) is None


@pytest.mark.parametrize(
    ("value", "whole", "items"),
    [
        ("out", "out", []),
        ("out.data", "out", []),
        ("out.detach().cpu().numpy()", "out", []),
        ("torch.from_numpy(out.cpu().data.numpy()[i]).cuda()", "out", ["i"]),
        ("out.data[0].cpu()[1]", "out", ["0", "1"]),
        ("model(x).item()", "model(x)", []),
        ("out.mean().item()", "out.mean()", []),
    ],
)
def test_a_value_less_its_cuts(value: str, whole: str, items: list[str]) -> None:
    semantics, (node,) = marked(f"{HEADER}«{value}»")
    found = semantics.of(Cuts).uncut(node)
    assert found is not None
    assert ast.unparse(found.whole) == whole
    assert [ast.unparse(item.slice) for item in found.items] == items


@pytest.mark.parametrize(
    "value", ["out.item() / 2", "out.argmax().float()", "-out.item()", "np.log(out.data)", "unknown.item()"]
)
def test_what_is_not_just_cut(value: str) -> None:
    semantics, (node,) = marked(f"{HEADER}«{value}»")
    assert semantics.of(Cuts).uncut(node) is None


@pytest.mark.parametrize(("value", "expected"), [("unknown", True), ("unknown.data", True), ("unknown + 1", False)])
def test_variable_takes_nothing_but_tensors(value: str, expected: bool) -> None:
    semantics, (node,) = marked(f"{HEADER}def f(unknown):\n    return Variable(«{value}»)")
    assert (semantics.of(Cuts).uncut(node) is not None) is (expected and value == "unknown")


def is_data(snippet: str) -> bool:
    semantics, (node,) = marked(HEADER + snippet)
    return semantics.of(Cuts).is_data(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "«1.0»",
        "«[1, 2]»",
        "«torch.zeros(3).cuda()»",
        "«torch.zeros(3).type(out.data.type())»",
        "«-np.ones(3) * 2»",
        "x = torch.randn(3)\ny = x.float()\n«y»",
        "for x in loader:\n    «x»",
        "«unbound»",
    ],
)
def test_data_is_computed_from_nothing(snippet: str) -> None:
    assert is_data(snippet)


@pytest.mark.parametrize("snippet", ["«out»", "«[]»", "«out.sum() * 2»", "«np.array(out.tolist())»", "«model(x)»"])
def test_what_is_computed_is_no_data(snippet: str) -> None:
    assert not is_data(snippet)


@pytest.mark.parametrize(
    ("value", "expected"), [("out.data", True), ("out.detach()", True), ("out", False), ("out.item()", False)]
)
def test_graphs_are_left_behind_on_purpose(value: str, expected: bool) -> None:
    semantics, (node,) = marked(f"{HEADER}«{value}»")
    assert semantics.of(Cuts).is_on_purpose(node) is expected
