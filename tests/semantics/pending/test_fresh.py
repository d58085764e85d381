"""What has just been made: of each snippet, whether the marked expression gives a new tensor."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.pending.fresh import Fresh


def is_new(expression: str) -> bool:
    semantics, (value,) = marked(f"import torch\ndef f(x, n):\n  return «{expression}»\n")
    assert isinstance(value, ast.expr)
    return semantics.of(Fresh).is_new(value)


@pytest.mark.parametrize(
    "expression", ["torch.zeros(n)", "torch.FloatTensor(3)", "torch.Tensor(n, 3)", "torch.tensor([1.0]).cuda()"]
)
def test_its_memory_is_its_own(expression: str) -> None:
    assert is_new(expression)


@pytest.mark.parametrize("expression", ["torch.FloatTensor(x)", "torch.Tensor()", "x.view(3)", "torch.as_tensor(x)"])
def test_it_may_be_anothers(expression: str) -> None:
    assert not is_new(expression)
