"""Modules that a class keeps as the best so far: the marked ones are no copies, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.best_modules import BestModules

CLASS = """\
import copy
import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.best_model = None
        self.least = 1e9

    def train(self, model, loader):
        optimizer = torch.optim.Adam(model.parameters())
        for epoch in range(9):
            for x, y in loader:
                loss = nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            self.validate(model, loader)

    def validate(self, model, loader):
        model.eval()
        total = sum(nn.functional.mse_loss(model(x), y).item() for x, y in loader)
        if total < self.least:
            self.least = total
            self.best_model = «model»

    def test(self, x):
        return self.best_model(x)
"""


def kept(snippet: str) -> list[tuple[str, str, str]]:
    """What is kept, under which name, and what changes it, for the marked values."""
    semantics, nodes = marked(snippet)
    found = list(semantics.of(BestModules).found)
    assert [each.value for each in found] == nodes
    return [(each.place.spelling, each.name, ast.unparse(each.update)) for each in found]


def unmarked(old: str, new: str) -> str:
    assert old in CLASS
    return CLASS.replace(old, new).replace("«", "").replace("»", "")


def test_a_method_that_the_training_calls() -> None:
    assert kept(CLASS) == [("model", "self.best_model", "optimizer.step()")]


def test_a_model_of_the_class() -> None:
    own = CLASS.replace("(self, model, loader)", "(self, loader)").replace("self.validate(model, ", "self.validate(")
    head, end = own.split("    def train")
    own = (
        head
        + "    def train"
        + end.replace("«model»", "model").replace("model(", "self.model(").replace("model.", "self.model.")
    )
    own = own.replace("self.best_self.", "self.best_").replace("self.best_model = model", "self.best_model = «self.model»")
    assert kept(own) == [("self.model", "self.best_model", "optimizer.step()")]


def test_the_loop_that_trains() -> None:
    within = CLASS.replace("self.validate(model, loader)", "if loss < self.least:\n                self.best_model = «model»")
    within = within.replace("            self.best_model = «model»\n\n    def test", "            pass\n\n    def test")
    assert kept(within) == [("model", "self.best_model", "optimizer.step()")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("«model»", "copy.deepcopy(model)"),
        ("«model»", "model.cpu()"),
        ("self.best_model = «model»", "self.model = model"),
        ("if total < self.least:", "if total:"),
        ("return self.best_model(x)", "return self.best_model is None"),
        ("optimizer.step()", "pass"),
        ("            self.validate(model, loader)", "        self.validate(model, loader)"),
        ("        for epoch in range(9):\n", "        for epoch in range(9):\n            model = nn.Linear(8, 8)\n"),
        ("self.validate(model, loader)", "self.validate(nn.Linear(8, 8), loader)"),
        ("        model.eval()\n", "        model = copy.deepcopy(model)\n        model.eval()\n"),
    ],
)
def test_copies_and_what_nothing_changes(old: str, new: str) -> None:
    assert kept(unmarked(old, new)) == []


def test_candidates_that_are_trained_one_by_one() -> None:
    candidates = CLASS.replace("«model»", "model").replace(
        "            self.validate(model, loader)", "        self.validate(model, loader)"
    )
    search = "\n    def search(self, models, loader):\n        for model in models:\n            self.train(model, loader)\n"
    assert kept(candidates + search) == []
    assert kept(candidates + search.replace("model in", "i, each in").replace("train(model", "train(models[i]")) == []


BY_KEY = """\
class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.best = {"loss": 1e9, "model": None}

    def fit(self, loader):
        for epoch in range(9):
            loss = self.epoch(loader)
            if loss < self.best["loss"]:
                self.best["loss"] = loss
                self.best["model"] = «self.model»

    def epoch(self, loader):
        self.model.train()
        total = 0
        for x, y in loader:
            loss = self.model(x, y)
            loss.backward()
            self.update()
            total += loss.item()
        return total

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def save(self):
        torch.save(self.best["model"].state_dict(), "best.pt")
"""


def test_an_item_of_a_dict_of_the_object() -> None:
    assert kept(f"import torch\n{BY_KEY}") == [("self.model", "self.best['model']", "self.epoch(loader)")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('self.best["model"].state_dict()', 'self.best["loss"]'),
        ('self.best["model"].state_dict()', "self.model.state_dict()"),
        ('["model"] = self.model', "[loss] = self.model"),
        ("self.model.train()", "self.teacher.train()\n        self.model.eval()"),
        ("        self.optimizer.step()", "        self.optimizer.zero_grad()"),
        ("        self.optimizer.step()", "        other.optimizer.step()"),
        ("            loss = self.epoch(loader)", "            self.model = make()\n            loss = self.epoch(loader)"),
        ("            loss = self.epoch(loader)", "            self.renew()\n            loss = self.epoch(loader)"),
        ("= self.model\n", '= self.model\n                self.best["model"] = copy.deepcopy(self.best["model"])\n'),
        ("= self.model\n", "= self.model\n                break\n"),
        ("= self.model\n", "= self.model\n                return\n"),
        ('if loss < self.best["loss"]', 'if not self.best["loss"]'),
    ],
)
def test_items_that_nothing_changes_or_reads(old: str, new: str) -> None:
    snippet = BY_KEY.replace("«", "").replace("»", "")
    assert old in snippet
    snippet = snippet.replace(old, new)
    if "renew" in new:
        snippet += "\n    def renew(self):\n        self.model = make()\n"
    if "teacher" in new:
        snippet = snippet.replace("loss = self.model(x, y)", "loss = self.teacher(x, y)")
    assert kept(f"import torch\n{snippet}") == []
