"""Calls of ``torch.compile`` whose result nothing gets: of each snippet, the marked call, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.compiled.discarded import DiscardedCompile, DiscardedCompiles

HEAD = """\
import torch
import pytest
from torch import nn
class Net(nn.Module):
  def forward(self, x):
    return x
net = Net()
layers = nn.Sequential(nn.Linear(2, 2))
"""


def discarded(snippet: str) -> list[DiscardedCompile[ast.expr]]:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(DiscardedCompiles).found
    assert list(found) == nodes
    return list(found.values())


@pytest.mark.parametrize(
    ("snippet", "target", "compiles_itself", "is_set_up"),
    [
        ("«torch.compile(net)»", "net", True, False),
        ("«torch.compile(model=net, mode='max-autotune')»", "net", True, False),
        ("«torch.compile(net)».to('cuda').eval()", "net", True, True),
        ("«torch.compile(layers)»", "layers", False, False),
        ("def f(step):\n  «torch.compile(step)»", "step", False, False),
        ("def f(a: nn.Module):\n  «torch.compile(a)»", "a", True, False),
        ("def f(agent):\n  if agent.fast:\n    «torch.compile(agent.policy)»", "agent.policy", False, False),
        ("try:\n  «torch.compile(net)»\nexcept RuntimeError:\n  pass", "net", True, False),
    ],
)
def test_what_is_discarded(snippet: str, target: str, compiles_itself: bool, is_set_up: bool) -> None:
    (found,) = discarded(snippet)
    assert ast.unparse(found.target) == target
    assert (found.compiles_itself, found.is_set_up) == (compiles_itself, is_set_up)


@pytest.mark.parametrize(
    "snippet",
    [
        "net = torch.compile(net)",
        "torch.compile(net)(x)",
        "run(torch.compile(net))",
        "[torch.compile(net)]",
        "net.compile()",
        "torch.compile(lambda x: x)",
        "torch.compile(make())",
        "torch.compile(*given)",
        "torch.compile(fullgraph=True)",
        "with pytest.raises(RuntimeError):\n  torch.compile(step)",
        "try:\n  torch.compile(step)\nexcept RuntimeError:\n  pass",
        "import re\nre.compile(net)",
        "compile(net, 'a', 'exec')",
    ],
)
def test_what_is_not(snippet: str) -> None:
    assert not discarded(snippet)
