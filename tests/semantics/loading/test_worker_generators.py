"""Generators that data sets keep, and workers copy: of each program, the attributes that hold one."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.loading.worker_generators import WorkerGenerators

PROGRAM = """\
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
class Data({base}):
    def __init__(self, seed):
        self.rng = {made}
    def helper(self):
        return self.rng.random()
    def {method}(self, index=0):
        return {drawn}
    def other(self):
        return self.rng.random()
loader = DataLoader({loaded}, {workers})
"""
PLAIN = {
    "base": "Dataset",
    "made": "np.random.default_rng(seed)",
    "method": "__getitem__",
    "drawn": "self.rng.normal()",
    "loaded": "Data(0)",
    "workers": "num_workers=4",
}


def kept(extra: str = "", **parts: str) -> list[str]:
    semantics, _ = marked(PROGRAM.format(**{**PLAIN, **parts}) + extra)
    return [each.name for each in semantics.of(WorkerGenerators).found.values()]


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("made", "np.random.RandomState(0)"),
        ("made", "random.Random(seed)"),
        ("made", "torch.Generator()"),
        ("made", "torch.Generator().manual_seed(0)"),
        ("drawn", "self.helper()"),
        ("drawn", "torch.rand(1, generator=self.rng)"),
        ("drawn", "sorted(self.rng.normal() for _ in range(2))"),
        ("base", "IterableDataset"),
        ("method", "__iter__"),
        ("workers", "num_workers=args.workers"),
        ("loaded", "dataset=Data(0)"),
    ],
)
def test_what_is_drawn_alike(part: str, text: str) -> None:
    assert kept(**{part: text}) == ["rng"]


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("made", "np.random"),
        ("made", "make(seed)"),
        ("drawn", "self.rng.seed(index)"),
        ("drawn", "self.items[index]"),
        ("base", "object"),
        ("method", "permuted"),
        ("workers", "num_workers=0"),
        ("workers", "batch_size=4"),
        ("workers", "num_workers=4, worker_init_fn=seeded"),
        ("workers", "num_workers=4, **options"),
        ("loaded", "unknown"),
    ],
)
def test_what_is_not(part: str, text: str) -> None:
    assert not kept(**{part: text})


@pytest.mark.parametrize(
    "extra",
    ["torch.utils.data.get_worker_info()", "class More(Data):\n    def f(self):\n        pass\nloader.dataset.set_epoch(1)"],
)
def test_files_that_see_to_their_workers(extra: str) -> None:
    assert kept()
    assert not kept(extra)
