"""Arguments of functions, which are what the callers hand in."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.graphs.likely.graphless import LikelyGraphless

_START = "import torch\nimport torch.nn as nn\n\nnet = nn.Linear(3, 3)\n"


def asked(text: str) -> tuple[LikelyGraphless, ast.expr]:
    semantics, [node] = marked(_START + text)
    return semantics.of(LikelyGraphless), node


@pytest.mark.parametrize(
    "text",
    [
        "def show(q):\n    return «q»\nfor x, _ in loader:\n    show(x)",
        "def show(q):\n    q = q[0].view(-1)\n    return «q»\nshow(torch.ones(2, 3))",
        "def show(q):\n    return «q[0].view(-1)»\nshow(torch.ones(2, 3))\nshow(net(torch.ones(3)).argmax(0))",
        "def show(q, n):\n    return «q»\ndef step(u, n):\n    u, n = u.to(n), 2\n    show(u, n)\n"
        "for u, _ in loader:\n    step(u, device)",
        "class Show:\n    def one(self, q):\n        return «q»\n    def all(self, loader):\n        for x in loader:\n"
        "            self.one(x)",
    ],
)
def test_all_callers_hand_in_what_has_no_graph(text: str) -> None:
    graphless, node = asked(text)
    assert graphless.is_graphless(node)


@pytest.mark.parametrize(
    "text",
    [
        "def show(q):\n    return «q»",  # nobody calls it here
        "def show(q):\n    return «q»\nshow(net(torch.ones(3)))",
        "def show(q):\n    return «q»\nshow(torch.ones(3))\nshow(net(torch.ones(3)))",
        "def show(q):\n    return «q»\nfor x, _ in loader:\n    show(x)\nkept = [show]",  # others may call what is kept
        "def show(q):\n    return «q»\nshow(torch.ones(3), *more)\nshow(**given)",
        "@registered\ndef show(q):\n    return «q»\nfor x, _ in loader:\n    show(x)",
        "def show(q):\n    q = net(q)\n    return «q»\nshow(torch.ones(3))",
        "def show(q):\n    if more:\n        q = net(q)\n    return «q»\nshow(torch.ones(3))",
        "def show(q):\n    return «q»\ndef again(q):\n    return show(q)",
        "def show(q):\n    return show(«q»)",  # calls itself alone
        "class Show:\n    def one(self, q):\n        return «q»\n    def all(self, loader):\n        for x, _ in loader:\n"
        "            self.one(x)\n        other.one(net(x))",
        "class Net(nn.Module):\n    def forward(self, q):\n        return «q»\n    def both(self, loader):\n"
        "        for x, _ in loader:\n            self.forward(x)",
    ],
)
def test_a_caller_may_hand_in_a_graph(text: str) -> None:
    graphless, node = asked(text)
    assert not graphless.is_graphless(node)


@pytest.mark.parametrize(
    "text",
    [
        "def show(q):\n    return «q»\nshow(net(torch.ones(3)))",
        "def show(qs):\n    return [«q.cpu()» for q in qs]\nshow(net(torch.ones(3, 3)))",
        "def show(q):\n    if more:\n        q = net(q)\n    return «q»",
    ],
)
def test_the_callers_decide(text: str) -> None:
    graphless, node = asked(text)
    assert graphless.is_handed_in(node)


@pytest.mark.parametrize(
    "text",
    [
        "def show(x):\n    q = net(x)\n    return «q»",
        "def show(q: torch.Tensor):\n    return «q»",
        "for p in net.parameters():\n    «p»",
        "q = q0\n«q»",
    ],
)
def test_the_code_itself_decides(text: str) -> None:
    graphless, node = asked(text)
    assert not graphless.is_handed_in(node)
