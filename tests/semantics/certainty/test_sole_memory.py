"""Whose memory nobody else has, and the reason where somebody may."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.certainty.sole_memory import SoleMemory


def fact(text: str) -> Fact:
    """What is known of the marked expression."""
    semantics, [node] = marked(f"import torch\n\n\n{text}")
    return semantics.of(SoleMemory).fact(node)


@pytest.mark.parametrize(
    "text",
    [
        "«torch.ones(1, 3)»",
        "«torch.arange(n).unsqueeze(0)»",
        "def f():\n    base = torch.ones(3)\n    wide = «base».expand(2, 3)",
    ],
)
def test_certain(text: str) -> None:
    assert fact(text).is_certain


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("def f(x):\n    «x»", "x"),
        ("«torch.from_numpy(a)»", "torch.from_numpy(a)"),
        ("«torch.ones(3, requires_grad=True)»", "torch.ones(3, requires_grad=True)"),
        ("«torch.ones(3, out=x)»", "torch.ones(3, out=x)"),
        ("«torch.ones(3, **options)»", "torch.ones(3, **options)"),
        ("def f():\n    base = torch.ones(3)\n    wide = «base».expand(2, 3)\n    return base", "base"),
        ("base = torch.ones(3)\nwide = «base».expand(2, 3)", "base"),
        ("def f(self):\n    wide = «self.base».expand(2, 3)", "self.base"),
    ],
)
def test_unknown(text: str, shared: str) -> None:
    assert fact(text).doubt == f"code may rely on the memory that is shared with `{shared}`"
