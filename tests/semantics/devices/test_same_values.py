"""Whether a factory makes the very values that a copy of its result has."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.devices.same_values import SameValues


def fact(text: str, dtype: str | None) -> Fact:
    """Whether the marked factory makes the same values elsewhere or, if that is not None, as ``dtype``."""
    semantics, [node] = marked(f"import torch\nfrom torch import Tensor\n\n\n{text}")
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    return semantics.of(SameValues).fact(node, node.func.attr, dtype)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("«torch.zeros(3)»", None),
        ("«torch.zeros(3)»", ""),
        ("«torch.arange(n)»", None),
        ("«torch.arange(n)»", "float32"),
        ("«torch.arange(a, b)»", "float32"),
        ("«torch.arange(0, b)»", "float64"),
        ("«torch.arange(3)»", "int32"),
        ("«torch.arange(0, n, 2)»", None),
        ("«torch.full(size, 1)»", ""),
        ("«torch.full(size, 0.1)»", None),
        ("«torch.full(size, 255)»", "uint8"),
        ("«torch.tensor([1, -2])»", "float16"),
        ("def f(x: Tensor):\n    «x.new_zeros(3)»", "float64"),
    ],
)
def test_the_same(text: str, dtype: str | None) -> None:
    assert fact(text, dtype).is_certain


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("«torch.rand(3)»", None),
        ("«torch.linspace(0, 1, 3)»", None),
        ("«torch.arange(0, 1, s)»", None),
        ("«torch.arange(0, 8, 2)»", "float32"),
        ("«torch.arange(a, b)»", "float64"),
        ("«torch.arange(n)»", "int64"),
        ("«torch.arange(3)»", ""),
        ("«torch.arange(3)»", "bool"),
        ("«torch.arange(300)»", "bfloat16"),
        ("«torch.arange(3, dtype=torch.float16)»", "float32"),
        ("«torch.full(size, 256)»", "uint8"),
        ("«torch.full(size, 2)»", ""),
        ("«torch.full(size, -1)»", "bool"),
        ("«torch.full(size, 0.1)»", "float16"),
        ("«torch.scalar_tensor(20000000)»", "int64"),
        ("«torch.tensor(data)»", "float32"),
        ("def f(x):\n    «x.new_zeros(3)»", "float64"),
    ],
)
def test_not_certain(text: str, dtype: str | None) -> None:
    assert not fact(text, dtype).is_certain
