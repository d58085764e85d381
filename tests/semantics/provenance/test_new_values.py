"""What gives new tensors, run on torch; and which calls are told to be of these."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import reduce
from typing import Any

import pytest

from marked import marked
from torchlint.semantics.provenance.new_values import IN_PLACE, NEW_FUNCTIONS, NEW_METHODS, WITHOUT_GRAPH, NewValues

torch = pytest.importorskip("torch")

SHAPES = [(), (1,), (1, 1), (2, 2), (1, 1, 1), (2, 2, 2), (1, 1, 1, 1), (1, 1, 1, 1, 1)]
NOT_FOR_RUNS = frozenset(
    {"zeros", "ones", "empty", "rand", "randn", "randint", "randperm", "arange", "linspace", "eye", "full"}
)


def givens(last: str, x: Any) -> Iterator[tuple[Any, ...]]:
    """Arguments to call a function with, behind its first; those that leave the values as they are among them."""
    index = torch.zeros(x.shape, dtype=torch.long)
    flat = x.reshape(1, -1)
    yield ()
    yield (0,)
    yield (1,)
    yield (1, 0)
    yield (-1,)
    yield (x,)
    yield (torch.ones_like(x),)
    yield (x, 1.0)
    yield (x, x)
    yield (x, torch.zeros(x.shape))
    yield (index, x)
    yield (0, index)
    yield (0, index, torch.zeros_like(x))
    yield (0, torch.zeros(1, dtype=torch.long))
    yield (torch.zeros(x.shape, dtype=torch.bool),)
    yield (torch.ones(x.shape, dtype=torch.bool),)
    yield (torch.zeros(x.shape, dtype=torch.bool), 1.0)
    yield (x.shape,)
    yield (x.shape, 0)
    yield (flat, flat)
    yield (torch.ones(x.shape[-1:]).to(x.dtype),)
    yield (x.long(),)
    yield (torch.ones(x.shape[:1], dtype=torch.long), 0)
    yield (torch.ones(1, 1, *([1] * (x.dim() - 2))),) if x.dim() >= 2 else (x,)


def results(value: Any) -> list[Any]:
    """The tensors of a result, in which torch has named tuples."""
    return [value] if isinstance(value, torch.Tensor) else [each for each in value if isinstance(each, torch.Tensor)]


def owns(result: Any, *others: Any) -> bool:
    pointers = {other.untyped_storage().data_ptr() for other in others if isinstance(other, torch.Tensor)} - {0}
    return result.untyped_storage().data_ptr() not in pointers and result._base is None


def runs(function: Any, last: str) -> int:
    """How many calls succeed; each must give new tensors."""
    found = 0
    for dtype in (torch.float, torch.long, torch.bool):
        for shape in SHAPES:
            x = torch.ones(shape).to(dtype)
            for given in givens(last, x):
                for first in (x, [x, x], [x]) if last in ("cat", "stack") else (x,):
                    if last in IN_PLACE and len(given) >= IN_PLACE[last]:
                        continue  # their flag `inplace`, by its place
                    try:
                        value = function(first, *given)
                        kept = results(value)
                    except (
                        RuntimeError,
                        TypeError,
                        IndexError,
                        ValueError,
                        NotImplementedError,
                        AttributeError,
                        AssertionError,
                    ):
                        continue
                    assert kept and all(owns(each, x, *given) for each in kept), (shape, dtype, given)
                    found += 1
    return found


@pytest.mark.parametrize("name", sorted(NEW_METHODS))
def test_methods_give_new_tensors(name: str) -> None:
    assert runs(lambda x, *given: getattr(x, name)(*given), name)


@pytest.mark.parametrize("name", sorted(NEW_FUNCTIONS))
def test_functions_give_new_tensors(name: str) -> None:
    last = name.rpartition(".")[2]
    function = reduce(getattr, name.split(".")[1:], torch)
    if last in NOT_FOR_RUNS:
        return  # they are given no tensors
    assert runs(function, last)


@pytest.mark.parametrize("name", sorted(WITHOUT_GRAPH))
def test_what_has_no_graph_whatever_it_is_given(name: str) -> None:
    function = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    found = 0
    for given in [(), (torch.ones(2, requires_grad=True) + 1,), (1,), (None, 1)]:
        x = torch.ones(2, requires_grad=True) + 1
        try:
            value = function(x.long() if name in ("bincount", "one_hot") else x, *given)
        except (RuntimeError, TypeError, IndexError, ValueError):
            continue
        assert not any(each.requires_grad for each in results(value))
        found += 1
    assert found


def operands(text: str) -> list[str] | None:
    semantics, (call,) = marked("import torch\nimport torch.nn.functional as F\n" + text)
    assert isinstance(call, ast.Call)
    found = semantics.of(NewValues).operands(call)
    return None if found is None else [ast.unparse(each) for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("«torch.max(x, 1)»", ["x", "1"]),
        ("«x.sum(dim=d)»", ["x", "d"]),
        ("«F.softmax(x, dim=1)»", ["x", "1"]),
        ("«torch.max(x, 1, out=y)»", None),
        ("«F.relu(x, inplace=True)»", None),
        ("«torch.zeros(3, requires_grad=True)»", None),
        ("«torch.sum(x, **given)»", None),
        ("«F.relu(x, True)»", None),
        ("«F.dropout(x, 0.1)»", None),
        ("«torch.einsum('oi->io', x)»", None),
        ("«x.view(-1)»", None),
        ("«x.float()»", None),
        ("import numpy as np\n«np.sum(x)»", None),
    ],
)
def test_operands(text: str, expected: list[str] | None) -> None:
    assert operands(text) == expected
