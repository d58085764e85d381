"""Parameters that are none any more when a module gets them: of each snippet, the marked attribute, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.parameters.lost import LostParameter, LostParameters

HEAD = """\
import torch
from torch import nn
from torch.nn import Parameter
class Net(nn.Module):
  def __init__(self, d, n):
    super().__init__()
    t = torch.ones(n)
"""


def lost(line: str) -> list[LostParameter[ast.expr]]:
    semantics, nodes = marked(f"{HEAD}    {line}\n")
    found = semantics.of(LostParameters).found
    assert list(found) == nodes
    return list(found.values())


@pytest.mark.parametrize(
    ("line", "computed"),
    [
        ("«self.w» = nn.Parameter(t).to(d)", "nn.Parameter(t).to(d)"),
        ("«self.w» = Parameter(t, requires_grad=True).cuda()", "Parameter(t, requires_grad=True).cuda()"),
        ("«self.w» = nn.Parameter(t).view(1, -1).half()", "nn.Parameter(t).view(1, -1).half()"),
        ("«self.w» = 0.1 * nn.Parameter(t)", "0.1 * nn.Parameter(t)"),
        ("«self.w» = -nn.Parameter(t) / n + 1", "-nn.Parameter(t) / n + 1"),
    ],
)
def test_what_is_lost(line: str, computed: str) -> None:
    (found,) = lost(line)
    assert ast.unparse(found.computed) == computed
    assert ast.unparse(found.tensor) == "t"


@pytest.mark.parametrize(
    "line",
    [
        "self.w = nn.Parameter(t.to(d))",
        "self.w = nn.Parameter(torch.ones(n, device=d)).to(d)",  # which is there already
        "self.w = nn.Parameter(t).requires_grad_(False)",
        "self.w = nn.Parameter(t).normal_()",
        "self.w = nn.Parameter(t).float()",
        "self.w = nn.Parameter(t).detach()",
        "self.w = nn.Parameter(t).numel()",
        "self.w = nn.Parameter(t, requires_grad=False).to(d)",
        "self.w = nn.Parameter(t, False).to(d)",
        "self.w = nn.Parameter(t) @ nn.Parameter(t)",
        "w = nn.Parameter(t).to(d)",
        "self.ws = nn.ParameterList([nn.Parameter(t).to(d)])",
        "self.w = nn.Parameter(t).to(d); self.w = nn.Parameter(t)",
        "other.w = nn.Parameter(t).to(d)",
        "self.shape = nn.Parameter(t).to(d).shape",
    ],
)
def test_what_is_not(line: str) -> None:
    assert not lost(line)


def test_an_attribute_of_what_is_no_module() -> None:
    semantics, _ = marked("from torch import nn\nclass A:\n  def __init__(self, t):\n    self.w = nn.Parameter(t).cuda()")
    assert not semantics.of(LostParameters).found


def test_what_is_made_elsewhere_is_lost() -> None:
    assert len(lost("«self.w» = nn.Parameter(torch.ones(n, device=n)).to(d)")) == 1


HELPER = """\
import torch
from torch import nn
class Net(nn.Module):
  def __init__(self, cuda):
    super().__init__()
    self.cuda_is_there = cuda
    «self.a» = self.weights(3)
    self.b = self.weights(4)
  def weights(self, n):
    w = nn.Parameter(torch.empty(n))
    nn.init.uniform_(w)
{lines}
    return w
"""


@pytest.mark.parametrize(
    ("line", "computed"),
    [
        ("w = nn.Parameter(t)\n    if n:\n      w = w.cuda()\n    «self.w» = w", "w.cuda()"),
        ("w = nn.Parameter(t)\n    w.data.uniform_(-1, 1)\n    «self.w» = w.to(d)", "w.to(d)"),
        ("w = nn.Parameter(t).to(d)\n    «self.w» = w", "nn.Parameter(t).to(d)"),
    ],
)
def test_what_is_lost_by_way_of_a_variable(line: str, computed: str) -> None:
    (found,) = lost(line)
    assert ast.unparse(found.computed) == computed
    assert found.direct is (computed != "w.cuda()" and computed != "w.to(d)")


@pytest.mark.parametrize(
    "line",
    [
        "w = nn.Parameter(t)\n    self.w = w",
        "w = nn.Parameter(t)\n    self.w = w\n    self.v = w.view(-1)",
        "w = nn.Parameter(t)\n    self.register_parameter('w', w)\n    self.v = w * 2",
        "w = nn.Parameter(t)\n    self.ws.append(w)\n    self.v = w.to(d)",
        "w = nn.Parameter(t)\n    w.requires_grad_(False)\n    self.v = w.to(d)",
        "w = nn.Parameter(t)\n    self.size = w.numel()",
    ],
)
def test_what_a_variable_keeps(line: str) -> None:
    assert not lost(line)


@pytest.mark.parametrize(
    ("lines", "is_lost"), [("    if self.cuda_is_there:\n      w = w.cuda()", True), ("    w.data.mul_(2)", False)]
)
def test_what_a_method_gives_back(lines: str, is_lost: bool) -> None:
    text = HELPER.format(lines=lines) if is_lost else HELPER.format(lines=lines).replace("«", "").replace("»", "")
    semantics, nodes = marked(text)
    assert list(semantics.of(LostParameters).found) == nodes
