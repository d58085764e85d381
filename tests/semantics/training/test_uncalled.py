"""What is named where it should be called, and what it lacks."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.training.uncalled import Lacks, Uncalled

BEFORE = """
import torch
import torch.nn as nn
from torch import no_grad
from torch.profiler import profile
from torch.optim import LBFGS, SGD

class Net(nn.Module):
    slope = 1.0

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def reset(self, gain=1.0):
        self.layer.reset_parameters()

    def freeze(self, layers):
        pass

    @property
    def size(self):
        return 2

net, other, w = Net(), nn.Linear(2, 2), torch.zeros(3)
optimizer, lbfgs = SGD(net.parameters(), 0.1), LBFGS(net.parameters())
scaler = torch.amp.GradScaler("cuda")
"""


def lacks(statement: str) -> Lacks | None:
    """What the marked expression of a statement lacks."""
    semantics, (node,) = marked(BEFORE + statement)
    return semantics.of(Uncalled).functions.get(node)


@pytest.mark.parametrize(
    "statement",
    [
        "«optimizer.step»",
        "«net.eval»",
        "«other.cuda»",
        "«net.reset»",
        "«w.zero_»",
        "«w.sum().backward»",
        "«scaler.update»",
        "«torch.cuda.synchronize»",
        "unknown.step()\n«unknown.zero_grad»",
        "unknown.zero_grad()\n«unknown.step»",
        "unknown(w)\n«unknown.eval»",
    ],
)
def test_what_lacks_a_call(statement: str) -> None:
    assert lacks(statement) is Lacks.CALL


@pytest.mark.parametrize(
    "statement",
    ["«net.freeze»", "«optimizer.load_state_dict»", "«lbfgs.step»", "«scaler.step»", "«w.fill_»", "«net.to»"],
)
def test_what_lacks_arguments(statement: str) -> None:
    assert lacks(statement) is Lacks.ARGUMENTS


@pytest.mark.parametrize("statement", ["«w.cuda»", "«w.detach»", "«(w * 2).cpu»"])
def test_what_gives_another_tensor(statement: str) -> None:
    assert lacks(statement) is Lacks.ASSIGNED_CALL


@pytest.mark.parametrize(
    "statement",
    [
        "net.eval()\n«net»",
        "step = «optimizer.step»",
        "«net.size»",
        "«net.slope»",
        "«net.weight»",
        "«w.shape»",
        "«unknown.step»",
        "«unknown.eval»",
        "«unknown.cuda»",
        "«torch.cuda.is_available»",
        "try:\n    «optimizer.step»\nexcept AttributeError:\n    pass",
    ],
)
def test_what_lacks_nothing_or_is_unknown(statement: str) -> None:
    assert lacks(statement) is None


@pytest.mark.parametrize(
    ("statement", "is_class"),
    [
        ("with «torch.no_grad»: pass", True),
        ("with «no_grad»: pass", True),
        ("with open(name) as log, «torch.inference_mode»: pass", True),
        ("async def f():\n    async with «torch.autograd.detect_anomaly»: pass", True),
        ("with «torch.no_grad()»: pass", False),
        ("with «profile»: pass", False),
        ("with «unknown.no_grad»: pass", False),
        ("with «lock»: pass", False),
    ],
)
def test_contexts(statement: str, is_class: bool) -> None:
    semantics, (node,) = marked(BEFORE + statement)
    assert (node in semantics.of(Uncalled).contexts) is is_class
