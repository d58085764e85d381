"""What is taken for a copy of weights: of each marked expression, what it is an alias of."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.snapshots import Of, Snapshots

HEAD = """\
import copy
import torch
from collections import OrderedDict
from torch import nn, optim
model = nn.Linear(2, 2)
optimizer = optim.SGD(model.parameters(), lr=0.1)
w = nn.Parameter(torch.zeros(3))
class Own(nn.Module):
    def state_dict(self):
        return {}
own = Own()
"""


def snapshots(snippet: str) -> list[tuple[Of, str, str]]:
    """Of each alias in the marked expression: of what sort it is, what takes it, and of what it is one."""
    semantics, (node,) = marked(HEAD + snippet)
    return [(each.of, ast.unparse(each.core), each.place.spelling) for each in semantics.of(Snapshots).within(node)]


@pytest.mark.parametrize(
    "value",
    [
        "model.state_dict()",
        "model.state_dict().copy()",
        "dict(model.state_dict())",
        "OrderedDict(model.state_dict())",
        "copy.copy(model.state_dict())",
        "{k: v for k, v in model.state_dict().items()}",
        "{k: v.cpu() for k, v in model.state_dict().items()}",
        "{**model.state_dict()}",
    ],
)
def test_states(value: str) -> None:
    assert snapshots(f"«{value}»") == [(Of.STATE, "model.state_dict()", "model")]


def test_states_in_a_dict_have_their_keys() -> None:
    semantics, (node,) = marked(HEAD + "«{'m': model.state_dict(), 'o': optimizer.state_dict(), 'e': 1}»")
    found = semantics.of(Snapshots).within(node)
    assert [(each.place.spelling, each.key and ast.unparse(each.key)) for each in found] == [
        ("model", "'m'"),
        ("optimizer", "'o'"),
    ]


@pytest.mark.parametrize(
    ("value", "core"),
    [
        ("model.parameters()", "model.parameters()"),
        ("list(model.parameters())", "model.parameters()"),
        ("dict(model.named_parameters())", "model.named_parameters()"),
        ("[p.data for p in model.parameters()]", "model.parameters()"),
        ("[p for p in model.parameters()]", "model.parameters()"),
        ("{n: p.detach() for n, p in model.named_parameters()}", "model.named_parameters()"),
    ],
)
def test_parameters(value: str, core: str) -> None:
    assert snapshots(f"«{value}»") == [(Of.PARAMETERS, core, "model")]


@pytest.mark.parametrize(
    ("value", "core", "place"),
    [
        ("w.detach()", "w", "w"),
        ("w.data", "w", "w"),
        ("w.detach().numpy()", "w", "w"),
        ("model.weight", "model.weight", "model.weight"),
        ("model.weight.detach().cpu()", "model.weight", "model.weight"),
        ("model.state_dict()['weight']", "model.state_dict()['weight']", "model"),
        ("next(model.parameters())", "next(model.parameters())", "model"),
        ("list(model.parameters())[0]", "list(model.parameters())[0]", "model"),
    ],
)
def test_tensors(value: str, core: str, place: str) -> None:
    assert snapshots(f"«{value}»") == [(Of.TENSOR, core, place)]


@pytest.mark.parametrize("value", ["model", "copy.copy(model)"])
def test_modules(value: str) -> None:
    assert snapshots(f"«{value}»") == [(Of.MODULE, "model", "model")]


@pytest.mark.parametrize(
    "value",
    [
        "copy.deepcopy(model.state_dict())",
        "{k: v.clone() for k, v in model.state_dict().items()}",
        "[p.clone() for p in model.parameters()]",
        "w.detach().clone()",
        "copy.deepcopy(model)",
        "w.sum()",
    ],
)
def test_copies(value: str) -> None:
    assert snapshots(f"«{value}»") == []


@pytest.mark.parametrize(
    "value",
    [
        "w",
        "w.detach_()",
        "optimizer",
        "torch.zeros(3)",
        "[x for p in model.parameters()]",
        "optimizer.state_dict()['state']",
        "list(model.parameters())[:2]",
        "{k: v.float() for k, v in model.state_dict().items()}",
        "own.state_dict()",
    ],
)
def test_what_is_no_alias_or_may_be_a_copy(value: str) -> None:
    assert snapshots(f"«{value}»") == []


@pytest.mark.parametrize(
    ("snippet", "is_one"),
    [
        ("«unknown.state_dict()»", False),
        ("thing.eval()\n«thing.state_dict()»", True),
        ("thing.parameters()\n«thing.state_dict()»", True),
        ("net.load_state_dict(x)\n«net.state_dict()»", True),
        ("thing.load_state_dict(x)\n«thing.state_dict()»", False),
    ],
)
def test_what_is_used_as_a_module_is_one(snippet: str, is_one: bool) -> None:
    assert bool(snapshots(snippet)) is is_one
