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
