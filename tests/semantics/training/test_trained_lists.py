"""Lists that surely get what each step of a training back-propagates, and those that may not, or not for long."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.accumulation import Accumulations
from torchlint.semantics.training.trained_lists import TrainedLists

TRAINING = """
import torch
import torch.nn.functional as F
def train(model, optimizer, loader, scaler, kept):
    losses, other = [], 0
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        out = model(x)
        loss = F.mse_loss(out, y)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    print(losses)
"""


def kept(*changes: tuple[str, str]) -> list[bool]:
    text = TRAINING.replace("losses, other = [], 0", "losses = []")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    semantics = Semantics(ast.parse(text))
    lists = semantics.of(TrainedLists)
    return [lists.get_losses(statement) for statement, leak in semantics.of(Accumulations).leaks.items() if leak.kept]


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [("losses = []", "losses = list()")],
        [("losses = []", "losses = {}"), ("losses.append(loss)", "losses[step] = loss")],
        [("append(loss)", "append((step, loss.cpu()))")],
        [("loss.backward()", "scaler.scale(loss).backward()"), ("optimizer.step()", "scaler.step(optimizer)")],
        [("loss.backward()", "(loss / 4).backward()")],
        [("loss.backward()", "loss.sum().backward()"), ("append(loss)", "append(loss.sum())")],
        [("loss.backward()", "penalty = F.l1_loss(out, y)\n        (loss + penalty).backward()")],
        [("        losses.append(loss)", "        if step % 100 == 0:\n            losses.append(loss)")],
        [("    losses = []", "    for _ in range(99):\n      losses = []"), ("    for step,", "      for step,")],
    ],
)
def test_losses_that_each_step_back_propagates(changes: list[tuple[str, str]]) -> None:
    if any(new.startswith("      for") for _, new in changes):
        changes = [*changes, *((f"        {line}", f"          {line}") for line in ("optimizer.zero_grad()", "out = m"))]
        changes += [(f"        {line}", f"          {line}") for line in ("loss = F", "loss.b", "optimizer.s", "losses.a")]
    assert kept(*changes) == [True]


@pytest.mark.parametrize(
    "changes",
    [
        [("append(loss)", "append(out)")],  # which is not what is back-propagated
        [("loss = F.mse_loss(out, y)", "loss, part = model.losses(out, y)"), ("append(loss)", "append(part)")],
        [("        optimizer.step()\n", "")],  # the parts of a step, perhaps
        [("        optimizer.step()\n", ""), ("    print(losses)", "    optimizer.step()")],
        [("        optimizer.step()\n", "        model.scheduler.step()\n")],
        [("losses.append", "kept.append")],  # the callers'
        [("losses = []", "losses = kept")],  # shared with others
        [("losses = []", "losses = kept.losses = []")],
        [("print(losses)", "losses.clear()")],
        [("        losses.append(loss)", "        losses.append(loss)\n        if step > 9: losses.pop(0)")],
        [("        losses.append(loss)", "        losses.append(loss)\n        if step > 9: del losses[0]")],
        [("        losses.append(loss)", "        losses.append(loss)\n        if step > 9: losses[:] = []")],
        [
            (
                "        loss.backward()\n        optimizer.step()",
                "        loss.backward()\n        optimizer.step()\n        loss = y",
            )
        ],
        [("losses = []", "model.losses = []"), ("losses.append(loss)", "model.losses.append(loss)")],
        [("        loss.backward()\n", ""), ("    print(losses)", "    loss.backward()")],
    ],
)
def test_what_may_be_something_else_or_soon_be_gone(changes: list[tuple[str, str]]) -> None:
    assert True not in kept(*changes)


def test_a_list_of_each_round_is_gone_with_it() -> None:
    assert True not in kept(("    losses = []\n", ""), ("        optimizer.zero_grad()", "        losses = []"))


def test_chunks_of_one_step() -> None:
    text = """
import torch
import torch.nn.functional as F
def train(model, optimizer, loader):
    for chunks in loader:
        losses = []
        for x, y in chunks:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            losses.append(loss)
        optimizer.step()
        print(torch.stack(losses).mean())
"""
    semantics = Semantics(ast.parse(text))
    leaks = semantics.of(Accumulations).leaks
    assert [semantics.of(TrainedLists).get_losses(each) for each in leaks] == [False]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("loss = F.mse_loss(model(x), y)\n        loss.backward()\n        total += loss", [False]),
        ("loss = criterion(model(x), y)\n        loss.backward()\n        total += loss / 4", [False]),
        ("loss, mse_loss = criterion(model(x), y)\n        loss.backward()\n        total += mse_loss", [True]),
        ("loss, mse_loss = criterion(model(x), y)\n        (loss + mse_loss).backward()\n        total += mse_loss", [False]),
    ],
)
def test_sums_of_what_is_only_beside_the_loss(body: str, expected: list[bool]) -> None:
    text = "import torch\nimport torch.nn.functional as F\ndef train(model, criterion, loader):\n    total = 0\n"
    text += f"    for x, y in loader:\n        {body}\n    print(total)\n"
    semantics = Semantics(ast.parse(text))
    leaks = semantics.of(Accumulations).leaks
    assert [semantics.of(TrainedLists).is_assumed(each) for each in leaks] == expected
