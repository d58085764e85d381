"""Tensors that modules keep as plain attributes: each marked assignment meets an input in a method, the others do not."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.devices.plain_tensors import PlainTensor, PlainTensors

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
class Net(nn.Module):
  def __init__(self, n):
    super().__init__()
    self.fc = nn.Linear(n, n)
    self.x = {value}
  def forward(self, y, flag=None):
    {use}
"""


def plain(value: str, use: str) -> list[PlainTensor[ast.expr]]:
    semantics, _ = marked(HEAD.format(value=value, use=use))
    return list(semantics.of(PlainTensors).found.values())


@pytest.mark.parametrize(
    ("use", "other"),
    [
        ("return y + self.x", "y"),
        ("return torch.cat([y]) * self.x[:3].unsqueeze(0)", "torch.cat([y])"),
        ("x = self.x\n    return (x > 1).float() @ y", "y"),
        ("return torch.cat([y, self.x.expand(y.size(0), -1)], 1)", "y"),
        ("return y.masked_fill(self.x == 0, 1)", "y"),
        ("return self.fc(self.x)", "self.fc"),
        ("return self.fc(y) - self.x", "self.fc(y)"),
        ("return self.x[y.long()]", "y.long()"),
        ("return self.x.gather(0, y.view(-1))", "y.view(-1)"),
        ("return torch.where(self.x > 0, y, 0)", "y"),
        ("z = y * 2\n    for row in z:\n      row = row / self.x\n    return row", "row"),
    ],
)
def test_what_meets_an_input(use: str, other: str) -> None:
    assert [ast.unparse(each.other) for each in plain("torch.ones(n)", use)] == [other]


@pytest.mark.parametrize(
    ("value", "is_always"),
    [
        ("torch.ones(n)\n    if n > 2:\n      self.x = nn.Parameter(self.x)", False),
        ("torch.ones(n)\n    self.y = nn.Parameter(self.x)", True),
    ],
)
def test_what_may_be_a_parameter_afterwards(value: str, is_always: bool) -> None:
    (found,) = plain(value, "return y + self.x")
    assert found.is_always is is_always


def test_what_is_a_parameter_afterwards() -> None:
    assert plain("torch.ones(n)\n    self.x = nn.Parameter(self.x)", "return y + self.x") == []


@pytest.mark.parametrize(
    ("registers", "expected"),
    [
        ("self.register_buffer('x', self.x)", 0),
        ("self.register_buffer(name='x', tensor=t)", 0),
        ("self.register_buffer('z', t)", 1),
        ("setattr(self, 'z', t)", 1),
    ],
)
def test_what_is_registered_by_its_name(registers: str, expected: int) -> None:
    assert len(plain(f"torch.ones(n)\n    {registers}", "return y + self.x")) == expected


@pytest.mark.parametrize(
    "use",
    [
        "return y + self.x.to(y.device)",
        "x = self.x\n    x = x.cuda()\n    return x + y",
        "if self.x.device != y.device:\n      y = y.cpu()\n    return y + self.x",
        "self.x = self.x.to(y)\n    return y + self.x",
        "return y.size(0) * self.x",
        "return torch.ones(y.size(0)) * self.x",
        "return y.cpu() + self.x",
        "return y.copy_(self.x)",
        "return y[: len(self.x)]",
        "return y + self.x.sum().item()",
        "return F.softmax(self.x, dim=0)",
    ],
)
def test_what_needs_no_move(use: str) -> None:
    assert not plain("torch.ones(n)", use)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("torch.tensor([1.0, 2.0])", True),
        ("torch.FloatTensor(n)", True),
        ("torch.triu(torch.ones(n, n)).bool()", True),
        ("1 / 10 ** (torch.arange(n) / n)", True),
        ("torch.tensor(2.0)", False),
        ("torch.tensor(n)", False),
        ("torch.ones(n, device='cuda')", False),
        ("torch.ones(n, **kwargs)", False),
        ("torch.ones(n).cuda()", False),
        ("torch.ones(n, requires_grad=True)", False),
        ("nn.Parameter(torch.ones(n))", False),
        ("[torch.ones(n)]", False),
        ("n.weight * 2", False),
    ],
)
def test_what_is_kept(value: str, found: bool) -> None:
    assert bool(plain(value, "return y + self.x")) is found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(nn.Module)", "(object)"),
        ("def forward", "def cuda(self):\n    self.y = 1\n  def forward"),
        ("self.fc =", "self.x = None\n    self.fc ="),
        ("def forward", "def reset_parameters"),
        ("class Net", "def place(net):\n  net.x = net.x.cuda()\nclass Net"),
        ("def forward", "def move(self, d):\n    for k in d:\n      setattr(self, k, self.y)\n  def forward"),
    ],
)
def test_what_is_another_matter(old: str, new: str) -> None:
    program = HEAD.format(value="torch.ones(n)", use="return y + self.x")
    assert len(marked(program)[0].of(PlainTensors).found) == 1
    assert not marked(program.replace(old, new, 1))[0].of(PlainTensors).found


LOOP = "z = 0\n    for i in range(3):\n      z = z + y * self.x[i]\n    return z"


@pytest.mark.parametrize(
    "value", ["torch.ones(n)", "torch.tensor([0.2, 0.8])", "torch.arange(4)", "n if n is not None else torch.zeros(4)"]
)
def test_an_item_of_a_row_has_no_dimensions(value: str) -> None:
    assert not plain(value, LOOP)
    assert not plain(value, "return y + self.x[0]")
    assert plain(value, LOOP.replace("return z", "return y + self.x"))


@pytest.mark.parametrize(
    "value", ["torch.ones(n, 2)", "torch.zeros(shape)", "torch.tensor([[0.2], [0.8]])", "torch.ones((n, 2))"]
)
def test_a_row_of_a_table_has(value: str) -> None:
    assert plain(value, LOOP)


TIED = """\
import torch
from torch import nn
import torch.nn.functional as F
class Net(nn.Module):
  def __init__(self, n, tied):
    super().__init__()
    self.fc = nn.Linear(n, n)
    self.w = nn.Parameter(torch.ones(n, n))
    {store}
  def encode(self, y):
    return self.fc(y)
  def decode(self, y):
    return {use}
"""


@pytest.mark.parametrize(
    ("store", "use", "parameter"),
    [
        ("self.x = self.w.t()", "F.linear(y, self.x)", "self.w"),
        ("self.x = self.w.T", "torch.relu(y) @ self.x", "self.w"),
        ("self.x = self.fc.weight.transpose(0, 1)", "F.linear(y, self.x)", "self.fc.weight"),
        ("self.x = torch.t(self.fc.weight)", "F.linear(y, self.x)", "self.fc.weight"),
        (
            "if tied:\n      self.x = self.w.t()\n    else:\n      self.x = nn.Parameter(self.w)",
            "F.linear(y, self.x)",
            "self.w",
        ),
    ],
)
def test_a_view_of_a_parameter(store: str, use: str, parameter: str) -> None:
    semantics, _ = marked(TIED.format(store=store, use=use))
    (found,) = semantics.of(PlainTensors).found.values()
    assert found.parameter is not None and ast.unparse(found.parameter) == parameter


@pytest.mark.parametrize(
    ("store", "use"),
    [
        ("self.x = self.w", "F.linear(y, self.x)"),
        ("self.fc.cuda()\n    self.x = self.fc.weight.t()", "F.linear(y, self.x)"),
        ("self.v = nn.Linear(n, n, device=tied)\n    self.x = self.v.weight.t()", "F.linear(y, self.x)"),
        ("self.x = nn.Parameter(self.w.t())", "F.linear(y, self.x)"),
        ("self.x = self.w.t()", "F.linear(y, self.x.to(y.device))"),
        ("self.x = self.w.t()", "F.linear(y, self.w.t())"),
        ("x = self.w.t()", "F.linear(y, self.w)"),
        ("self.x = tied.w.t()", "F.linear(y, self.x)"),
        ("self.x = self.w.shape", "y.view(self.x)"),
        ("self.x = self.fc.in_features", "y * self.x"),
        (
            "self.x = self.w.t()\n  def forward(self, y):\n    self.x = self.w.t()\n    return self.decode(y)",
            "F.linear(y, self.x)",
        ),
    ],
)
def test_what_is_no_view_of_a_parameter_that_stays_behind(store: str, use: str) -> None:
    assert not marked(TIED.format(store=store, use=use))[0].of(PlainTensors).found
