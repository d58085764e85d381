"""Logarithms of what has overflowed or underflowed: of each snippet, the marked one, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import Answer
from torchlint.semantics.numerics.unstable_logs import Unstable, UnstableLogs

HEAD = """\
import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
def f(net: nn.Module, x: torch.Tensor, other):
  y = net(x)
"""


def unstable(expression: str) -> list[Unstable[ast.expr]]:
    semantics, nodes = marked(f"{HEAD}  return {expression}\n")
    found = semantics.of(UnstableLogs).found
    assert list(found) == nodes
    return list(found.values())


@pytest.mark.parametrize(
    ("held", "is_near"),
    [
        ("torch.clamp(x, 1e-9, 1 - 1e-9)", True),
        ("x.clamp(-10, max=10)", True),
        ("x.clip(min=-5, max=5.0)", True),
        ("torch.tanh(x)", True),
        ("x.clamp(-1e4, 1e4)", False),
        ("x.clamp(min=-5)", False),
        ("torch.clamp(x, -other, other)", False),
        ("other.tanh(x)", False),
        ("torch.relu(x)", False),
    ],
)
def test_what_is_held_within_bounds_has_no_probability_of_zero(held: str, is_near: bool) -> None:
    semantics, nodes = marked(f"{HEAD}  x = {held}\n  x = F.softmax(x, 1)\n  return «x.log()»\n")
    assert list(semantics.of(UnstableLogs).found) == ([] if is_near else nodes)


@pytest.mark.parametrize(
    ("expression", "function", "value", "of_method", "answer"),
    [
        ("«torch.log(torch.softmax(x, dim=1))»", "softmax", "x", False, Answer.CERTAIN),
        ("«torch.log(F.softmax(x, 1))»", "softmax", "x", False, Answer.CERTAIN),
        ("«F.softmax(x).log()»", "softmax", "x", False, Answer.UNKNOWN),
        ("«torch.log(x.softmax(-1))»", "softmax", "x", True, Answer.CERTAIN),
        ("«torch.log(torch.sigmoid(y))»", "sigmoid", "y", False, Answer.CERTAIN),
        ("«torch.log(torch.sigmoid(x))»", "sigmoid", "x", False, Answer.UNKNOWN),
        ("«y.sigmoid().log()»", "sigmoid", "y", True, Answer.CERTAIN),
        ("«torch.log(torch.sum(torch.exp(y), dim=1))»", "sum", "y", False, Answer.CERTAIN),
        ("«torch.log(y.exp().sum(1))»", "sum", "y", True, Answer.CERTAIN),
        ("«y.exp().sum().log()»", "sum", "y", True, Answer.UNKNOWN),
    ],
)
def test_what_is_unstable(expression: str, function: str, value: str, of_method: bool, answer: Answer) -> None:
    (found,) = unstable(expression)
    assert (found.function, ast.unparse(found.value), found.of_method) == (function, value, of_method)
    assert found.same.answer is answer


def test_a_name_or_another_shape_between() -> None:
    (found,) = unstable("p\n  p = torch.softmax(x, dim=1)\n  return x, «p.log()»")
    assert (found.function, ast.unparse(found.value), found.is_direct) == ("softmax", "x", False)
    (found,) = unstable("p\n  z = torch.tensor([2.0, other])\n  p = torch.sigmoid(z)\n  return «p.log()»")
    assert (found.function, ast.unparse(found.value)) == ("sigmoid", "z")
    (found,) = unstable("«torch.log(torch.sum(torch.exp(2 * y).view(2, -1), 1))»")
    assert (found.function, ast.unparse(found.value), found.is_direct) == ("sum", "2 * y", False)


@pytest.mark.parametrize(
    "expression",
    [
        "F.log_softmax(x, dim=1)",
        "torch.log(torch.softmax(x, dim=1) + 1e-8)",
        "torch.log(torch.softmax(x, dim=1).clamp(min=1e-8))",
        "torch.log(1 - torch.sigmoid(x))",
        "torch.log(x.sum(dim=1))",
        "torch.log(torch.exp(x - x.max()).sum(dim=1))",
        "x\n  z = x - x.max()\n  return torch.log(torch.exp(z).sum(dim=1))",
        "torch.log(torch.exp(y.clamp(max=9)).sum(dim=1))",
        "x\n  p = torch.softmax(x, dim=1)\n  p = p + 1\n  return p.log()",
        "torch.log(torch.softmax(x, dim=1), out=x)",
        "torch.log(torch.softmax(x, dim=1, out=x))",
        "torch.log(torch.softmax(x, **other))",
        "torch.log2(torch.softmax(x, dim=1))",
        "torch.log(torch.sigmoid(torch.arange(-6, 6, 0.01)))",
        "torch.log(torch.sigmoid(torch.tensor([2.0, -1.5])))",
        "x\n  z = torch.tensor([[2.0], [-1.5]])\n  p = torch.softmax(z, dim=0)\n  return p.log()",
        "np.log(np.exp(other).sum())",
        "math.log(sum(math.exp(v) for v in other))",
        "other.softmax().log()",
        "other.log(torch.softmax(x, dim=1))",
    ],
)
def test_what_is_not(expression: str) -> None:
    assert not unstable(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "x\n  p = torch.softmax(x, dim=1)\n  return «torch.log(p.gather(1, y))»",
        "x\n  p = torch.softmax(x, dim=1)[:, 0]\n  return «torch.log(p)»",
        "«torch.log(torch.gather(torch.softmax(x, dim=1), 1, y).squeeze(1))»",
        "«torch.log(nn.Softmax(dim=1)(x))»",
        "x\n  rows = zip(torch.softmax(x, dim=1), y)\n  return [«torch.log(p)» * b for p, b in rows]",
    ],
)
def test_is_followed_through_code(expression: str) -> None:
    [found] = unstable(expression)
    assert (found.function, found.is_far, found.is_direct) == ("softmax", True, False)


@pytest.mark.parametrize(
    "expression",
    [
        "x\n  p = torch.softmax(x, dim=1)\n  a = torch.multinomial(p, 1)\n  return torch.log(p.gather(1, a))",
        "torch.log((torch.softmax(x, dim=1) + 1e-8).gather(1, y))",
        "torch.log(nn.Softmax(dim=1)(x).clamp(min=1e-6))",
        "x\n  with torch.no_grad():\n    return torch.log(nn.Softmax(dim=1)(x))",
    ],
)
def test_is_not_found_through_code(expression: str) -> None:
    assert not unstable(expression)


@pytest.mark.parametrize("second", ["x - m.unsqueeze(1)", "x.contiguous()"])
def test_the_largest_is_subtracted_on_one_of_the_ways(second: str) -> None:
    ways = f"x\n  if other:\n    s = x - m\n  else:\n    s = {second}\n  return m + torch.log(s.exp().sum(1))"
    assert unstable(ways) == []


def test_nothing_is_subtracted_on_any_way() -> None:
    (found,) = unstable("x\n  if other:\n    s = x * 2\n  else:\n    s = x * 3\n  return «torch.log(s.exp().sum(1))»")
    assert found.function == "sum"


@pytest.mark.parametrize(
    ("name", "more", "is_found"),
    [
        ("beam_search", "", False),
        ("greedy", "", False),
        ("translate_batch", "", False),
        ("search", "; loss.backward()", True),
        ("research", "", True),
        ("step", "", True),
    ],
)
def test_scores_of_a_search(name: str, more: str, is_found: bool) -> None:
    body = f"p = torch.softmax(x, dim=1)\n  scores = torch.log(p.gather(1, y)){more}\n  return scores\n"
    semantics, _ = marked(f"import torch\ndef {name}(x: torch.Tensor, y, loss):\n  {body}")
    assert bool(semantics.of(UnstableLogs).found) is is_found


@pytest.mark.parametrize(
    ("drawn", "is_found"),
    [
        ("torch.randn(7, 5)", False),
        ("torch.randn_like(x)", False),
        ("torch.randn(7, 5, requires_grad=True)", True),  # it may be trained until a probability is zero
        ("torch.randn(7, 5).requires_grad_()", True),
        ("torch.randn(7, 5) * other", True),
        ("torch.randn(7, 5).mul_(other)", True),
        ("torch.randn(**other)", True),
    ],
)
@pytest.mark.parametrize("form", ["«torch.log(torch.softmax({drawn}, -1))»", "«(({drawn}).softmax(-1)).log()»"])
def test_what_is_drawn_is_never_far_from_zero(form: str, drawn: str, is_found: bool) -> None:
    expression = form.format(drawn=drawn)
    assert bool(unstable(expression if is_found else expression.strip("«").replace("»", ""))) is is_found


@pytest.mark.parametrize(
    ("use", "is_found"), [("", False), ("  z.requires_grad_()\n", True), ("  z.mul_(9)\n", True), ("  z.size()\n", False)]
)
def test_what_is_drawn_may_be_trained_or_changed_under_its_name(use: str, is_found: bool) -> None:
    semantics, _ = marked(f"{HEAD}  z = torch.randn(3)\n{use}  return z.softmax(0).log()\n")
    assert bool(semantics.of(UnstableLogs).found) is is_found


@pytest.mark.parametrize(
    ("exponent", "is_found"),
    [
        ("-d.pow(2) / 4", False),
        ("-(d ** 2) * 0.5", False),
        ("-d", False),
        ("-0.5 * d", True),  # as far as is looked
        ("d.pow(2) / 4", True),
        ("(-d) ** 2", True),
        ("-d * other", True),
        ("-torch.cdist(x, other)", True),  # all of them may be far away
        ("-torch.cdist(net(x), net(x))", True),
    ],
)
def test_points_among_themselves_have_no_distance_from_themselves(exponent: str, is_found: bool) -> None:
    text = f"{HEAD}  d = torch.cdist(x, x)\n  return torch.exp({exponent}).sum(0).log()\n"
    semantics, _ = marked(text)
    assert bool(semantics.of(UnstableLogs).found) is is_found
