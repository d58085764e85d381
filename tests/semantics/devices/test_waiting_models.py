"""Times of models whose code shows that it does not wait for the GPU, and of those that may."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.devices.timings import Timings

PROGRAM = """
import time
import torch
from torch import nn
from other import Other

class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        {part}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
    def forward(self, x):
        return self.scaled(self.part(x))
    def scaled(self, x):
        {net}
    def shown(self, x):
        print(x.sum().item())

def measure(x, given):
    model = {made}
    model.cuda()
    x = x.cuda()
    start = time.time()
    {work}
    print(time.time() - start)
"""
PLAIN = {"part": "return self.fc(x)", "net": "return 2 * x", "made": "Net()", "work": "y = model(x)"}


def assumed(**changes: str) -> list[bool]:
    found = Semantics(ast.parse(PROGRAM.format(**{**PLAIN, **changes}))).of(Timings).unfinished
    return [each.is_assumed for each in found.values()]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"made": "nn.Linear(3, 3)"},
        {"made": "Part()"},
        {"net": "return x if x.shape[0] > 2 else 2 * x"},
        {"net": "return x[:, 0]"},
        {"work": "y = model(x)\n    y.sum().backward()"},
        {"work": "y = model(x)\n    y.sum().backward()", "made": "Other()"},
        {"work": "y = torch.relu(x)", "made": "Other()"},
    ],
)
def test_nothing_waits(changes: dict[str, str]) -> None:
    assert assumed(**changes) == [False]


@pytest.mark.parametrize(
    "changes",
    [
        {"made": "Other()"},
        {"made": "given"},
        {"net": "return x * x.max().item()"},
        {"net": "return x.to('cpu')"},
        {"net": "return x[x > 0]"},
        {"net": "print(x)\n        return x"},
        {"net": "if x.sum() > 0:\n            return x\n        return 2 * x"},
        {"part": "return self.fc(x) * float(x.mean())"},
        {"part": "return self.fc(x) + torch.tensor(1.0, device=x.device)"},
        {"part": "return self.fc(x)[x.nonzero()]"},
    ],
)
def test_the_model_may_wait(changes: dict[str, str]) -> None:
    assert False not in assumed(**changes)
