"""Values that are indexed for their number, and that back-propagation shows to have no dimensions."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.shapes.scalars import Scalars


def indexed(text: str) -> list[str]:
    found = Semantics(ast.parse("import torch\nfrom torch import nn\n" + textwrap.dedent(text))).of(Scalars).indexed
    return [ast.unparse(tensor) for tensor in found.values()]


MODEL = """
class Model:
    def __init__(self, gamma):
        self.gamma, self.weight = gamma, gamma
        self.weight = gamma
        self.edges = define_edges()

    def backward(self, out, y):
        self.near = self.pixels(out, y)
        self.sharp = self.edges(out, y)
        self.total = self.opt.alpha * (self.near + self.weight * self.sharp)
        {last}

    def numbers(self):
        return self.near.data[0], self.sharp.data[0], self.total.data[0]
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cost = f(x, y)\ncost.backward()\nprint(cost.data[0])", ["cost"]),
        ("cost = f(x, y)\ncost.backward(retain_graph=True)\nprint(cost.data.cpu()[0])", ["cost"]),
        ("a = f(x, y)\nb = g(x, y)\nc = a + 0.5 * b - a / 2\nc.backward()\nprint(a.data[0], b.data[0])", ["a", "b"]),
        ("a = f(x, y)\nc = 0\nc += a\nc.backward()\nprint(a.data[0])", ["a"]),
        ("a = f(x, y)\nc = opt.weight * -a\nc.backward()\nprint(a.data[0])", ["a"]),
        (MODEL.format(last="self.total.backward()"), ["self.near", "self.sharp", "self.total"]),
        ("loss = f(x, y)\nloss.backward()\nprint(loss.data.squeeze()[0])", ["loss"]),
        ("def f(loss_a, loss_b):\n    return (0.3 * loss_a - loss_b).data[0]", ["0.3 * loss_a - loss_b"]),
    ],
)
def test_terms_of_what_is_back_propagated_have_no_dimensions(text: str, expected: list[str]) -> None:
    assert indexed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a = f(x, y)\nprint(a.data[0])",  # nothing is back-propagated
        "a = f(x, y)\nc = a + g(x, y)\nc.backward(one)\nprint(a.data[0])",  # a gradient is given, of any form
        "a = f(x)\nc = a + 1\nc.backward()\nprint(a.data[0])",  # it may be what a model gives
        "value = critic(x, y)\nc = logp * (reward - value)\nc.backward()\nprint(value.data[0])",  # nor a term
        "value = critic(x, y)\nc = (reward - value) ** 2\nc.backward()\nprint(value.data[0])",
        "net = nn.Bilinear(3, 3, 1)\na = net(x, y)\nc = a + 1\nc.backward()\nprint(a.data[0])",
        "a = f(x, y)\nc = a.sum()\nc.backward()\nprint(a.data[0])",
        "a = f(x, y)\nc = a + 1\nc.backward()\na = g(x)\nprint(a.data[0])",  # another value by then
        "a, b = f(x, y)\nc = a + b\nc.backward()\nprint(a.data[0], b.data[0])",
        "a = f(x, y)\nc = a + 1\nc.backward()\nprint(a[0])",  # without the idiom, it may be what it says
        "def f(loss):\n    return loss.squeeze()[0]",  # the first of many
        "value = net(x, y)\nprint(value.data.squeeze()[0])",
        "def f(loss, out):\n    return (loss * out).data[0]",
        "def f(loss, out):\n    return (loss ** out).data[0]",
        MODEL.format(last="return self.total"),
    ],
)
def test_what_may_have_dimensions_can_be_indexed(text: str) -> None:
    assert indexed(text) == []


def test_many_terms_are_followed_once() -> None:
    sums = "".join(f"t{n} = t{n - 1} + t{n - 1}\n" for n in range(1, 400))
    assert indexed(f"t0 = f(x, y)\n{sums}t399.backward()\nprint(t0.data[0])") == ["t0"]
