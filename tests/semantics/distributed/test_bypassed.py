"""Forward passes past the wrapper: each marked call is one, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.distributed.bypassed import BypassedWrappers

HEAD = """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
"""


def bypassed(snippet: str) -> list[str]:
    """The wrappers of the marked calls."""
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(BypassedWrappers).found
    assert list(found) == nodes
    return [ast.unparse(each.wrapper) for each in found.values()]


@pytest.mark.parametrize(
    ("snippet", "wrapper"),
    [
        ("net = DDP(m)\n«net.module(x)».sum().backward()", "net"),
        ("net = DDP(m).cuda()\ny = «net.module(x)»\nloss = criterion(y, t)\nloss.backward()", "net"),
        ("if many:\n    net = DDP(net)\n«net.module(x)».sum().backward()", "net"),
        ("def f(net):\n    «net.module(x)».sum().backward()\nf(DDP(m))", "net"),
        ("class T:\n  def __init__(s):\n    s.n = DDP(m)\n  def go(s):\n    «s.n.module(x)».sum().backward()", "s.n"),
        ("net = DDP(m)\n«net.module(x)».sum().backward()\nwith torch.no_grad():\n    net(x)", "net"),
    ],
)
def test_a_pass_goes_past_the_wrapper(snippet: str, wrapper: str) -> None:
    assert bypassed(snippet) == [wrapper]


@pytest.mark.parametrize(
    "snippet",
    [
        "net = DDP(m)\nnet(x).sum().backward()",
        "net = DDP(m)\nnet.module(x)",
        "net = DDP(m)\nnet.module(x).detach().sum().backward()",
        "net = DDP(m)\nwith torch.no_grad():\n    y = net.module(x)\ny.sum().backward()",
        "net = DDP(m)\n(net(x) + net.module(x)).sum().backward()",
        "net = DDP(m)\nnet.module(x).sum().backward()\nfor p in ps:\n    dist.all_reduce(p.grad)",
        "net = torch.nn.DataParallel(m)\nnet.module(x).sum().backward()",
        "def f(net):\n    net.module(x).sum().backward()",
    ],
)
def test_a_pass_is_none_or_is_not_trained_on(snippet: str) -> None:
    assert bypassed(snippet) == []
