"""What makes a copy of a tensor or an array."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.memory.copies import Copies


@pytest.mark.parametrize(
    ("value", "methods"),
    [
        ("«x»", ("detach", "clone")),
        ("«unknown»", ("detach", "clone")),
        ("«x.view(-1)»", ("detach", "clone")),
        ("«x.detach()»", ("clone",)),
        ("«x.detach()[0]»", ("clone",)),
        ("«x.data»", ("detach", "clone")),
        ("«x.data.view(-1)»", ("clone",)),
        ("«x.detach().numpy()»", ("copy",)),
        ("«x.numpy()[0]»", ("copy",)),
        ("«numpy.zeros(3)»", ("copy",)),
        ("«torch.from_numpy(numpy.zeros(3))»", ("detach", "clone")),
    ],
)
def test_methods(value: str, methods: tuple[str, ...]) -> None:
    semantics, (node,) = marked(f"import numpy\nimport torch\ndef f(x: torch.Tensor, unknown):\n    {value}")
    assert semantics.of(Copies).methods(node) == methods


def test_what_is_known_to_have_no_graph_is_just_cloned() -> None:
    semantics, (node,) = marked("import torch\ndef f(x: torch.Tensor):\n    «x»")
    assert semantics.of(Copies).methods(node, detached=True) == ("clone",)
