"""Backward passes through weights that a step has changed: the marked call is one, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.steps.stale import StaleBackwards

HEAD = """
import torch
from torch import nn, optim
def train(model: nn.Module, other: nn.Module, loader, n):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    second = optim.SGD(other.parameters(), lr=0.1)
    for x in loader:
"""
FIRST = "first = model(x).mean()"
LATER = "later = model(x).square().mean()"


def stale(*statements: str) -> list[tuple[str, str, int]]:
    """Of each stale backward: the forward, the step, and how many statements can be moved."""
    lines = [f"        {line}" for statement in statements for line in statement.split("\n")]
    semantics, nodes = marked(HEAD + "\n".join(lines) + "\n")
    found = semantics.of(StaleBackwards).found
    assert list(found) == nodes
    return [(ast.unparse(each.forward), ast.unparse(each.step), len(each.moved)) for each in found.values()]


def test_a_step_between_the_forward_and_the_backward() -> None:
    order = (FIRST, LATER, "first.backward()", "optimizer.step()", "«later.backward()»", "optimizer.step()")
    assert stale(*order) == [("model(x)", "optimizer.step()", 2)]


def test_the_result_of_a_model_through_variables() -> None:
    order = ("out = model(x)", "first = out.mean()", "later = other(out).mean()", "first.backward(retain_graph=True)")
    assert stale(*order, "optimizer.step()", "total = 2 * later", "«total.backward()»") == [("model(x)", "optimizer.step()", 0)]


def test_what_needs_the_loss_is_not_moved() -> None:
    order = (FIRST, LATER, "print(later)", "first.backward()", "optimizer.step()", "«later.backward()»")
    assert stale(*order) == [("model(x)", "optimizer.step()", 0)]


@pytest.mark.parametrize(
    "order",
    [
        (FIRST, "first.backward()", "optimizer.step()", LATER, "later.backward()", "optimizer.step()"),
        (FIRST, LATER, "first.backward()", "second.step()", "later.backward()"),
        (FIRST, LATER, "first.backward()", "later.backward()", "optimizer.step()"),
        (
            "out = model(x)",
            "later = other(out.detach()).mean()",
            "out.mean().backward()",
            "optimizer.step()",
            "later.backward()",
        ),
        (FIRST, LATER, "first.backward()", "if n:\n    optimizer.step()", "later.backward()"),
        (FIRST, LATER, "first.backward()", "optimizer.step()", f"if n:\n    {LATER}", "later.backward()"),
    ],
)
def test_weights_that_have_not_changed_or_may_not_have(order: tuple[str, ...]) -> None:
    assert stale(*order) == []


def test_one_layer_may_have_saved_no_weight() -> None:
    layer = ("layer = nn.Linear(2, 2)", "third = optim.SGD(layer.parameters(), lr=0.1)", "out = layer(x)", "first = out.mean()")
    assert stale(*layer, "later = out.sum()", "first.backward(retain_graph=True)", "third.step()", "later.backward()") == []


OF_A_CLASS = """
class Game:
    def __init__(self, {model}, other, {optimizer}):
        self.{model}, self.other, self.{optimizer} = {model}, other, {optimizer}

    def play(self, x):
        out = self.{model}(x)
        first, later = out.mean(), out.square().mean()
        first.backward(retain_graph=True)
        self.{optimizer}.step()
        {mark}
"""


@pytest.mark.parametrize(
    ("optimizer", "model", "is_named"),
    [
        ("d_optim", "D", True),
        ("optimizer_D", "netD", True),
        ("discriminator_optimizer", "discriminator", True),
        ("opt_dis", "dis_model", True),
        ("optimizerG", "generator", True),
        ("g_optim", "D", False),
        ("optimizer", "model", False),
        ("adam_d", "D", False),
    ],
)
def test_an_optimizer_from_elsewhere_is_told_by_its_name(optimizer: str, model: str, is_named: bool) -> None:
    mark = "«later.backward()»" if is_named else "later.backward()"
    semantics, nodes = marked("import torch\n" + OF_A_CLASS.format(optimizer=optimizer, model=model, mark=mark))
    assert list(semantics.of(StaleBackwards).found) == nodes


AGENT = """
import torch
from torch import nn, optim
class Agent:
    def __init__(self, model: nn.Module):
        self.model = model
        self.optimizer = optim.Adam(model.parameters())

    def learn(self, rewards, log_probs, old, optimizers):
        total = 0
"""


@pytest.mark.parametrize(
    "body",
    [
        "for log_prob, reward in zip(log_probs, rewards):\n  loss = -log_prob * reward\n  self.optimizer.zero_grad()\n"
        "  «loss.backward()»\n  self.optimizer.step()",
        "for i, p in enumerate(self.model.saved_log_probs):\n  self.optimizer.zero_grad()\n"
        "  loss = p.mean()\n  «loss.backward(retain_graph=True)»\n  self.optimizer.step()",
        "for log_prob, reward in zip(log_probs, rewards):\n  total = total - log_prob * reward\n"
        "self.optimizer.zero_grad()\ntotal.backward()\nself.optimizer.step()",
        "for log_prob, reward in zip(log_probs, rewards):\n  loss = -log_prob * reward\n  loss.backward()\n"
        "self.optimizer.step()",
        "for log_prob, optimizer in zip(log_probs, optimizers):\n  loss = log_prob.mean()\n  loss.backward()\n"
        "  optimizer.step()",
        "for state, log_prob in zip(rewards, log_probs):\n  loss = (self.model(state) - log_prob).mean()\n  loss.backward()\n"
        "  self.optimizer.step()",
        "for log_prob, reward in zip(log_probs, rewards):\n  loss = -log_prob * reward\n  loss.backward()\n"
        "  self.optimizer.step()\n  break",
        "for x, y in zip(rewards, old):\n  loss = (x - y).mean()\n  loss.backward()\n  self.optimizer.step()",
    ],
)
def test_log_probabilities_of_weights_that_each_round_changes(body: str) -> None:
    semantics, nodes = marked(AGENT + "".join(f"        {line}\n" for line in body.split("\n")))
    found = semantics.of(StaleBackwards).found
    assert list(found) == nodes
    assert all(each.is_collected and not each.moved for each in found.values())
