"""Loaders that a model is trained from in the order of storage: each marked call makes one, or there is none."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.loading.unshuffled import UnshuffledLoaders

HEAD = """\
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split
from torchvision.datasets import MNIST
from tqdm import tqdm
"""
TEST = "test_loader = DataLoader(MNIST('t'), 8)\n"
LOOP = "for x, y in train_loader:\n    model(x).sum().backward()\n"


def unshuffled(snippet: str) -> list[bool]:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(UnshuffledLoaders).found
    assert list(found) == nodes
    return [each.is_split_at_random for each in found.values()]


@pytest.mark.parametrize(
    ("snippet", "split"),
    [
        ("train_loader = «DataLoader(MNIST('d'), batch_size=8)»\n" + TEST + LOOP, False),
        (
            "data = MNIST('d')\ntrain_loader = «DataLoader(data)»\n"
            + TEST
            + LOOP.replace("train_loader", "tqdm(train_loader)"),
            False,
        ),
        (
            "train_loader = «DataLoader(TensorDataset(x, y), 8)»\nval_dl = DataLoader(TensorDataset(x, y), 8, shuffle=True)\n"
            + LOOP,
            False,
        ),
        ("train_loader = «DataLoader(TensorDataset(torch.randn(9, 2)), 8)»\n" + TEST + LOOP, True),
        ("one, two = random_split(MNIST('d'), [8, 2])\ntrain_loader = «DataLoader(one)»\n" + TEST + LOOP, True),
        ("class D(Dataset):\n  def __getitem__(self, i):\n    pass\ntrain_loader = «DataLoader(D())»\n" + TEST + LOOP, False),
        (
            "def fit(m, loader):\n  for x in loader:\n    m(x).backward()\ntrain_loader = «DataLoader(MNIST('d'))»\n"
            + TEST
            + "fit(m, train_loader)",
            False,
        ),
        ("train_loader = «DataLoader(given, 8)»\nprint(len(train_loader))\n" + TEST + LOOP, False),
        (
            "class D(Dataset):\n  def __getitem__(self, i):\n    pass\na, b = train_test_split(rows)\n"
            "train_loader = «DataLoader(D(a))»\n" + TEST + LOOP,
            True,
        ),
        ("data = Own('d')\ntrain_loader = «DataLoader(data, 8)»\nn = len(data)\n" + TEST + LOOP, False),
        (
            "class T:\n  def __init__(self, data):\n    self.train_loader = «DataLoader(data, 8)»\n"
            "    self.valid_loader = DataLoader(data, 8)\n  def fit(self):\n    print(len(self.train_loader.dataset))\n"
            "    for x in self.train_loader:\n      model(x).backward()",
            False,
        ),
        (
            "train_set = MNIST('d')\nloader = «DataLoader(train_set, 8)»\n" + TEST + LOOP.replace("train_loader", "loader"),
            False,
        ),
        (
            "train_set = MNIST('d')\nval_set = MNIST('t')\ngen = «DataLoader(train_set, 8)»\n"
            "gen2 = DataLoader(val_set, 8)\n" + LOOP.replace("train_loader", "gen"),
            False,
        ),
    ],
)
def test_what_is_in_order(snippet: str, split: bool) -> None:
    assert unshuffled(snippet) == [split]


@pytest.mark.parametrize(
    "snippet",
    [
        "train_loader = DataLoader(MNIST('d'), batch_size=8)\n" + LOOP,
        "train_loader = DataLoader(MNIST('d'), batch_size=8)\n" + TEST,
        "train_loader = DataLoader(MNIST('d'), shuffle=False)\n" + TEST + LOOP,
        "train_loader = DataLoader(MNIST('d'), batch_sampler=s)\n" + TEST + LOOP,
        "train_set = MNIST('d')\nfisher_loader = DataLoader(train_set, 8)\n" + TEST + LOOP.replace("train_", "fisher_"),
        "train_set = MNIST('d')\nloader = DataLoader(train_set, 8)\nloader2 = DataLoader(train_set, 8)\n"
        + LOOP.replace("train_", ""),
        "test_set = MNIST('d')\nloader = DataLoader(test_set, 8)\n" + TEST + LOOP.replace("train_", ""),
        "data = MNIST('d')\nloader = DataLoader(data, 8)\n" + TEST + LOOP.replace("train_", ""),
        "train_loader = DataLoader(MNIST('d'), 8, shuffled)\n" + TEST + LOOP,
        "train_loader = DataLoader(MNIST('d'), **options)\n" + TEST + LOOP,
        "train_loader = DataLoader(given, 8)\n" + TEST + LOOP,
        "train_loader = DataLoader(load_dataset('x'), 8)\n" + TEST + LOOP,
        "one, two = parts('x')\ntrain_loader = DataLoader(one, 8)\nprint(len(train_loader))\n" + TEST + LOOP,
        "train_loader = DataLoader(given, 8)\nprint(len(test_loader))\n" + TEST + LOOP,
        "class D(torch.utils.data.IterableDataset):\n  pass\ntrain_loader = DataLoader(D())\n" + TEST + LOOP,
        "net = torch.nn.LSTM(2, 2)\ntrain_loader = DataLoader(MNIST('d'))\n" + TEST + LOOP,
        "loader = DataLoader(MNIST('d'))\n" + TEST + LOOP.replace("train_", ""),
        "def f():\n  train_loader = DataLoader(MNIST('d'))\n" + TEST + LOOP,
    ],
)
def test_what_is_not(snippet: str) -> None:
    assert not unshuffled(snippet)
