"""Whether an optimizer can be given less than all parameters, and the reasons where that may be noticed."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.training.freezing import Freezing
from torchlint.semantics.training.frozen_use import FrozenUse

PROGRAM = """\
import torch
from torch import nn
from trainer import fit


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 4)
        self.head = {head}

    def forward(self, x):
        return self.head(self.body(x))


model = Net()
{before}
for p in model.body.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(«model.parameters()», lr=0.1)
for x in torch.ones(3, 2, 3):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
{more}
"""


SEQUENCE = """\
import torch
from torch import nn

body, head = nn.Linear(3, 4), {head}
model = nn.Sequential(body, nn.ReLU(), head)
for p in model[0].parameters():
    p.requires_grad = False
{before}
optimizer = torch.optim.SGD(«model.parameters()», lr=0.1)
for x in torch.ones(3, 2, 3):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""


def fact(more: str = "", head: str = "nn.Linear(4, 1)", before: str = "", program: str = PROGRAM) -> Fact:
    """What is known of the program, with code behind it, or before the part is frozen."""
    semantics, [node] = marked(program.format(more=more, head=head, before=before))
    assert isinstance(node, ast.Call)
    return semantics.of(FrozenUse).fact(semantics.of(Freezing).given[node], node)


@pytest.mark.parametrize("more", ["", "print(model.head.weight.detach().sum())", "model.eval()\nmodel(x)"])
def test_certain(more: str) -> None:
    assert fact(more).is_certain


@pytest.mark.parametrize(
    ("more", "doubt"),
    [
        ("fit(model)", "`model` is handed on, to code that may thaw it"),
        ("fit(optimizer)", "`optimizer` is used otherwise than by `step()` and `zero_grad()`, and has fewer parameters then"),
        ("torch.save(optimizer.state_dict(), 'a')", "`optimizer` is used otherwise than by `step()` and `zero_grad()`"),
        ("model.body.weight.grad = x", "gradients are set by hand"),
        ("model.apply(fit)", "`apply` may thaw what is frozen"),
    ],
)
def test_unknown(more: str, doubt: str) -> None:
    assert fact(more).doubt.startswith(doubt)


def test_something_has_to_be_left() -> None:
    assert fact(head="nn.Flatten()").doubt.startswith("nothing may be left that requires grad")


def test_gradients_from_before() -> None:
    doubt = "what is frozen may have gradients from before, which the optimizer would clear"
    assert fact(before="model(torch.ones(1, 3)).sum().backward()").doubt == doubt
    assert fact(before="def warm_up():\n    model(torch.ones(1, 3)).sum().backward()").doubt == doubt


def test_a_sequence() -> None:
    assert fact(program=SEQUENCE).is_certain
    left = "nothing may be left that requires grad, and an optimizer of nothing cannot be made"
    assert fact(program=SEQUENCE, head="nn.ReLU()").doubt == left
    assert fact(program=SEQUENCE, before="for p in model[2].parameters():\n    p.requires_grad = False").doubt == left
    assert fact(program=SEQUENCE, before="for p in head.parameters():\n    p.requires_grad = False").doubt == left
    assert fact(program=SEQUENCE, before="head.weight.requires_grad = False").doubt == left
