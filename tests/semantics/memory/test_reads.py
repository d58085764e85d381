"""What of a tensor is read where it stands."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.memory.reads import Reads

HEADER = "import torch\nimport torch.nn.functional as F\ndef f(x: torch.Tensor, y: torch.Tensor, g, z):\n    "


def reads_form(statement: str) -> bool:
    semantics, (node,) = marked(HEADER + statement)
    return semantics.of(Reads).is_of_form(node)


def makes_new_value(statement: str) -> bool:
    semantics, (node,) = marked(HEADER + statement)
    return semantics.of(Reads).makes_new_value(node)


@pytest.mark.parametrize(
    "statement",
    [
        "«x».shape",
        "«x».size(0)",
        "«x».item()",
        "«x».new(3)",
        "y.view_as(«x»)",
        "y.type_as(«x»)",
        "torch.zeros_like(«x»)",
        "«x».type()",
    ],
)
def test_its_form(statement: str) -> None:
    assert reads_form(statement)


@pytest.mark.parametrize(
    "statement", ["«x».sum()", "«x» + 1", "g(«x»)", "torch.zeros_like(y, device=«x»)", "y.add(«x»)", "«x»", "«x».type(g)"]
)
def test_its_values(statement: str) -> None:
    assert not reads_form(statement)


@pytest.mark.parametrize(
    "statement",
    ["«x» + 1", "-«x»", "«x» > 0", "«x».sum()", "«x».exp()", "y.add(«x»)", "y += «x»", "torch.max(«x», 1)", "not «x»"],
)
def test_values_that_go_into_a_new_one(statement: str) -> None:
    assert makes_new_value(statement)


@pytest.mark.parametrize(
    "statement",
    [
        *("«x»", "«x».view(-1)", "«x».cpu()", "«x».add_(1)", "«x».register_hook(g)", "torch.reshape(«x», (1,))"),
        *("«x» is y", "«x» in [y]", "g(«x»)", "z.add(«x»)", "z = «x»", "return «x»", "«x».unknown()"),
    ],
)
def test_what_may_be_the_same_or_is_not_known(statement: str) -> None:
    assert not makes_new_value(statement)
