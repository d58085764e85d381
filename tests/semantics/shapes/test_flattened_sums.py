"""Sums over the only dimension of what was flattened."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.shapes.flattened_sums import FlattenedSums


def is_number(snippet: str) -> bool:
    semantics, (node,) = marked(snippet)
    assert isinstance(node, ast.expr)
    return semantics.of(FlattenedSums).is_number(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "«x.view(-1).sum(0)»",
        "«x.reshape(-1).float().sum(dim=0)»",
        "«x.flatten().mean() * 100.0»",
        "n = x.view(-1).sum(0)\n«n»",
        "n = x.view(-1).sum(0).mul_(100 / len(y))\n«n»",
        "def f(x):\n    return x.view(-1).sum(0), x\na, b = f(x)\n«a»",
        "def f(x):\n    return [x[:k].view(-1).sum(0) for k in (1, 5)]\na, b = f(x)\n«b»",
        "def f(x):\n    r = []\n    for k in x:\n        r.append(k.view(-1).sum(0))\n    return r\na, b = f(x)\n«b»",
    ],
)
def test_what_has_no_dimensions(snippet: str) -> None:
    assert is_number(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "«x.sum(0)»",
        "«x.view(-1, 2).sum(0)»",
        "«x.view(-1).sum(0, keepdim=True)»",
        "«x.view(-1).sum(1)»",
        "«x.view(-1).sum(0) * weights»",
        "«x.view(-1).sum(0).expand(3)»",
        "n = x.view(-1).sum(0)\nif y:\n    n = x\n«n»",
        "n = x.view(-1).sum(0)\nn += y\n«n»",
        "n = n\n«n»",
        "def f(x):\n    return x.view(-1).sum(0), x\na, b = f(x)\n«b»",
        "def f(x):\n    return x.view(-1).sum(0), x\na = f(x)\n«a»",
        "def f(x):\n    r = []\n    r.append(x.view(-1).sum(0))\n    r.append(x)\n    return r\na, b = f(x)\n«a»",
        "def f(x):\n    r = []\n    r.append(x.view(-1).sum(0))\n    g(r)\n    return r\na, b = f(x)\n«a»",
        "def f(x):\n    if x:\n        return x.view(-1).sum(0), x\n    return\na, b = f(x)\n«a»",
    ],
)
def test_what_may_have_some(snippet: str) -> None:
    assert not is_number(snippet)
