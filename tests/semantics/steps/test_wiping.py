"""Gradients that are wiped before a step uses them: of each snippet, those that the marked call wipes."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from marked import marked
from torchlint.semantics.steps.wiping import Wiped, Wiping

BEFORE = """
import torch
import torch.nn as nn
from torch.optim import SGD, Adam

def accumulate(model, x):
    model(x).sum().backward()

model = nn.Linear(2, 2)
optimizer, other = SGD(model.parameters(), 0.1), Adam(unknown.parameters())
"""


def wiped(body: str) -> Wiped[ast.expr, ast.stmt] | None:
    """What the marked call wipes, in a loop over data."""
    semantics, (call,) = marked(BEFORE + "for x in loader:\n" + indent(dedent(body), "    "))
    assert isinstance(call, ast.Call)
    return semantics.of(Wiping).wiped.get(call)


@pytest.mark.parametrize(
    ("body", "backward"),
    [
        ("loss = model(x).sum()\nloss.backward()\n«optimizer.zero_grad()»\noptimizer.step()", "loss.backward()"),
        ("model(x).sum().backward()\n«model.zero_grad()»\noptimizer.step()", "model(x).sum().backward()"),
        ("accumulate(model, x)\n«optimizer.zero_grad()»\noptimizer.step()", "accumulate(model, x)"),
        ("loss = model(x).sum()\nloss.backward()\n«optimizer.zero_grad()»\nscaler.step(optimizer)", "loss.backward()"),
    ],
)
def test_what_is_wiped_too_soon(body: str, backward: str) -> None:
    found = wiped(body)
    assert found is not None
    assert ast.unparse(found.backward) == backward
    assert "step(" in ast.unparse(found.step)


def test_the_step_may_be_that_of_the_next_round() -> None:
    loop = "for x in xs:\n        optimizer.step()\n        model(x).sum().backward()\n        «optimizer.zero_grad()»"
    semantics, (call,) = marked(f"import torch\n\ndef train(xs, model, optimizer):\n    {loop}")
    assert call in semantics.of(Wiping).wiped


@pytest.mark.parametrize(
    "body",
    [
        "«optimizer.zero_grad()»\nmodel(x).sum().backward()\noptimizer.step()",
        "model(x).sum().backward()\noptimizer.step()\n«optimizer.zero_grad()»",
        "model(x).sum().backward()\n«other.zero_grad()»\noptimizer.step()",
        "model(x).sum().backward()\n«optimizer.zero_grad()»",
        "model(x).sum().backward()\n«optimizer.zero_grad()»\nmodel(x).sum().backward()\noptimizer.step()",
        "model(x).sum().backward()\n«optimizer.zero_grad()»\nmodel.weight.grad = kept\noptimizer.step()",
    ],
)
def test_what_is_wiped_in_time(body: str) -> None:
    assert wiped(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "model(x).sum().backward()\n«optimizer.zero_grad()»\ncompute_gradients(model, x)\noptimizer.step()",
        "model(x).sum().backward()\n«optimizer.zero_grad()»\noptimizer.keep_gradients()\noptimizer.step()",
        "unknown(x)\n«optimizer.zero_grad()»\noptimizer.step()",
    ],
)
def test_where_unseen_code_may_compute_gradients_nothing_is_known(body: str) -> None:
    assert wiped(body) is None


def place(body: str) -> str | None:
    """The statement in front of which the gradients can be wiped."""
    found = wiped(body)
    assert found is not None
    return ast.unparse(found.before) if found.before is not None else None


def test_the_place_is_in_front_of_the_first_backward_of_the_block() -> None:
    assert place("loss = model(x).sum()\nloss.backward()\n«optimizer.zero_grad()»\noptimizer.step()") == "loss.backward()"
    nested = "with torch.enable_grad():\n    loss.backward()"
    assert place(f"loss = model(x).sum()\n{nested}\n«optimizer.zero_grad()»\noptimizer.step()") == nested


def test_there_is_no_place_in_another_block_or_before_the_optimizer_is_made() -> None:
    assert place("loss = model(x).sum()\nloss.backward()\nif x:\n    «optimizer.zero_grad()»\n    optimizer.step()") is None
    assert place("model(x).sum().backward()\nwiped = «optimizer.zero_grad()»\noptimizer.step()") is None


GAN = """
import torch
from torch import nn
from torch.optim import Adam

def train(G, D, loader):
    g_optimizer, d_optimizer = Adam(G.parameters()), Adam(D.parameters())
    for x, z in loader:
        fake = G(z)
        {loss}
        d_loss.backward()
        {step}
        g_loss = -D(G(z)).mean()
        «g_optimizer.zero_grad()»
        g_optimizer.step()
"""


@pytest.mark.parametrize(
    ("loss", "step", "found"),
    [
        ("d_loss = D(fake.detach()).mean() - D(x).mean()", "d_optimizer.step()", False),
        ("d_loss = D(fake.data).mean() - D(x).mean()", "d_optimizer.step()", False),
        ("score = D(fake.detach())\n        d_loss = score.mean()", "d_optimizer.step()", False),
        ("d_loss = D(x).mean()\n        d_loss += D(fake.detach()).mean()", "d_optimizer.step()", False),
        ("d_loss = D(fake.detach()).mean() - D(x).mean()", "pass", True),
        ("d_loss = D(fake).mean()\n        d_loss += D(x).mean()", "d_optimizer.step()", True),
        ("d_loss = D(fake).mean() - D(x).mean()", "d_optimizer.step()", True),
        ("d_loss = D(x).mean()\n        d_loss += D(fake).mean()", "d_optimizer.step()", True),
        ("d_loss = D(fake.detach()).mean() + penalty(G)", "d_optimizer.step()", True),
        ("d_loss = D(fake.detach()).mean()", "if z: d_optimizer.step()", True),
    ],
)
def test_what_another_optimizer_has_used_is_not_wiped_too_soon(loss: str, step: str, found: bool) -> None:
    semantics, (call,) = marked(GAN.format(loss=loss, step=step))
    assert (call in semantics.of(Wiping).wiped) is found
