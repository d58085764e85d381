"""Which loops only gather what is there already."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.unrecorded.gatherings import Gatherings


def is_gathering(code: str) -> bool:
    semantics, (container,) = marked("import numpy\nimport torch\n" + code)
    return semantics.of(Gatherings).is_one(semantics.tree.statement(container), container, [])


@pytest.mark.parametrize(
    "code",
    [
        "def f(xs):\n    kept = []\n    for x in xs: «kept».append(x)",
        "def f(xs):\n    kept = []\n    for x in reversed(range(len(xs))): «kept».insert(0, xs[x] * 2 + xs[x - 1])",
        "def f(xs):\n    kept = {}\n    for k in xs: «kept»[k] = torch.exp(xs[k])",
        "def f(net, xs):\n    kept = []\n    for x in xs:\n        for y in net(x).view(-1): «kept».append(y)",
        "def f(losses):\n    kept = []\n    for k in sorted(losses.keys()): «kept».append(losses[k])",
        "def f(losses):\n    kept = []\n    for k, v in losses.items(): «kept».append(v)",
        "def f(n):\n    v, kept = torch.rand(9), []\n    for k in range(n): «kept».append(torch.tensor(2).view(1) + v.sum())",
        "def f(n, v):\n    r, kept = numpy.zeros(9), []\n    for k in range(n): «kept».append(r.sum() + v[k])",
        "def f(net):\n    kept = {}\n    for k, v in net.named_parameters(): «kept»[k] = shift(v)",
    ],
)
def test_gathers(code: str) -> None:
    assert is_gathering(code)


@pytest.mark.parametrize(
    "code",
    [
        "def f(net, xs):\n    kept = []\n    for x in xs: «kept».append(net(x))",
        "def f(store):\n    kept = []\n    for k in store.keys(3): «kept».append(store[k])",
        "def f(xs):\n    kept = []\n    for _ in range(3):\n        for x in xs: «kept».append(x)\n        step()",
        "def f(xs):\n    kept = []\n    for x in xs:\n        «kept».append(x)\n        x.backward()",
        "def f(v):\n    w, kept = torch.rand(9), []\n    for x in v:\n        «kept».append(x)\n        w.sum().backward()",
        "def f(n, v):\n    kept = []\n    for k in range(n): «kept».append(v.sum())",
        "def f(v):\n    w, kept = torch.rand(9), []\n    for x in v: «kept».append(torch.autograd.grad(w.sum(), x))",
        "def f(xs, kept):\n    for x in xs: «kept».append(x)",
        "kept = []\ndef f(xs):\n    for x in xs: «kept».append(x)",
        "kept = []\nfor x in xs: «kept».append(x)",
        "def f(self, xs):\n    for x in xs: «self.kept».append(x)",
        "def f(xs):\n    kept = []\n    «kept».append(xs)",
    ],
)
def test_may_let_something_grow(code: str) -> None:
    assert not is_gathering(code)
