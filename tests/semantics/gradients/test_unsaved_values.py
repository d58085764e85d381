"""Which changes of values without a graph leave all gradients as they are, as far as their function shows."""

from __future__ import annotations

import ast
import textwrap

import pytest

from marked import marked
from torchlint.api import lint
from torchlint.semantics.gradients.saved.unsaved_values import UnsavedValues

_START = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n"
_CODES = """\
class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("codes", torch.zeros(8, 3))
        self.weight = nn.Parameter(torch.zeros(8, 3))

    def forward(self, x):
        {body}
"""


def is_left_alone(snippet: str) -> bool:
    """Whether the change of the marked tensor through its ``.data`` leaves the gradients alone."""
    semantics, (tensor,) = marked(_START + textwrap.dedent(snippet))
    data = semantics.tree.parent(tensor)
    assert data is not None
    target = semantics.tree.parent(data)
    assert isinstance(target, ast.expr)
    return semantics.of(UnsavedValues).are_changed(tensor, target)


@pytest.mark.parametrize(
    "snippet",
    [
        "def mask(lengths):\n    kept = Variable(torch.ones(3, 4))\n    kept = kept.cuda()\n"
        "    for i, n in enumerate(lengths):\n        «kept».data[i, n:] = 0\n    return kept",
        _CODES.format(body="«self.codes».data[x > 0] = 1.0"),
        _CODES.format(body="dead = self.codes == 0\n        «self.codes».data[dead] = 1.0"),
        _CODES.format(body="far = x - self.codes\n        «self.codes».data[0] = far.sum()"),
        "class Shift(torch.autograd.Function):\n    @staticmethod\n    def backward(ctx, grad):\n"
        "        «grad».data[0] = 0\n        return grad",
        "class Net(nn.Module):\n    def forward(self, x, old):\n        a = x.softmax(1)\n"
        "        if not (self.training or old is None):\n            «a».data[0] = old\n        return a",
    ],
)
def test_nothing_has_saved_it(snippet: str) -> None:
    assert is_left_alone(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        _CODES.format(body="y = x * self.codes\n        «self.codes».data[0] = 1.0\n        return y"),
        _CODES.format(
            body="for row in x:\n            «self.codes».data[0] = 1.0\n            x = x * self.codes\n        return x"
        ),
        _CODES.format(body="«self.weight».data[0] = 1.0\n        return x"),
        "def f(x, w):\n    kept = torch.ones(3)\n    y = w * kept\n    «kept».data[0] = 0\n    return y",
        "def f(kept):\n    «kept».data[0] = 0",
        "class Net(nn.Module):\n    def forward(self, x, old):\n        a = x.softmax(1)\n"
        "        if self.training:\n            «a».data[0] = old\n        return a",
        "class Net(nn.Module):\n    def backward(self, grad):\n        «grad».data[0] = 0",
    ],
)
def test_a_gradient_may_go_wrong(snippet: str) -> None:
    assert not is_left_alone(snippet)


def test_the_rule_is_silent_about_masks_and_speaks_of_weights() -> None:
    text = _START + "def mask(n):\n    kept = torch.ones(3)\n    kept.data[n:] = 0\n    return kept\n"
    text += "def clip(loss, w: nn.Parameter):\n    loss.backward()\n    w.data[0] = 0\n"
    found = lint(text)
    assert [each.location.row for each in found if each.code == "TPL001"] == [10]


@pytest.mark.parametrize(("base", "count"), [("unittest.TestCase", 0), ("nn.Module", 2)])
def test_the_rule_is_silent_where_a_test_gives_two_layers_the_same_weights(base: str, count: int) -> None:
    text = f"""\
import unittest
{_START}
class Layers({base}):
    def same(self, one: nn.Linear, other: nn.Linear):
        other.weight.data.copy_(one.weight.data)
        other.bias.data.copy_(one.bias.data)

    def check(self, one: nn.Linear, other: nn.Linear, x):
        self.same(one, other)
        one(x).sum().backward()
        other(x).sum().backward()
"""
    assert sum(each.code == "TPL001" for each in lint(text)) == count
