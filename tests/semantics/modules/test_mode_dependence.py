"""Whether a model's mode makes a difference: parts that are read of an object."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.modules.mode_dependence import ModeDependence

TEXT = """
from torch import nn

class Coder(nn.Module):
    def __init__(self, given):
        super().__init__()
        self.inner = nn.Sequential(nn.Flatten(), nn.Linear(4, 2), nn.ReLU())
        self.outer = nn.Sequential(nn.Linear(2, 4), nn.Dropout())
        self.given = given
        self.filled = nn.ModuleList()
        self.either = nn.Sequential(nn.Linear(2, 4))
        if given:
            self.either = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4))

coder = Coder(given)
"""


def depends(text: str) -> bool | None:
    semantics, [model] = marked(TEXT + text)
    return semantics.of(ModeDependence).of(model)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("«coder.inner»", False),
        ("inner = coder.inner\n«inner»", False),
        ("«coder.outer»", True),
        ("outer = coder.outer\n«outer»", True),
        ("«coder.either»", True),
        ("«coder.given»", None),
        ("«coder.filled»", None),
        ("filled = coder.filled\n«filled»", None),
        ("«coder.unknown»", None),
        ("coder.inner = build()\n«coder.inner»", None),
        ("coder.inner = build()\ninner = coder.inner\n«inner»", None),
        ("inner = coder.inner if flag else build()\n«inner»", None),
        ("inner = other.inner\n«inner»", None),
        ("for _ in range(3):\n    coder = coder.inner\n«coder»", None),
        ("made = nn.CrossEntropyLoss(label_smoothing=config.training.smoothing)\n«made»", False),
        ("made = nn.Sequential(nn.Threshold(self.training, 0))\n«made»", True),
    ],
)
def test_a_part_is_what_its_class_makes_it(text: str, expected: bool | None) -> None:
    assert depends(text) is expected
