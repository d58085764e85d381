"""Which calls of ``torch.tensor`` are given a tensor."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.certainty.copied_tensors import CopiedTensors

ASKS = "def f(x):\n    if torch.is_tensor(x):\n        print(x)\n    return torch.tensor(x)\n"


def found(text: str) -> dict[str, bool]:
    """The calls that are found in a program, as they are written."""
    analysis = CopiedTensors(Semantics(ast.parse(f"import torch\n{text}")))
    return {ast.unparse(call): is_always for call, is_always in analysis.found.items()}


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("torch.tensor(torch.ones(3))", {"torch.tensor(torch.ones(3))": True}),
        ("torch.tensor(data=torch.ones(3))", {"torch.tensor(data=torch.ones(3))": True}),
        ("from torch import tensor as t\nt(torch.ones(3), dtype=torch.half)", {"t(torch.ones(3), dtype=torch.half)": True}),
        ("make = torch.tensor\nmake(torch.ones(3))", {"make(torch.ones(3))": True}),
        (ASKS, {"torch.tensor(x)": False}),
        ("def f(x: torch.Tensor): return torch.tensor(x)\nf(torch.ones(3))", {"torch.tensor(x)": True}),
        ("def f(x: torch.Tensor): return torch.tensor(x)\nf([1, 2])", {}),  # the annotation is wrong
        ("def f(x: torch.Tensor): return torch.tensor(x)\nf(other())", {"torch.tensor(x)": True}),
        ("def f(x): return torch.tensor(x)\nf(torch.ones(3))", {"torch.tensor(x)": False}),
        ("def f(x):\n    if x:\n        return torch.tensor(x)\nf(torch.ones(3))", {}),
        ("make = lambda x: torch.tensor(x)\nmake(torch.ones(3))", {}),
        ("made = [torch.tensor(x) for x in xs]", {}),
        ("torch.tensor([torch.ones(3)])", {}),
        ("torch.tensor(*torch.ones(3))", {}),
        ("torch.tensor(torch.ones(3), torch.half)", {}),
        ("torch.tensor(dtype=torch.half)", {}),
        ("torch.tensor(3.0)", {}),
        ("torch.as_tensor(torch.ones(3))", {}),
        ("from other import tensor\ntensor(torch.ones(3))", {}),
    ],
)
def test_what_is_a_tensor_already(text: str, calls: dict[str, bool]) -> None:
    assert found(text) == calls
