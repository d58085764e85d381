"""Where weights change: the calls of a snippet that update, and what of."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.memory.places import Places
from torchlint.semantics.training.updates import Updates

START = """
import torch
from torch import nn, optim
model = nn.Linear(2, 2)
other = nn.Linear(2, 2)
w = torch.zeros(2, requires_grad=True)
optimizer = optim.SGD(model.parameters(), lr=0.1)
"""


def updates(code: str) -> list[tuple[str, list[str]]]:
    """The updates at the top level: what runs, and what it changes."""
    semantics = Semantics(ast.parse(START + dedent(code)))
    found = Updates(semantics).of_scope(semantics.tree.module)
    return [(ast.unparse(update.node), [place.spelling for place in update.of]) for update in found]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("optimizer.step()", [("optimizer.step()", ["model"])]),
        ("scaler.step(optimizer)", [("scaler.step(optimizer)", ["model"])]),
        ("optim.Adam([w, model.weight]).zero_grad()", []),
        ("o = optim.Adam([w, model.weight])\no.step()", [("o.step()", ["w", "model.weight"])]),
        ("o = optim.Adam(params)\no.step()", [("o.step()", [])]),
        ("model.load_state_dict(other.state_dict())", [("model.load_state_dict(other.state_dict())", ["model"])]),
        ("trainer.fit(model, data)", [("trainer.fit(model, data)", ["model"])]),
        ("train_epoch(model, data, optimizer)", [("train_epoch(model, data, optimizer)", ["model"])]),
        ("save(model, optimizer)", []),
        ("trainer.fit(data)", []),
        ("scheduler.step()", []),
        ("env.step(action)", []),
        ("for p in model.parameters():\n    p.data.mul_(2)", [("p.data.mul_(2)", ["model"])]),
        ("for p in model.parameters():\n    p.grad.zero_()", []),
        ("def f(net, o):\n    o.step()\n    o.zero_grad()\nf(model, optimizer)", [("f(model, optimizer)", ["model"])]),
        ("def f(net):\n    optim.SGD(net.parameters(), 0.1).step()\nf(other)", [("f(other)", ["other"])]),
        ("def f():\n    net = nn.Linear(1, 1)\n    o = optim.SGD(net.parameters(), 0.1)\n    o.step()\nf()", []),
        ("def f():\n    optimizer.step()\ndef g():\n    f()\ng()", [("g()", ["model"])]),
    ],
)
def test_what_updates(code: str, expected: list[tuple[str, list[str]]]) -> None:
    assert updates(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model", True),
        ("model.weight", True),
        ("other", False),
        ("alias", True),
        ("wrapped", True),
        ("first", True),
    ],
)
def test_what_an_update_changes(code: str, expected: bool) -> None:
    text = "alias = model\nwrapped = nn.DataParallel(model)\nfirst = model.weight.data\noptimizer.step()\nprint(" + code + ")"
    semantics = Semantics(ast.parse(START + text))
    found = Updates(semantics)
    (update,) = found.of_scope(semantics.tree.module)
    call = semantics.tree.module.body[-1].value  # type: ignore[attr-defined]
    place = semantics.of(Places).place(call.args[0])
    assert place is not None
    assert found.changes(update, place) is expected


def test_attributes_of_one_object_are_the_same_in_all_its_methods() -> None:
    text = """
    class Trainer:
        def __init__(self, model):
            self.model = model
            self.optimizer = optim.SGD(self.model.parameters(), 0.1)

        def step(self):
            self.optimizer.step()

        def run(self):
            self.step()
    """
    semantics = Semantics(ast.parse(START + dedent(text)))
    run = next(node for node in semantics.tree.nodes if isinstance(node, ast.FunctionDef) and node.name == "run")
    found = Updates(semantics).of_scope(run)
    assert [(ast.unparse(update.node), [place.spelling for place in update.of]) for update in found] == [
        ("self.step()", ["self.model"])
    ]
