"""What a flag can be set on, and the reasons where that may change something else."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.certainty.flag_owners import FlagOwners

HEADER = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)


net = Net()
"""


def facts(text: str, value: str = "False", header: str = HEADER) -> tuple[Fact, Fact]:
    """Whether the marked expression is a parameter, and a module, that takes a flag."""
    semantics, [node] = marked(header + text)
    flag = ast.parse(value, mode="eval").body
    owners = semantics.of(FlagOwners)
    return owners.parameter(node, flag, "requres_grad"), owners.module(node, flag, "requres_grad")


@pytest.mark.parametrize("value", ["True", "False", "not x", "name in names"])
def test_a_parameter(value: str) -> None:
    parameter, module = facts("for p in net.parameters():\n    «p»", value)
    assert parameter.is_certain
    assert not module.is_certain


def test_a_module() -> None:
    assert facts("head = nn.Linear(2, 1)\n«net»")[1].is_certain
    assert facts("head = nn.Linear(2, 1)\n«head»", "True")[1].is_certain


@pytest.mark.parametrize(
    ("text", "value", "doubt"),
    [
        ("«net»", "True", "not all parameters of `net` may be meant to be trained"),
        ("for x in y:\n    «net»", "False", "`net` may be trained again, and nobody thaws it"),
        ("def f():\n    «net»", "False", "`net` may be trained again, and nobody thaws it"),
        (
            "head = nn.Linear(2, 1)\nhead.requires_grad = net.fc.requires_grad = False\n«net»",
            "False",
            "nothing may be left that requires grad, so that the backward pass raises",
        ),
    ],
)
def test_a_module_whose_training_may_change(text: str, value: str, doubt: str) -> None:
    assert facts(text, value)[1].doubt == doubt


def test_a_parameter_of_a_part() -> None:
    part = "for m in net.modules():\n    if isinstance(m, nn.Linear):\n        for p in m.parameters():\n            «p»"
    assert facts(part)[0].is_certain
    codes = "codes = nn.Parameter(torch.arange(4), False)\nfor p in net.parameters():\n    «p»"
    assert facts(codes, "False")[0].is_certain


def test_a_new_tensor() -> None:
    assert facts("p = torch.ones(1)\n«p»")[0].is_certain
    assert facts("p = torch.ones(1)\np.name = 1\n«p»", "True")[0].is_certain


@pytest.mark.parametrize(
    ("text", "value", "doubt"),
    [
        ("p = torch.zeros(3)\np[0] = w\n«p»", "False", "`p` may be no parameter, and refuse the flag"),
        ("p = torch.arange(3)\n«p»", "True", "`p` may be no parameter, and refuse the flag"),
        ("for p in net.parameters():\n    «p»", "1", "`1` is no flag"),
        ("for p in net.parameters():\n    «p»", "flag", "`flag` may be no flag"),
        ("x = torch.zeros(3)\nfill(x)\n«x»", "False", "`x` may be no parameter, and refuse the flag"),
        ("def f(p):\n    «p»", "False", "`p` is an argument; it may be no tensor"),
        (
            "prune.random_unstructured(net.fc, 'weight', 0.5)\nfor p in net.parameters():\n    «p»",
            "False",
            "`prune` may have put a computed tensor in a parameter's place, which refuses the flag",
        ),
        (
            "codes = nn.Parameter(torch.arange(4), False)\nfor p in net.parameters():\n    «p»",
            "True",
            "`nn.Parameter(torch.arange(4), False)` may refuse to require grad",
        ),
        (
            "for p in net.parameters():\n    «p»\n    print(vars(p))",
            "False",
            "`vars` may read attributes by their names",
        ),
    ],
)
def test_no_parameter(text: str, value: str, doubt: str) -> None:
    assert facts(text, value)[0].doubt == doubt


@pytest.mark.parametrize(
    ("line", "library"),
    [
        ("from models import Net", "models"),
        ("from . import models", "."),
        ("from .models import Net", ".models"),
        ("import acme.nets", "acme"),
    ],
)
def test_other_files_may_read_it(line: str, library: str) -> None:
    _, module = facts("for p in «net».parameters():\n    p", header=f"{line}\n{HEADER}")
    assert module.doubt == f"code of `{library}` may read `requres_grad`"


def test_a_module_of_an_unknown_base() -> None:
    text = "class Own(Base):\n    def forward(self, x):\n        return x\n\n\nown = Own()\n«own»"
    assert facts(text)[1].doubt == "`own` may be a module with a `requres_grad` of its own"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w = torch.zeros(3)\n«w».require_grad = False\nw[0] = 1\np = torch.nn.Parameter(w, requires_grad=False)", True),
        ("w = torch.zeros(3)\n«w».require_grad = False\np = torch.nn.Parameter(w, False)", True),
        ("w = torch.zeros(3)\n«w».require_grad = False\np = torch.nn.Parameter(w)", False),
        ("w = torch.zeros(3)\n«w».require_grad = False\nw = f()\np = torch.nn.Parameter(w, requires_grad=False)", False),
        ("w = torch.zeros(3)\n«w».require_grad = False\np = f(w, requires_grad=False)", False),
        ("«net.w».require_grad = False\np = torch.nn.Parameter(net.w, requires_grad=False)", False),
    ],
)
def test_told_later_by_the_right_name(text: str, expected: bool) -> None:
    semantics, [node] = marked("import torch\n" + text)
    assert semantics.of(FlagOwners).is_told_later(node) is expected
