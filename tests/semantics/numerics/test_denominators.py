"""Divisions by the wrong count: each marked length is one, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.numerics.denominators import Denominators

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
"""
LOOP = "total = 0\nfor x, y in {loader}:\n    total += {value}\n"


def loop(value: str, loader: str = "loader") -> str:
    return HEAD + LOOP.format(loader=loader, value=value)


def wrong(snippet: str) -> list[tuple[str, bool]]:
    """What was gone through, and whether hits were counted, for the marked lengths."""
    semantics, nodes = marked(snippet)
    found = semantics.of(Denominators).found
    assert list(found) == nodes
    return [(ast.unparse(each.loader), each.of_samples) for each in found.values()]


@pytest.mark.parametrize("value", ["(p(x) == y).sum()", "p(x).eq(y).sum().item()", "torch.sum(p(x) == y).float().item()"])
@pytest.mark.parametrize(
    "division", ["total / «len(loader)»", "100. * total / «len(loader)»", "float(total) / «len(loader)» * 100"]
)
def test_hits_by_batches(value: str, division: str) -> None:
    assert wrong(loop(value) + division) == [("loader", True)]


@pytest.mark.parametrize(
    "value",
    ["loss(p(x), y).item() * y.size(0)", "len(x) * loss(p(x), y).item()", "float(loss(p(x), y)) * x.shape[0]", "mean(x) * n"],
)
def test_batches_times_their_size_by_batches(value: str) -> None:
    text = loop(value).replace("    total", "    n = x.size(0)\n    total")
    assert wrong(text + "z = total / «len(loader)»") == [("loader", True)]


@pytest.mark.parametrize(
    "value", ["F.mse_loss(p(x), y)", "nn.L1Loss()(p(x), y).item()", "F.nll_loss(p(x), y, reduction='mean')"]
)
@pytest.mark.parametrize("division", ["total /= «len(loader.dataset)»", "z = total / «len(loader.dataset)»"])
def test_means_by_samples(value: str, division: str) -> None:
    assert wrong(loop(value) + division) == [("loader", False)]


def test_the_data_that_a_loader_was_made_of() -> None:
    text = loop("F.mse_loss(p(x), y)").replace("total = 0", "loader = DataLoader(data, 8)\ntotal = 0")
    assert wrong(text + "total /= «len(data)»") == [("loader", False)]
    assert wrong(text.replace("data, 8", "data") + "total /= len(data)") == []
    assert wrong(text.replace("data, 8", "data, batch_sampler=s") + "total /= len(data)") == []


@pytest.mark.parametrize(
    "snippet",
    [
        loop("(p(x) == y).sum()") + "total / len(loader.dataset)",
        loop("(p(x) == y).sum()") + "total / len(loader) / n",
        loop("(p(x) == y).sum()") + "total / len(loader) * n",
        loop("(p(x) == y).sum()") + "total / len(other_loader)",
        loop("(p(x) == y).sum() / len(y)") + "total / len(loader)",
        loop("(p(x) == y).sum(dim=1)") + "total / len(loader)",
        loop("(p(x) == y).float().mean()") + "total / len(loader)",
        loop("(p(x) == y).sum()", "graphs") + "total / len(graphs)",
        loop("(p(x) == y).sum()") + "    total / len(loader)",
        loop("(p(x) == y).sum()") + "    if x: break\ntotal / len(loader)",
        loop("(p(x) == y).sum()") + "total *= 2\ntotal / len(loader)",
        loop("F.mse_loss(p(x), y)") + "total / len(loader)",
        loop("F.mse_loss(p(x), y) * len(y)") + "total / len(loader.dataset)",
        loop("F.mse_loss(p(x), y) * len(known)") + "total / len(loader)",
        loop("F.mse_loss(p(x), y) * x.size(1)") + "total / len(loader)",
        loop("F.mse_loss(p(x), y) * x.size(0) / n") + "total / len(loader)",
        loop("F.mse_loss(p(x), y, reduction='sum')") + "total / len(loader.dataset)",
        loop("F.mse_loss(p(x), y, **more)") + "total / len(loader.dataset)",
        loop("nn.MSELoss(False)(p(x), y)") + "total / len(loader.dataset)",
        loop("criterion(p(x), y)") + "total / len(loader.dataset)",
        loop("F.mse_loss(p(x), y)").replace("total = 0", "total = start()") + "total / len(loader.dataset)",
    ],
)
def test_what_is_right_or_not_known(snippet: str) -> None:
    assert wrong(snippet) == []
