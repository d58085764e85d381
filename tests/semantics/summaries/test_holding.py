"""Classes whose instances run what they are given, make layers of the numbers that they are given, or add up values."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics.summaries.members import members_of
from torchlint.semantics.summaries.shown.holding import gathering_methods, runs_given_parts

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


@pytest.mark.parametrize(
    ("body", "expected"),
    [("x = each(x)", True), ("x = each.forward(x)", True), ("x = x + table[each]", False)],
)
def test_what_is_gone_through_and_called_is_given(body: str, expected: bool) -> None:
    text = TEXT.format("part").replace("return self.part(x)", f"for each in self.part:\n            {body}\n        return x")
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.ClassDef)
    assert runs_given_parts(members_of(node)) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.sum += v", True),
        ("self.sum += v * n", True),
        ("self.sum = self.sum + n * v / 2", True),
        ("if n:\n        self.sum += v", True),
        ("self.sum += n", False),
        ("self.value = v", False),
        ("self.sum -= v", False),
        ("sum += v", False),
        ("self.sum += v.item()", False),
        ("self.sum += float(v)", False),
        ("v = v.item()\n    self.sum += v", False),
        ("if isinstance(v, torch.Tensor):\n        self.sum += v", False),
        ("with torch.no_grad():\n        self.sum += v", False),
        ("self.sum += v\n    self.sum.detach_()", False),
        ("self.sum = self.other + v", False),
    ],
)
def test_what_is_added_up(body: str, expected: bool) -> None:
    (node,) = ast.parse(f"class Meter:\n  def update(self, v, n=1):\n    {body}\n").body
    assert isinstance(node, ast.ClassDef)
    assert gathering_methods(members_of(node)) == (("update",) if expected else ())
