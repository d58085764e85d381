"""Whose tensors may give their place to the same on another device, and the reasons where they may not."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.certainty.replaceable import Replaceable

HEADER = """\
import torch
from torch import nn
from elsewhere import place, given
device = torch.device("cpu")
layer = nn.Linear(2, 2)
"""


def fact(*lines: str) -> Fact:
    """Whether the marked call moves a tensor that may be replaced."""
    semantics, [node] = marked(HEADER + "\n".join(lines))
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return semantics.of(Replaceable).moved(node, node.func.value)


KEPT = (
    "class Kept(nn.Module):",
    "    def __init__(self):",
    "        super().__init__()",
    "        self.state = torch.zeros(2)",
    "    def forward(self, x):",
)


@pytest.mark.parametrize(
    "lines",
    [
        ("x = torch.zeros(2)", "«x.to(device)»", "print(x + 1)"),
        ("x = torch.zeros(2)", "«x.to('cuda:0', non_blocking=True)»", "kept = [x]"),
        ("x = layer(torch.zeros(2))", "«x.cuda()»", "given(x)"),
        ("def f(x: torch.Tensor, where: torch.device):", "    «x.to(where)»", "    return x.sum()"),
        ("batch = {'x': torch.zeros(2), 'y': torch.ones(2)}", "«batch['x'].to(device)»", "layer(batch['x'])"),
    ],
)
def test_what_may_be_replaced(lines: tuple[str, ...]) -> None:
    assert fact(*lines).is_certain


@pytest.mark.parametrize(
    ("lines", "doubt"),
    [
        (("«given.to(device)»",), "`given` is imported; it may be no tensor"),
        (("x = torch.zeros(2)", "«x.to(place)»"), "`place` is imported; it may be no device"),
        (("x = torch.zeros(2)", "«x.to(torch.float64)»"), "`torch.float64` may be no device"),
        (("x = torch.zeros(2)", "«x.to(*place)»"), "`*place` may be no device"),
        (("x = torch.zeros(2)", "«x.to(device, torch.half)»"), "what is computed from it may change its type"),
        (("x = torch.zeros(2)", "«x.cuda(**given)»"), "what is computed from it may be laid out in another way"),
        (("x = torch.zeros(2)", "«x.clone()»"), "what is computed from it changes"),
        (
            ("x = torch.zeros(2, requires_grad=True)", "«x.cuda()»"),
            "`x` is a leaf, and what takes its place is none",
        ),
        (("x = torch.zeros(2)", "a = x.numpy()", "«x.cuda()»"), "`x.numpy` may rely on which tensor `x` is"),
        (("x = torch.zeros(2)", "a = [x]", "«x.cuda()»"), "`[x]` may rely on which tensor `x` is"),
        (("x = y = torch.zeros(2)", "«x.cuda()»"), "`x` may be in use elsewhere as well"),
        (("def f(x: torch.Tensor):", "    «x.cuda()»", "    x.zero_()"), "`x.zero_` may rely on which tensor `x` is"),
        (
            ("x = torch.zeros(2, 2).t()", "«x.cuda()»", "x += 1"),
            "`x` is changed in place, and may be in use elsewhere as well",
        ),
        (
            ("x = torch.zeros(2)", "def f():", "    «x.cuda()»"),
            "`x` belongs to an enclosing scope",
        ),
        (
            ("pair = (torch.zeros(2), 1)", "«pair[0].cuda()»"),
            "nothing shows who else has `pair[0]`",
        ),
        (
            ("batch = {'x': torch.zeros(2)}", "given(batch)", "«batch['x'].cuda()»"),
            "nothing shows who else has `batch['x']`",
        ),
        ((*KEPT, "        «self.state.to(x.device)»", "        return x + self.state"), "`self.state` may be no tensor"),
        (
            (*KEPT, "        self.window = self.state[1:]", "        «self.state.cuda()»"),
            "`self.state` may be no tensor",
        ),
    ],
)
def test_what_may_not(lines: tuple[str, ...], doubt: str) -> None:
    assert fact(*lines).doubt == doubt
