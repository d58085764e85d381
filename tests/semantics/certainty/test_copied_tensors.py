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
        ("def f(*x: torch.Tensor): return torch.tensor(x)\nf(torch.ones(3))", {}),  # a tuple
        ("def f(*x: torch.Tensor): return [torch.tensor(each) for each in x]\nf(1.0)", {}),
        ("def f(**x: torch.Tensor): return [torch.tensor(each) for each in x.values()]\nf(x=1.0)", {}),
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


MAYBE_ANOTHER = "def each():\n    yield run()\nif other:\n    loader = each()\n"
LOADED = "from torch.utils.data import DataLoader\nloader = DataLoader(data, 8)\n"


@pytest.mark.parametrize(
    "text",
    [
        "x, y = next(iter(loader))\ntorch.tensor(x)",
        "items = iter(loader)\nx, y = next(items)\ntorch.tensor(x)",
        "items = iter(loader)\nx, y = items.next()\ntorch.tensor(x)",
        "for batch in loader:\n    x, y = batch\n    torch.tensor(x)",
        "for batch in loader:\n    x, y = batch[0], batch[1]\n    torch.tensor(x)",
        "def each():\n    yield run()\nfor x, y in loader:\n    torch.tensor(x)",
        "def f(items):\n    batch = next(items)\n    x, y = batch\n    torch.tensor(x)\n\n\nf(iter(loader))",
    ],
)
def test_items_of_a_loader(text: str) -> None:
    assert found(LOADED + text) == {"torch.tensor(x)": True}


@pytest.mark.parametrize(
    "text",
    [
        "x, y = next(iter(data))\ntorch.tensor(x)",
        "x, y = next(iter(other))\ntorch.tensor(x)",
        "x, y = next(iter(loader))\nif isinstance(x, list):\n    torch.tensor(x)",
        "loader = DataLoader(data, 8, collate_fn=list)\nx, y = next(iter(loader))\ntorch.tensor(x)",
        "x, y = len(loader), 1\ntorch.tensor(x)",
        "for batch in loader:\n    x, y = batch.ids, 1\n    torch.tensor(x)",
        "batch = next(iter(loader))\nx = batch\ntorch.tensor(x)",
        "for batch in loader:\n    x, y = batch['x'], batch['y']\n    torch.tensor(x)",
        f"{MAYBE_ANOTHER}for x, y in loader:\n    torch.tensor(x)",
        f"{MAYBE_ANOTHER}for n, (x, y) in enumerate(loader):\n    torch.tensor(x)",
        f"{MAYBE_ANOTHER}for batch in loader:\n    x, y = batch\n    torch.tensor(x)",
    ],
)
def test_what_is_no_item_of_a_loader(text: str) -> None:
    assert found(LOADED + text) == {}
