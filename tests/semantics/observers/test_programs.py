"""Files that are programs: what trains, runs or acts as soon as it is imported."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.observers.programs import Programs


def trains(text: str) -> bool:
    semantics, _ = marked(text)
    return semantics.of(Programs).trains.is_certain


@pytest.mark.parametrize("text", ["loss.backward()", "for x in data:\n    if x:\n        model(x).backward()"])
def test_trains(text: str) -> None:
    assert trains(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "def f():\n    loss.backward()",
        "class A:\n    def f(self):\n        loss.backward()",
        "if __name__ == '__main__':\n    loss.backward()",
        "f = lambda loss: loss.backward()",
    ],
)
def test_does_not_train(text: str) -> None:
    assert not trains(text)


@pytest.mark.parametrize(
    ("text", "runs", "acts"),
    [
        ("print(1)", True, True),
        ("net = Net()\nloss = net.fit(x)", True, False),
        ("for x in data:\n    optimizer.step()", True, True),
        ("main()", False, True),
        ("with torch.no_grad():\n    f = load()", False, True),
        ("if __name__ == '__main__':\n    train()", False, True),
        ("def f():\n    print(1)", False, False),
        ("if flag:\n    print(1)", False, False),
        ("import torch\n\nx = torch.zeros(3)\n\nclass A:\n    y = 1", False, False),
    ],
)
def test_runs_or_acts(text: str, runs: bool, acts: bool) -> None:
    semantics, _ = marked(text)
    assert (semantics.of(Programs).runs, semantics.of(Programs).acts) == (runs, acts)
