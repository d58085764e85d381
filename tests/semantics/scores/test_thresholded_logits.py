"""Logits that are taken for probabilities: each marked expression takes one so, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.scores.thresholded_logits import Thresholded, ThresholdedLogits

HEAD = """\
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
criterion = nn.BCEWithLogitsLoss()
model = make()
out = model(x)
loss = criterion(out, y)
"""


def thresholds(snippet: str, head: str = HEAD) -> list[Thresholded[ast.expr]]:
    semantics, nodes = marked(head + snippet)
    found = semantics.of(ThresholdedLogits).found
    assert list(found) == nodes
    return list(found.values())


@pytest.mark.parametrize(
    ("snippet", "logits"),
    [
        ("p = «out > 0.5»", "out"),
        ("p = (np.asarray(«0.5 < out.data.cpu()»))", "out.data.cpu()"),
        ("p = «torch.round(out.squeeze())»", "out.squeeze()"),
        ("p = «out.detach().cpu().numpy().round()»", "out.detach().cpu().numpy()"),
        ("s = out.view(-1)\np = «s >= 0.5»", "s"),
        ("def f(p, t):\n    return «p > 0.5»\nf(out, y)", "p"),
        ("def f(t):\n    o = model(t)\n    return «o > 0.5»", "o"),
        ("p = «torch.flatten(model.forward(x)) > 0.5»", "torch.flatten(model.forward(x))"),
        ("p = «out[0] > 0.5»", "out[0]"),
        ("p = np.where(«out.detach().cpu().numpy()[:, 0] >= 0.5», 1, 0)", "out.detach().cpu().numpy()[:, 0]"),
        ("out = out.cpu()\nfor i in range(9):\n    p = «out[i].squeeze() > .5»", "out[i].squeeze()"),
    ],
)
def test_what_is_taken_for_a_probability(snippet: str, logits: str) -> None:
    (found,) = thresholds(snippet)
    assert ast.unparse(found.logits) == logits
    assert ast.unparse(found.loss) == "criterion(out, y)"


@pytest.mark.parametrize(
    "snippet",
    [
        "p = out > 0",
        "p = out > 0.7",
        "p = out == 0.5",
        "p = torch.sigmoid(out) > 0.5",
        "s = out.sigmoid()\np = s > 0.5",
        "out = torch.sigmoid(out)\np = out > 0.5",
        "p = y > 0.5",
        "p = other(x) > 0.5",
        "p = torch.sigmoid(out)[0] > 0.5",
        "p = torch.sigmoid(out[0]) > 0.5",
        "p = out[0].mean() > 0.5",
        "p = y[0] > out[0]",
        "out[0] = 1\np = y[out] > 0.5",
        "p = x[:, 0] > 0.5",
        "p = out.mean() > 0.5",
        "p = out.round(decimals=3)",
        "def f(p):\n    return p > 0.5\nf(torch.sigmoid(out))\nf(out)",
        "def f(p):\n    p = torch.sigmoid(p)\n    return p > 0.5\nf(out)",
    ],
)
def test_what_is_not(snippet: str) -> None:
    assert not thresholds(snippet)


@pytest.mark.parametrize(
    "loss",
    [
        "nn.BCELoss()(out, y)",
        "F.binary_cross_entropy(out, y)",
        "nn.CrossEntropyLoss()(out, y)",
        "nn.BCEWithLogitsLoss()(torch.sigmoid(out), y)",
    ],
)
def test_what_is_no_logit(loss: str) -> None:
    assert not thresholds("p = out > 0.5", HEAD.replace("criterion(out, y)", loss))


def test_the_loss_that_is_named_takes_the_same_value() -> None:
    snippet = "def f(x, y):\n    z = model(x)\n    other = criterion(z, y)\n    return other, «z > 0.5», «model(y) > 0.5»"
    near, far = thresholds(snippet)
    assert (near.loss.lineno, far.loss.lineno) == (11, 8)
