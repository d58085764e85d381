"""Which values only decide a condition."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.conditions.deciding_reads import DecidingReads

START = "import torch\nfrom torch import nn\n"


def decides(snippet: str) -> bool:
    semantics, [node] = marked(START + snippet)
    assert isinstance(node, ast.Attribute)
    return semantics.of(DecidingReads).is_one(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(gate, limit):\n    if torch.sigmoid(«gate.data») > limit:\n        return 1",
        "def f(gate, limit):\n    while «gate.data».sigmoid().max() < limit:\n        limit -= 1",
        "def f(gate, other):\n    return 1 if bool(«gate.data»[0] > 0) and other else 2",
        "def f(gate, other):\n    if not other and float(«gate.data».cpu().mean()):\n        return 1",
    ],
)
def test_it_decides(snippet: str) -> None:
    assert decides(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(gate, limit):\n    if limit:\n        return torch.sigmoid(«gate.data»)",  # behind the condition
        "def f(gate, self):\n    if self.stops(«gate.data»):\n        return 1",  # who may keep it
        "def f(gate):\n    if (kept := «gate.data»).sum() > 0:\n        return kept",
        "def f(gate, keep):\n    if [keep(_) for _ in «gate.data»]:\n        return 1",
        "def f(gate):\n    is_low = torch.sigmoid(«gate.data»)\n    if is_low:\n        return is_low",
        "def f(gate, a):\n    return «gate.data» if a else None",
    ],
)
def test_it_may_be_kept(snippet: str) -> None:
    assert not decides(snippet)
