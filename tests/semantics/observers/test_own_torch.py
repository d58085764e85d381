"""Whether torch is torch's own in a file, and what may have put something else in its place."""

from __future__ import annotations

import ast

import pytest

from torchlint.fact import Fact
from torchlint.semantics import Semantics
from torchlint.semantics.observers.own_torch import OwnTorch

HEADER = """\
import sys
from unittest import mock

import torch
import torch.nn.functional as F
from torch import nn

"""


def fact(text: str) -> Fact:
    """Whether nothing in a file of this text replaces what is torch's."""
    return Semantics(ast.parse(HEADER + text)).of(OwnTorch).fact


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.zeros(3)\nF.relu(x)",
        "torch.backends.cudnn.benchmark = True",
        "torch._dynamo.config.cache_size_limit = 64",
        "loss = getattr(F, name)(x)",
        "layer = getattr(nn, 'Linear')(2, 2)",
        "print(isinstance(x, torch.Tensor), hasattr(torch, 'compile'))",
        "model.layer = nn.Linear(2, 2)\nmodel.weight.requires_grad = False",
        "xp = torch\nxp.zeros(3)",
        "net = make(nn.BatchNorm2d, 'same')",
        "layer = nn.__dict__['Linear'](2, 2)",
        "class Net(nn.Module):\n    forward = None",
        "setattr(model, 'layer', nn.Linear(2, 2))",
        "T = TypeVar('T', bound=torch.Tensor)",
    ],
)
def test_torch_is_left_alone(text: str) -> None:
    assert fact(text).is_certain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("torch.Tensor.detach = counted", "torch.Tensor.detach"),
        ("F.tanh = lambda x: x", "torch.nn.functional.tanh"),
        ("torch.zeros = own", "torch.zeros"),
        ("torch.cuda.is_available = lambda: True", "torch.cuda.is_available"),
        ("xp = torch\nxp.zeros = own", "xp.zeros"),
        ("del torch.zeros", "torch.zeros"),
        ("for F.relu in functions:\n    pass", "F.relu"),
        ("vars(nn.init)['constant'] = own", "vars(nn.init)"),
        ("F.__dict__['sigmoid'] = own", "F.__dict__['sigmoid']"),
        ("F.__dict__.update(sigmoid=own)", "F.__dict__"),
        ("sys.modules['torch'] = own", "sys.modules['torch']"),
        ("setattr(F, 'sigmoid', own)", "setattr(F, 'sigmoid', own)"),
        ("setattr(torch.Tensor, name, own)", "setattr(torch.Tensor, name, own)"),
        ("install(F, 'sigmoid', own)", "install(F, 'sigmoid', own)"),
        ("install(torch.Tensor, 'detach', own)", "install(torch.Tensor, 'detach', own)"),
        ("for module in (F, nn):\n    shim(module)", "(F, nn)"),
        ("with mock.patch.object(F, 'sigmoid') as spy:\n    pass", "mock.patch.object(F, 'sigmoid')"),
        ("with mock.patch('torch.zeros') as spy:\n    pass", "mock.patch('torch.zeros')"),
        ("monkeypatch.setattr('torch.zeros', own)", "monkeypatch.setattr('torch.zeros', own)"),
        ("exec(text)", "exec(text)"),
    ],
)
def test_what_may_be_replaced(text: str, shown: str) -> None:
    shown = shown.replace("torch.nn.functional.", "F.")
    assert fact(text).doubt == f"`{shown}` may put something else in torch's place"
