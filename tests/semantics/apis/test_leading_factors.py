"""Operations that are given their factors in front of their operands."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.apis.leading_factors import LeadingFactors


def factors(snippet: str) -> list[tuple[str, str]]:
    semantics, _ = marked("import torch\nw = torch.zeros(3, 3)\ng = torch.ones(3, 3)\n" + snippet)
    return [(each.name, ast.unparse(each.value)) for given in semantics.of(LeadingFactors).given.values() for each in given]


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("w.add_(-lr, g)", [("alpha", "-lr")]),
        ("w.sub(2, g)", [("alpha", "2")]),
        ("torch.add(w, 2, g)", [("alpha", "2")]),
        ("w.addcmul_(v, g, g)", [("value", "v")]),
        ("torch.addcdiv(w, v, g, g)", [("value", "v")]),
        ("w.addmm(b, g, g)", [("beta", "b")]),
        ("w.addmm(b, a, g, g)", [("beta", "b"), ("alpha", "a")]),
        ("torch.addmm(b, w, g, g)", [("beta", "b")]),
        ("torch.addmm(b, w, a, g, g)", [("beta", "b"), ("alpha", "a")]),
        ("p.grad.add(lr, p)", [("alpha", "lr")]),
        ("def f(p): p.addcmul_(lr, g, g)", [("value", "lr")]),
    ],
)
def test_finds_the_factors(snippet: str, expected: list[tuple[str, str]]) -> None:
    assert factors(snippet) == expected


@pytest.mark.parametrize(
    "snippet",
    [
        *("w.add_(g)", "w.add_(g, alpha=2)", "torch.add(w, g)", "torch.addmm(w, g, g)", "w.addmm(g, g)", "w.add_(*both)"),
        *("seen.add(1, g)", "re.sub(pattern, text, g)", "w.add_(g, 2)", "w.add()"),
        "class Bag:\n    def add(self, a, b): ...\nBag().add(lr, g)",
    ],
)
def test_leaves_what_is_said_as_today(snippet: str) -> None:
    assert factors(snippet) == []
