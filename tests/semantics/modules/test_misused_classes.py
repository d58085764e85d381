"""Classes of modules that are given tensors: of each snippet, whether the marked call is one, and needs no options."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.modules.misused_classes import MisusedClasses

BEFORE = "import torch\nimport torch.nn as nn\nmodel = nn.Linear(3, 3)\nout, y = model(torch.ones(3)), torch.zeros(3)\n"


def misused(text: str) -> bool | None:
    """What is found at the marked call."""
    semantics, (call,) = marked(BEFORE + text)
    assert isinstance(call, ast.Call)
    return semantics.of(MisusedClasses).found.get(call)


@pytest.mark.parametrize(
    "call",
    ["nn.Sigmoid(out)", "nn.ReLU(out)", "nn.MSELoss(out, y)", "nn.CrossEntropyLoss(out.mean(), y)", "nn.MSELoss(out, other)"],
)
def test_a_class_that_is_given_tensors(call: str) -> None:
    assert misused(f"«{call}»") is True


def test_a_softmax_needs_its_dimension() -> None:
    assert misused("«nn.Softmax(out)»") is False
    assert misused("«nn.Softmax(out, dim=1)»") is False


def test_what_is_done_with_a_loss_tells() -> None:
    assert misused("loss = «nn.MSELoss(unknown, other)»\nloss.backward()") is True
    assert misused("«nn.MSELoss(unknown, other)».item()") is True
    assert misused("total = 1 + 2 * «nn.MSELoss(unknown, other)»") is True
    assert misused("total += «nn.MSELoss(unknown, other)»") is True
    assert misused("loss = «nn.MSELoss(unknown, other)»\ntotal = loss / 4") is True
    assert misused("loss = «nn.MSELoss(unknown, other)»\nloss(out, y).backward()") is None
    assert misused("losses += [«nn.MSELoss(unknown, other)»]") is None
    assert misused("print('%s' % «nn.MSELoss(unknown, other)»)") is None


@pytest.mark.parametrize("name", ["Sigmoid", "Tanh", "LogSigmoid", "Softsign"])
def test_what_takes_no_options_raises_for_any_value(name: str) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError):
        getattr(torch.nn, name)(object())
    assert misused(f"«nn.{name}(unknown)»") is True
    assert misused(f"«nn.{name}(self.fc(unknown))»") is True
    assert misused(f"«nn.{name}(inplace)»") is None
    assert misused(f"«nn.{name}(True)»") is None


@pytest.mark.parametrize(
    "call",
    [
        "nn.CrossEntropyLoss(y)",  # the weights of the classes
        "nn.CrossEntropyLoss(y, False)",
        "nn.CrossEntropyLoss(weight=y)",
        "nn.Softmax(1)",
        "nn.LeakyReLU(slope)",
        "nn.ReLU()(out)",
        "nn.Sigmoid(*options)",
        "nn.Linear(out, y)",
        "other.Sigmoid(out)",
    ],
)
def test_options_are_options(call: str) -> None:
    assert misused(f"«{call}»") is None
