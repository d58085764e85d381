"""Which numbers may be back-propagated through."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.numerics.learnt import LearntNumbers

HEAD = "import torch\n"
MAIN = "if __name__ == '__main__':\n    p = «torch.log(q)»\n"


def may_learn(snippet: str) -> bool:
    semantics, (node,) = marked(HEAD + snippet)
    assert isinstance(node, ast.expr)
    return semantics.of(LearntNumbers).may_learn(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "loss = «torch.log(q)»\nloss.backward()",
        "loss = «torch.log(q)»\ntorch.autograd.grad(loss, w)",
        "def f(self):\n    self.manual_backward(«torch.log(q)»)",
        "def f(q):\n    train_on(«torch.log(q)»)",
        "def loss(q):\n    return «torch.log(q)»",
        "loss = lambda q: «torch.log(q)»",
        "def f(self, q):\n    self.loss = «torch.log(q)»",
        "def f(q):\n    for p in q:\n        yield «torch.log(p)»",
        "def f(q, losses):\n    losses.append(«torch.log(q)»)",
        MAIN + "    p.backward()\n    optimizer.step()",
    ],
)
def test_a_backward_pass_may_come(snippet: str) -> None:
    assert may_learn(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "print(«torch.log(q)»)",
        "def f(q):\n    print(«torch.log(q)»)",
        "def f(q):\n    print(«torch.log(q)»)\n    return None",
        "def f(q):\n    with torch.no_grad():\n        return «torch.log(q)»",
        "def test_f():\n    p = «torch.log(q)»\n    p.backward()\n    assert p",
        MAIN,
        MAIN + "    p.backward()",
    ],
)
def test_nothing_learns(snippet: str) -> None:
    assert not may_learn(snippet)
