"""Classes whose instances run what they are given, and those that make layers of the numbers that they are given."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics.summaries.holding import runs_given_parts
from torchlint.semantics.summaries.members import members_of

TEXT = """
class Net(nn.Module):
    def __init__(self, part, width):
        self.part = {}

    def forward(self, x):
        return self.part(x)
"""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("part", True),
        ("nn.Sequential(part, nn.ReLU())", True),
        ("nn.DataParallel(part)", True),
        ("nn.Linear(width, 10)", False),
        ("nn.PixelShuffle(width)", False),
        ("nn.ReLU()", False),
    ],
)
def test_what_is_called_is_given(value: str, expected: bool) -> None:
    (node,) = ast.parse(TEXT.format(value)).body
    assert isinstance(node, ast.ClassDef)
    assert runs_given_parts(members_of(node)) is expected
