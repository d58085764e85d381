"""Calls that raise for their pattern: of each snippet the marked one, or none."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.numerics.refused_patterns import RefusedPatterns

HEAD = """\
import einops
import torch
from einops import rearrange, reduce
from einops.layers.torch import Rearrange
from mine import einsum
def f(x: torch.Tensor, y, sizes, tensors):
    matrix = torch.zeros(2, 3)
"""


def refused(body: str) -> list[tuple[str | None, str]]:
    semantics, nodes = marked(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    found = semantics.of(RefusedPatterns).found
    assert list(found) == nodes
    return [(each.meant, each.unused) for each in found.values()]


@pytest.mark.parametrize(
    "body",
    [
        "«torch.einsum('ij->k', x)»",
        "«torch.einsum('ij,jk->ik', x)»",
        "«torch.einsum('ij,jk->ik', [y])»",
        "«torch.einsum('ijk->i', matrix)»",
        "«torch.einsum('ij,jk->ik', y, matrix[0])»",
        "«einops.rearrange(y, 'a b -> a')»",
        "«rearrange(matrix, 'a b c -> a (b c)')»",
        "«Rearrange('a (b c) -> a b c')»",
    ],
)
def test_is_refused(body: str) -> None:
    assert refused(body) == [(None, "")]


def test_what_was_meant() -> None:
    assert refused("«torch.einsum('batch i, batch j -> i j', x, y)»") == [("bi, bj -> ij", "")]
    assert refused("«torch.einsum('batch i, batch j -> i j k', x, y)»") == [(None, "")]
    assert refused("«rearrange(y, 'a b -> b a', c=3)»") == [(None, "c")]


@pytest.mark.parametrize(
    "body",
    [
        "torch.einsum('ij,jk->ik', y)",
        "torch.einsum('ij,jk->ik', *tensors)",
        "torch.einsum(y, x)",
        "einsum('ij->k', x)",
        "rearrange(y, 'a (b c) -> a b c', **sizes)",
        "reduce(y, 'a b -> a', reduction='mean')",
        "try:\n    torch.einsum('ij->k', x)\nexcept RuntimeError:\n    pass",
    ],
)
def test_is_not_known_to_be_refused(body: str) -> None:
    assert refused(body) == []
