"""Weights that are given their own values, held within bounds. In the snippets, the ``.data`` that is assigned to is marked."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.data.rebinds import DataRebinds

HEADER = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nfrom torch.nn.functional import normalize\n"


def is_meant(snippet: str) -> bool:
    semantics, (node,) = marked(HEADER + snippet)
    assert isinstance(node, ast.Attribute)
    return semantics.of(DataRebinds).all[node].is_meant


METHOD = """
class Net(nn.Module):
    def hold(self):
        {}

def train(net, x, other, n, optimizer):
    net(x).sum().backward()
    optimizer.step()
"""
STEP = """
def train(net: nn.Linear, x, other, n, optimizer):
    loss = net(x).sum()
    loss.backward()
    {}
"""


@pytest.mark.parametrize(
    "body",
    [
        "«self.weight.data» = F.normalize(self.weight.data, p=1, dim=0)",
        "«self.weight.data» = normalize(self.weight.data)",
        "«self.weight.data» = torch.clamp(self.weight.data, min=-5.0, max=5.0)",
        "«self.weight.data» = self.weight.data.clamp(0, 1)",
        "«self.weight.data» = self.weight.detach().abs()",
        "«self.weight.data» = F.normalize(self.weight.data.clone().abs(), dim=1)",
        "for w in self.weights:\n            «w.data» = F.normalize(w.data, dim=0)",
        "with torch.no_grad():\n            «self.weight.data» = torch.relu(self.weight)",
    ],
)
def test_a_function_that_does_no_more(body: str) -> None:
    assert is_meant(METHOD.format(body))


@pytest.mark.parametrize(
    "body",
    [
        "«self.weight.data» = F.normalize(self.other.data, dim=0)",
        "«self.weight.data» = torch.clamp(self.weight.data, self.low, self.high)",
        "«self.weight.data» = torch.clamp(self.weight.data, min=torch.zeros(3, 3))",
        "«self.weight.data» = self.weight.data * 2",
        "«self.weight.data» = self.weight.data.flatten().abs()",
        "«self.weight.data» = elsewhere.clamp(other, 0, 1)",
        "y = self(x)\n        «self.weight.data» = F.normalize(self.weight.data)\n        return y",
        "«self.weight.data» = F.normalize(self.weight.data)\n        self.forward()",
        "«self.weight.data» = F.normalize(self.weight.data, out=self.weight)",
        "«self.weight.data» = F.normalize(self.weight.data, **how)",
        "while x:\n            «self.weight.data» = F.normalize(self.weight.data)",
    ],
)
def test_a_function_that_does_something_else(body: str) -> None:
    assert not is_meant(METHOD.format(body))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("optimizer.step()\n    «net.weight.data» = torch.clamp(net.weight.data, -1, 1)", True),
        (
            "optimizer.step()\n    net.bias.data = net.bias.data.abs()\n    «net.weight.data» = net.weight.data.clamp(-1, 1)",
            True,
        ),
        ("optimizer.step()\n    for p in net.parameters():\n        «p.data» = p.data.clamp(-1, 1)", True),
        ("«net.weight.data» = torch.clamp(net.weight.data, -1, 1)\n    optimizer.step()", False),
        (
            "optimizer.step()\n    y = net(x)\n    «net.weight.data» = net.weight.data.abs()\n    y.backward()",
            False,
        ),
        ("optimizer.step()\n    «net.weight.data» = torch.clamp(other.data, -1, 1)", False),
        ("optimizer.step()\n    def later():\n        y()\n        «net.weight.data» = net.weight.data.clamp(-1, 1)", False),
    ],
)
def test_behind_a_step(body: str, expected: bool) -> None:
    assert is_meant(STEP.format(body)) is expected


COMPARED = """
class Net(nn.Module):
    def forward(self, x):
        return x if self.training else -x

if __name__ == "__main__":
    one, other = Net(), Net()
    weight = torch.rand(3, 5)
    «one.weight.data» = weight
    y = one(x)
    y.sum().backward()
    {}
"""


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("print(x.grad)", True),
        ("torch.save(one.state_dict(), path)", False),
        ("optimizer = torch.optim.SGD(one.parameters())", False),
        ("train(one)", False),
        ("train_model(one)", False),
        ("trainer.fit(one)", False),
        ("one.load_state_dict(state)", False),
    ],
)
def test_a_comparison_of_what_a_file_defines(end: str, expected: bool) -> None:
    assert is_meant(COMPARED.format(end)) is expected
    assert not is_meant(COMPARED.format(end).replace('if __name__ == "__main__":', "def run(x):"))
