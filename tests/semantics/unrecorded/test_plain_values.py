"""Values without a graph by all that is shown: of each snippet, whether the marked value is one."""

from __future__ import annotations

from textwrap import dedent

import pytest

from marked import marked
from torchlint.semantics.unrecorded.plain_values import PlainValues

BEFORE = """
import torch
import torch.nn as nn
import torch.nn.functional as F

criterion = nn.MSELoss()

class Distance(nn.Module):
    def forward(self, one, other):
        return (one - other).mean()

class Learned(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
    def forward(self, one, other):
        return (self.weight * (one - other)).mean()

distance, learned = Distance(), Learned()
"""


def is_plain(body: str) -> bool:
    """Whether the marked value is plain."""
    semantics, (node,) = marked(BEFORE + dedent(body))
    return semantics.of(PlainValues).is_plain(node)


@pytest.mark.parametrize("value", ["out.data", "out.detach()", "out.argmax(1)", "out > 0", "3", "torch.zeros(3)"])
def test_what_is_cut_off_or_made_anew(value: str) -> None:
    assert is_plain(f"out = model(x)\n«{value}»")
    assert is_plain(f"out = model(x)\nkept = {value}\nother = kept\n«other»")


@pytest.mark.parametrize("value", ["out", "out.mean()", "torch.sum(out)", "model(out.data)", "loss", "out[0]", "-out"])
def test_what_a_model_gives_may_have_one(value: str) -> None:
    assert not is_plain(f"out = model(x)\n«{value}»")


@pytest.mark.parametrize(("key", "plain"), [("acc", True), ("top1", True), ("loss", False), ("logits", False)])
def test_figures_among_what_a_model_gives_are_counted(key: str, plain: bool) -> None:
    assert is_plain(f"net = nn.Sequential()\nout = net(x)\n«out['{key}']»") is plain


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("torch.sum(a)", True),
        ("torch.sum(b)", False),
        ("a + 1", True),
        ("a + b", False),
        ("criterion(a, y)", True),
        ("F.mse_loss(a, y)", True),
        ("criterion(b, y)", False),
        ("distance(a, a)", True),
        ("distance(a, b)", False),
        ("learned(a, a)", False),
        ("a.cuda().float()", False),  # nothing says that it is a tensor
    ],
)
def test_what_is_computed_is_as_what_it_is_computed_of(value: str, plain: bool) -> None:
    body = f"""
    out = model(x)
    def measure(a, b, y):
        return «{value}»
    measure(out.data, out, target)
    """
    assert is_plain(body) is plain


def test_a_parameter_is_what_all_callers_give() -> None:
    body = "def f(a):\n    return «a»\nf(x.data)\n"
    assert is_plain(body)
    assert not is_plain(body + "f(model(x))\n")
    assert not is_plain("def f(a):\n    return «a»\n")


def test_loops_over_data_give_data() -> None:
    assert is_plain("def f(loader):\n    for x, y in loader:\n        «y»")
    assert not is_plain("def f(losses):\n    for loss in losses:\n        «loss»")
    assert is_plain("def f(a, b):\n    for x, y in zip(a, b):\n        «x»\nf(out.data, out.detach())")
    assert not is_plain("def f(a, b):\n    for x, y in zip(a, b):\n        «x»\nf(out.data, out)")


@pytest.mark.parametrize(
    ("cut", "plain"),
    [
        ("loss.detach_()", True),
        ("if y:\n        loss.detach_()", False),
        ("other.detach_()", False),
        ("loss.detach()", False),
        ("loss = loss.detach()", True),
    ],
)
def test_what_is_cut_in_place_before(cut: str, plain: bool) -> None:
    assert is_plain(f"for x in xs:\n    loss = criterion(model(x), y)\n    {cut}\n    print(«loss»)") is plain
    assert not is_plain(f"for x in xs:\n    loss = criterion(model(x), y)\n    print(«loss»)\n    {cut}")


def test_what_is_stored_without_its_graph() -> None:
    assert is_plain("out = model(x)\nout['loss'] = out['loss'].detach()\n«out['loss']»")
    assert not is_plain("out = model(x)\nout['loss'] = out['loss'].detach()\n«out['kl']»")
    assert not is_plain("out = model(x)\nout['loss'] = out['loss'].mean()\n«out['loss']»")


@pytest.mark.parametrize(
    "leaf",
    [
        "w = torch.zeros(3, requires_grad=True)",
        "w = torch.tensor(out.item(), requires_grad=True)",
        "w = torch.zeros(3).requires_grad_()",
        "w = torch.zeros(3)\nw.requires_grad_()",
        "w = torch.zeros(3)\nw.requires_grad = True",
        "w = nn.Parameter(torch.zeros(3))",
    ],
)
@pytest.mark.parametrize("value", ["w", "w * 2", "torch.sum(w)", "F.mse_loss(w, y)"])
def test_a_leaf_may_give_one(leaf: str, value: str) -> None:
    assert not is_plain(f"out = model(x)\n{leaf}\n«{value}»")


@pytest.mark.parametrize(
    ("before", "value", "plain"),
    [
        ("with torch.no_grad():\n        out = model(x)", "loss_fn(out, y)", True),
        ("with torch.no_grad():\n        out = model(x)", "self.criterion(out, y)", True),
        ("with torch.no_grad():\n        out = model(x)", "model(out)", False),
        ("with torch.no_grad():\n        out = model(x)", "self.learned(out, y)", False),
        ("with torch.no_grad():\n        out = model(x)\n    out.requires_grad_()", "loss_fn(out, y).mean()", False),
        ("out = model(x)\n    with torch.no_grad():\n        z = model(x)", "loss_fn(out, z)", False),
        ("out = model(x)\n    with torch.no_grad():\n        if y:\n            out = model(x)", "loss_fn(out, y)", False),
        ("for out in data_loader:\n        pass", "loss_fn(out, y)", False),  # it may hold the model
    ],
)
def test_what_is_given_a_loss_that_was_computed_without_autograd(before: str, value: str, plain: bool) -> None:
    assert is_plain(f"def f(self, model, loss_fn, x, y, data_loader):\n    {before}\n    return «{value}»") is plain


FROZEN = """
class Encoded:
    def __init__(self, encoder, files):
        self.encoder = encoder.eval()
        {freezes}
        self.kept = [«self.read(each)» for each in files]

    def read(self, each):
        {returns}
"""
LOOP = "for p in self.encoder.parameters():\n            p.requires_grad = False"
RUN = "return self.encoder(torch.ones(each))[0]"


@pytest.mark.parametrize(
    ("freezes", "returns", "plain"),
    [
        (LOOP, RUN, True),
        ("pass", RUN, False),
        (LOOP.replace("False", "True"), RUN, False),
        (LOOP, RUN + "\n    def thaw(self):\n        self.encoder.requires_grad_(True)", False),
        (LOOP, "if each:\n            return each.net(1)\n        " + RUN, False),
        (LOOP, "return self.encoder(self.other(torch.ones(each)))", False),
    ],
)
def test_a_method_gives_what_a_frozen_network_makes_of_data(freezes: str, returns: str, plain: bool) -> None:
    text = FROZEN.format(freezes=freezes, returns=returns)
    assert is_plain(text.replace("self.other(", "self.model(")) is plain
