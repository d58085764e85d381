"""Methods that are named and may be called for certain, and the reasons where they may not."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.training.meant_calls import MeantCalls

HEADER = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from elsewhere import data, given, other_model, Phased

class Net(nn.Module):
    pass

class Odd(Phased, nn.Module):
    pass

net = Net()
odd = Odd()
model = nn.Linear(3, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
plateau = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, 10)
loader = DataLoader(data)
x, y = torch.randn(2, 3), torch.randn(2, 1)
"""


def called(*lines: str) -> Fact:
    """Whether the marked method may be called."""
    semantics, [node] = marked(HEADER + "\n".join(lines))
    assert isinstance(node, ast.Attribute)
    return semantics.of(MeantCalls).call(node)


def assigned(*lines: str) -> Fact:
    """Whether what the marked method gives may be assigned."""
    semantics, [node] = marked(HEADER + "\n".join(lines))
    assert isinstance(node, ast.Attribute)
    return semantics.of(MeantCalls).assigned(node)


@pytest.mark.parametrize(
    "lines",
    [
        ("«net.eval»", "net(x)"),
        ("for batch in loader:", "    «model.train»", "    model(batch)"),
        ("for a in loader:", "    model(a).backward()", "«model.eval»", "model(x)"),
        ("for a in loader:", "    model.train()", "    model(a).backward()", "    «model.eval»", "    model(x)"),
        ("loss = F.mse_loss(model(x), y)", "loss.backward()", "«optimizer.step»"),
        ("«optimizer.zero_grad»", "loss = F.mse_loss(model(x), y)", "loss.backward()", "optimizer.step()"),
        ("loss.backward()", "optimizer.step()", "«model.zero_grad»"),
        ("for epoch in range(3):", "    «scheduler.step»"),
        ("loss = F.mse_loss(model(x), y)", "«loss.backward»", "optimizer.step()", "print(loss.item())"),
        ("for a, b in loader:", "    loss = criterion(model(a), b)", "    «loss.backward»", "    optimizer.step()"),
        ("w = torch.empty(3)", "«w.zero_»", "print(w)"),
        ("«torch.cuda.empty_cache»",),
        ("if torch.cuda.is_available():", "    «torch.cuda.synchronize»"),
    ],
)
def test_what_may_be_called(lines: tuple[str, ...]) -> None:
    assert called(*lines).is_certain


@pytest.mark.parametrize(
    ("lines", "doubt"),
    [
        (
            ("try:", "    «net.eval»", "    net(x)", "except AttributeError:", "    pass"),
            "the code may only ask whether there is such a method",
        ),
        (("«net.eval»", "net.eval()", "net(x)"), "`net.eval` is called or named elsewhere as well"),
        (("«net.eval»",), "nothing shows that `net` is run in the mode"),
        (("«odd.eval»", "odd(x)"), "`Odd()` may be no module of torch"),
        (("«other_model.eval»", "other_model(x)"), "`other_model` is imported; it may be no module of torch"),
        (("«given.step»", "given.zero_grad()"), "`given` is imported; it may be no optimizer of torch"),
        (("loss.backward()", "«optimizer.step»", "given(optimizer)"), "`optimizer` is handed on, and may be stepped elsewhere"),
        (("loss.backward()", "«optimizer.step»", "optimizer.step()"), "`optimizer.step` is called or named elsewhere as well"),
        (("«optimizer.step»",), "nothing shows that a step is meant here"),
        (("loss.backward()", "«optimizer.zero_grad»", "optimizer.step()"), "gradients may be wiped that are needed"),
        (("«scheduler.step»",), "nothing shows that a step is meant here"),
        (("for _ in loader:", "    «plateau.step»"), "`torch.optim.lr_scheduler.OneCycleLR(…)` may be no scheduler of torch"),
        (
            ("loss = F.mse_loss(model(x), y)", "«loss.backward»", "loss.backward()", "optimizer.step()"),
            "`loss.backward` is called or named elsewhere as well",
        ),
        (
            ("loss = F.mse_loss(model(x), y)", "«loss.backward»"),
            "nothing shows that a backward pass is meant here, or that it is possible",
        ),
        (
            ("def f():", "    loss = F.mse_loss(model(x), y)", "    «loss.backward»", "    optimizer.step()"),
            "autograd may be off where `loss` is computed",
        ),
        (
            ("model.weight.requires_grad = False", "loss = F.mse_loss(model(x), y)", "«loss.backward»", "optimizer.step()"),
            "nothing shows that `loss` is a number with a graph of its own",
        ),
        (
            ("given(model)", "loss = F.mse_loss(model(x), y)", "«loss.backward»", "optimizer.step()"),
            "nothing shows that `loss` is a number with a graph of its own",
        ),
        (
            ("loss = F.mse_loss(other_model(x), y)", "«loss.backward»", "optimizer.step()"),
            "nothing shows that `loss` is a number with a graph of its own",
        ),
        (
            ("loss = F.mse_loss(model(x), y, reduction='none')", "«loss.backward»", "optimizer.step()"),
            "nothing shows that `loss` is a number with a graph of its own",
        ),
        (
            ("loss = F.mse_loss(model(x), y)", "«loss.backward»", "optimizer.step()", "total = loss + 1"),
            "`loss` is used in other ways as well",
        ),
        (("w = torch.empty(3, requires_grad=True)", "«w.zero_»"), "`w` may not be changed in place"),
        (("w = torch.ones(3)", "z = model.weight * w", "«w.zero_»"), "`w` may not be changed in place"),
        (("w = torch.zeros(1).expand(3)", "«w.zero_»"), "`w` may not be changed in place"),
        (("«x.retain_grad»",), "nothing shows that `x.retain_grad` may be called here"),
        (
            ("«torch.cuda.synchronize»",),
            "`torch.cuda.synchronize` does not work on every machine, or does more than was meant",
        ),
        (("«torch.seed»",), "`torch.seed` does not work on every machine, or does more than was meant"),
    ],
)
def test_what_may_not(lines: tuple[str, ...], doubt: str) -> None:
    assert called(*lines).doubt == doubt


CELL = ("cell = nn.RNNCell(3, 3)", "h = cell(x, torch.zeros(2, 3))", "«h.detach»")


def test_what_may_be_assigned() -> None:
    assert assigned(*CELL, "h = cell(x, h)").is_certain


@pytest.mark.parametrize(
    ("lines", "doubt"),
    [
        ((*CELL, "h.sum().backward()"), "`h` may be back-propagated through"),
        (("h = torch.zeros(2)", "«h.float»", "print(h)"), "what is computed from it changes"),
        (("«given.detach»", "print(given)"), "`given` is imported; it may be no tensor"),
        (("h = torch.zeros(2)", "kept = [h]", "«h.detach»"), "`[h]` may rely on which tensor `h` is"),
    ],
)
def test_what_may_not_be_assigned(lines: tuple[str, ...], doubt: str) -> None:
    assert assigned(*lines).doubt == doubt


@pytest.mark.parametrize(
    "lines",
    [
        ("for a in loader:", "    model(a).backward()", "    «model.eval»", "    model(x)"),
        ("def test():", "    «model.eval»", "    model(x)", "", "for a in loader:", "    model(a).backward()", "    test()"),
    ],
)
def test_training_would_go_on_in_evaluation_mode(lines: tuple[str, ...]) -> None:
    assert called(*lines).doubt == "what is trained afterwards would be in the mode of `model.eval`"
