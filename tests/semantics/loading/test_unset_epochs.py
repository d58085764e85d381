"""Distributed samplers that are told no epoch: each marked call makes one, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.loading.unset_epochs import UnsetEpochs

HEAD = """\
from torch.utils.data import DataLoader, DistributedSampler
"""
LOADER = "loader = DataLoader(d, sampler=sampler)\n"
EPOCHS = "for epoch in range(9):\n    for x in loader:\n        model(x).sum().backward()\n"
STEP = "def step(x):\n    model(x).sum().backward()\n"

TRAINER = """\
class Trainer:
    def __init__(self, model, batches):
        self.model, self.batches = model, None
        self.batches = batches
    def fit(self):
        print(next(iter(self.batches)))
        for epoch in range(9):
            self.fit_epoch()
    def fit_epoch(self):
        for x in self.batches:
            self.run(x)
    def run(self, x):
        self.model(x).backward()
"""


def unset(snippet: str) -> list[tuple[str | None, str | None, str | None, bool]]:
    """What is known of the marked calls: the variable of the loop, the sampler and the loader there, whether it is sure."""
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(UnsetEpochs).found
    assert list(found) == nodes
    return [(_text(each.epoch), _text(each.sampler), _text(each.loader), each.is_conditional) for each in found.values()]


def _text(part: ast.expr | None) -> str | None:
    return None if part is None else ast.unparse(part)


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("sampler = «DistributedSampler(d)»\n" + LOADER + EPOCHS, ("epoch", "sampler", "loader", False)),
        ("loader = DataLoader(d, sampler=«DistributedSampler(d)»)\n" + EPOCHS, ("epoch", None, "loader", False)),
        (
            "sampler = «DistributedSampler(d)» if many else None\n" + LOADER + EPOCHS,
            ("epoch", None, "loader", True),
        ),
        (
            "sampler = None\nif many:\n    sampler = «DistributedSampler(d)»\n" + LOADER + EPOCHS,
            ("epoch", "sampler", "loader", True),
        ),
        (
            "sampler = «DistributedSampler(d)»\n" + LOADER + EPOCHS.replace("range(9)", "names"),
            (None, None, None, False),
        ),
        (
            "sampler = «DistributedSampler(d)»\n" + LOADER + STEP + EPOCHS.replace("model(x).sum().backward()", "step(x)"),
            ("epoch", "sampler", "loader", False),
        ),
        (
            "def fit(batches):\n    for x in batches:\n        model(x).sum().backward()\n"
            "sampler = «DistributedSampler(d)»\n" + LOADER + "for epoch in range(9):\n    fit(loader)\n",
            ("epoch", "sampler", "loader", False),
        ),
        (
            "def loaders():\n    a = DataLoader(d, sampler=«DistributedSampler(d)»)\n    return a, 1\nloader, n = loaders()\n"
            + EPOCHS,
            ("epoch", None, "loader", False),
        ),
        (
            TRAINER + "loader = DataLoader(d, sampler=«DistributedSampler(d)»)\nTrainer(model, loader).fit()\n",
            ("epoch", None, "self.batches", False),
        ),
        (
            "def made(many):\n    loader = DataLoader(d, sampler=«DistributedSampler(d)»)\n    return loader\n"
            + TRAINER.replace("batches\n", "made(True)\n", 1).replace("= batches", "= made(True)"),
            ("epoch", None, "self.batches", False),
        ),
        (
            TRAINER.replace("in self.batches", "in shown").replace(
                "        for x in shown", "        shown = tqdm(self.batches)\n        for x in shown"
            )
            + "        shown.set_postfix(n=1)\n"
            + "loader = DataLoader(d, sampler=«DistributedSampler(d)»)\nTrainer(model, loader).fit()\n",
            ("epoch", None, None, False),
        ),
        (
            TRAINER.replace("self.fit_epoch()", "self.turn()").replace(
                "    def run", "    def turn(self):\n        self.fit_epoch()\n    def run"
            )
            + "loader = DataLoader(d, sampler=«DistributedSampler(d)»)\nTrainer(model, loader).fit()\n",
            ("epoch", None, "self.batches", False),
        ),
        (
            TRAINER.replace("            self.fit_epoch()\n", "            print(epoch)\n")
            + "def main():\n    trainer = Trainer(model, DataLoader(d, sampler=«DistributedSampler(d)»))\n"
            + "    for epoch in range(9):\n        trainer.fit_epoch()\n",
            ("epoch", None, None, False),
        ),
        (
            "loaders = {'train': DataLoader(d, sampler=«DistributedSampler(d)»), 'val': DataLoader(v)}\n"
            + EPOCHS.replace("in loader", "in loaders['train']"),
            ("epoch", None, None, False),
        ),
    ],
)
def test_a_sampler_is_never_told(snippet: str, expected: tuple[str | None, str | None, str | None, bool]) -> None:
    assert unset(snippet) == [expected]


@pytest.mark.parametrize(
    "snippet",
    [
        "sampler = DistributedSampler(d)\n" + LOADER + EPOCHS + "    sampler.set_epoch(epoch)\n",
        "sampler = DistributedSampler(d, shuffle=False)\n" + LOADER + EPOCHS,
        "sampler = DistributedSampler(d, 2, 0, False)\n" + LOADER + EPOCHS,
        "sampler = DistributedSampler(d, **more)\n" + LOADER + EPOCHS,
        "sampler = DistributedSampler(d)\nwatch(sampler)\n" + LOADER + EPOCHS,
        "sampler = DistributedSampler(d)\nsampler.restart()\n" + LOADER + EPOCHS,
        "sampler = DistributedSampler(d)\n" + LOADER + "loader = prefetched(loader)\n" + EPOCHS,
        "import accelerate\nsampler = DistributedSampler(d)\n" + LOADER + EPOCHS,
        "sampler = DistributedSampler(d)\n" + LOADER + "for x in loader:\n    model(x).sum().backward()\n",
        "sampler = DistributedSampler(d)\n"
        + LOADER
        + "for epoch in range(9):\n    for x in loader:\n        print(model(x))\n",
        "def loader():\n    sampler = DistributedSampler(d)\n    return DataLoader(d, sampler=sampler)\n" + EPOCHS,
        "sampler = DistributedSampler(d)\nloader = Batches(d, sampler=sampler)\n" + EPOCHS,
        "loaders = {'train': DataLoader(d), 'val': DataLoader(v, sampler=DistributedSampler(v))}\n"
        + EPOCHS.replace("in loader", "in loaders['train']"),
        "loaders = {'train': DataLoader(d, sampler=DistributedSampler(d))}\nwatch(loaders)\n"
        + EPOCHS.replace("in loader", "in loaders['train']"),
        "for epoch in range(9):\n    loader = DataLoader(d, sampler=DistributedSampler(d))\n    "
        "for x in loader:\n        x.backward()\n",
    ],
)
def test_a_sampler_is_told_or_need_not_be_or_may_be(snippet: str) -> None:
    assert unset(snippet) == []


@pytest.mark.parametrize(("library", "expected"), [("transformers", True), ("pytorch_transformers", True), ("timm", False)])
def test_what_is_trained_already_needs_few_epochs(library: str, expected: bool) -> None:
    semantics, (call,) = marked(f"import {library}\n{HEAD}sampler = «DistributedSampler(d)»\n{LOADER}{EPOCHS}")
    assert isinstance(call, ast.Call)
    assert semantics.of(UnsetEpochs).found[call].is_tuned is expected
