"""Evaluation in training mode by methods: other methods may set another mode first, in an order that only callers know."""

from __future__ import annotations

import pytest

from torchlint.api import lint

TRAINER = """
import torch
from torch import nn
class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def run(self, loader, epochs):
        for _ in range(epochs):
            self.net.train()
            for x, y in loader:
                self.optimizer.zero_grad()
                nn.functional.cross_entropy(self.net(x), y).backward()
                self.optimizer.step()
            print(self.validate(loader))
    def validate(self, loader):
        # first
        with torch.no_grad():
            return [(self.net(x).argmax(1) == y).float().mean() for x, y in loader]
    def test(self, loader):
        # second
        return self.validate(loader)
"""
FUNCTION = """
import torch
from torch import nn
def run(loader, val_loader, epochs):
    correct = 0
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(epochs):
        net.train()
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            for x, y in val_loader:
                correct += (net(x).argmax(1) == y).sum()
def test(net, loader):
    net.eval()
    with torch.no_grad():
        return [net(x) for x, y in loader]
"""


def codes(text: str, *, strict: bool = False) -> list[str]:
    return [each.code for each in lint(text, select=["TPL305"] if strict else None) if each.code == "TPL305"]


def test_where_nothing_evaluates_it_is_reported() -> None:
    assert codes(TRAINER) == ["TPL305"]


@pytest.mark.parametrize(
    ("line", "insert"),
    [
        ("# second", "self.net.eval()"),
        ("# second", "other.eval()"),
        ("# first", "model = self.net\n        model.eval() if loader.test else model.train()"),
    ],
)
def test_attributes_are_strict_in_a_file_that_evaluates(line: str, insert: str) -> None:
    assert codes(TRAINER.replace(line, insert)) == []


def test_what_another_method_sets_is_strict_and_no_more() -> None:
    assert codes(TRAINER.replace("# second", "self.net.eval()"), strict=True) == ["TPL305"]


def test_one_function_shows_its_own_order() -> None:
    assert codes(FUNCTION) == ["TPL305"]
