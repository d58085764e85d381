"""Squeezes that name no axis: of a model's output before a loss, and which axis is meant."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.shapes.squeezes import Meant, Squeezes

HEADER = """\
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from tqdm import tqdm
"""
LOOP = """\
def train(model, loader, criterion, mystery):
    for x, y in {loader}:
        {body}
"""
NET = """\
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.part = {part}

    def forward(self, x):
        return «self.part(x).squeeze()»
"""


def squeezes(snippet: str) -> tuple[Squeezes, ast.Call]:
    semantics, (node,) = marked(HEADER + snippet)
    assert isinstance(node, ast.Call)
    return semantics.of(Squeezes), node


def is_before_loss(body: str, loader: str = "loader") -> bool:
    found, squeeze = squeezes(LOOP.format(loader=loader, body=body))
    return found.is_output_before_loss(squeeze)


@pytest.mark.parametrize(
    "body",
    [
        "criterion(«model(x).squeeze()», y)",
        "criterion(«torch.squeeze(model(x))», y)",
        "F.mse_loss(«model(x).squeeze()».float(), y)",
        "nn.BCELoss()(«model(x).squeeze()», y)",
        "out = «model(x).squeeze()»\n        criterion(out, y)",
        "out = model(x.cuda())\n        criterion(«out.squeeze()», y)",
        "inputs = x['pixels']\n        criterion(«model(inputs).sigmoid().squeeze()», y)",
    ],
)
def test_outputs_are_squeezed_before_a_loss(body: str) -> None:
    assert is_before_loss(body)


@pytest.mark.parametrize(
    "body",
    [
        "score(«model(x).squeeze()», y)",
        "criterion(«model(state).squeeze()», y)",
        "criterion(«torch.sum(x).squeeze()», y)",
        "criterion(«x.squeeze()», y)",
        "out = «model(x).squeeze()»\n        print(out)",
        "if y: x = model(x)\n        else: x = mystery(x)\n        criterion(«x.squeeze()», y)",
    ],
)
def test_other_things_are_squeezed(body: str) -> None:
    assert not is_before_loss(body)


@pytest.mark.parametrize(
    ("loader", "found"),
    [
        ("tqdm(train_loader)", True),
        ("DataLoader(data, 8)", True),
        ("DataLoader(data, batch_size=8, drop_last=False)", True),
        ("DataLoader(data, batch_size=8, drop_last=True)", False),
        ("DataLoader(data, batch_size=1)", False),
        ("pairs", False),
    ],
)
def test_the_last_batch_may_have_one_item(loader: str, found: bool) -> None:
    assert is_before_loss("criterion(«model(x).squeeze()», y)", loader) is found


def test_a_step_of_lightning_is_given_a_batch() -> None:
    text = (
        "class N(nn.Module):\n    def {name}(self, batch, i):\n        x, y = batch\n        F.mse_loss(«self(x).squeeze()», y)"
    )
    for name, expected in (("training_step", True), ("compute", False)):
        found, squeeze = squeezes(text.format(name=name))
        assert found.is_output_before_loss(squeeze) is expected


@pytest.mark.parametrize(
    ("part", "meant"),
    [
        ("nn.Linear(8, 1)", Meant.LAST),
        ("nn.Linear(8, out_features=1)", Meant.LAST),
        ("nn.Embedding(8, 1)", Meant.LAST),
        ("nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1), nn.Sigmoid())", Meant.LAST),
        ("nn.AdaptiveAvgPool2d(1)", Meant.ALL_BUT_TWO),
        ("nn.AdaptiveMaxPool2d((1, 1))", Meant.ALL_BUT_TWO),
        ("nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1))", Meant.ALL_BUT_TWO),
        ("nn.Linear(8, 4)", None),
        ("nn.Linear(8, size)", None),
        ("nn.Conv2d(3, 1, 3)", None),
        ("nn.AdaptiveAvgPool2d(7)", None),
        ("nn.AdaptiveAvgPool1d(1)", None),
        ("build(size)", None),
    ],
)
def test_a_layer_tells_which_axis_is_meant(part: str, meant: Meant | None) -> None:
    found, squeeze = squeezes(NET.format(part=part))
    assert found.meant(squeeze) is meant


@pytest.mark.parametrize(
    ("body", "meant"),
    [
        ("F.binary_cross_entropy(«model(x).squeeze()», y)", Meant.LAST),
        ("nn.MSELoss()(«model(x).squeeze()», y)", Meant.LAST),
        ("F.l1_loss(model(x), «y.squeeze()»)", Meant.LAST),
        ("F.cross_entropy(«model(x).squeeze()», y)", None),
        ("criterion(«model(x).squeeze()», y)", None),
        ("print(«model(x)[:, :1].squeeze()»)", Meant.LAST),
        ("print(«model(x)[:, :2].squeeze()»)", None),
        ("print(«F.adaptive_avg_pool2d(x, 1).squeeze()»)", Meant.ALL_BUT_TWO),
        ("print(«F.adaptive_avg_pool2d(x, 7).squeeze()»)", None),
        ("print(«x.mean((2, 3), keepdim=True).squeeze()»)", Meant.ALL_BUT_TWO),
        ("net = nn.Linear(8, 4)\n        F.mse_loss(«net(x).squeeze()», y)", None),
    ],
)
def test_what_follows_tells_which_axis_is_meant(body: str, meant: Meant | None) -> None:
    found, squeeze = squeezes(LOOP.format(loader="loader", body=body))
    assert found.meant(squeeze) is meant
