"""Whether a backward pass has freed the graph of what is added to a sum."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.graphs.spent_graphs import SpentGraphs

HEADER = """\
import torch
import torch.nn.functional as F
from torch import nn

criterion = nn.MSELoss()


"""


def spent(body: str) -> bool:
    """Whether the graph of the marked name is spent, each time that its statement runs."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    semantics, [node] = marked(f"{HEADER}def f(data, self, total):\n    for x, y in data:\n{lines}")
    return semantics.of(SpentGraphs).fact(node, semantics.tree.statement(node)).is_certain


@pytest.mark.parametrize(
    "body",
    [
        "loss = F.mse_loss(net(x), y)\nloss.backward()\ntotal += «loss» * 2",
        "loss = criterion(net(x), y)\ntotal += «loss»\noptimizer.zero_grad()\nloss.backward()",
        "loss = criterion(net(x), y)\ntotal += «loss»\nprint(total, x.mean())\nlog(x)\nloss.backward()",
        "loss = criterion(net(x), y)\nloss.backward()\nif x:\n    self.total += «loss»",
        "a = criterion(net(x), y)\nb = criterion(net(y), x)\nloss = (a + b) / 2\nloss.backward()\ntotal += «loss»",
    ],
)
def test_spent(body: str) -> None:
    assert spent(body)


@pytest.mark.parametrize(
    "body",
    [
        "loss = F.mse_loss(net(x), y)\nloss.backward(retain_graph=True)\ntotal += «loss»",
        "loss = F.mse_loss(net(x), y)\ntotal += «loss»",
        "loss = F.mse_loss(net(x), y)\nif x:\n    loss.backward()\ntotal += «loss»",
        "loss = F.mse_loss(net(x), y)\ntotal += «loss»\nif x:\n    continue\nloss.backward()",
        "loss = F.mse_loss(net(x), y)\nloss.backward()\nloss = F.mse_loss(net(y), x)\ntotal += «loss»",
        "loss = F.mse_loss(net(x), y)\ntotal += «loss»\nprobe(net, total)\nloss.backward()",
        "loss = F.mse_loss(net(x), y)\nself.total += «loss»\nx = probe(sum=self.total)\nloss.backward()",
        "loss = net(x).sum()\nloss.backward()\ntotal += «loss»",
        "loss = self.criterion(net(x), y)\nloss.backward()\ntotal += «loss»",
        "loss = F.mse_loss(net(x), y) + penalty(net)\nloss.backward()\ntotal += «loss»",
        "loss = F.mse_loss(net(x), y)\n(loss * 2).backward()\ntotal += «loss»",
    ],
)
def test_not_spent(body: str) -> None:
    assert not spent(body)
