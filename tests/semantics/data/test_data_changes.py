"""What it takes to change tensors themselves that are changed through their ``.data``."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import CERTAIN
from torchlint.semantics.data.changes import DataChange, DataChanges, Remedy

HEADER = "import torch\nfrom torch import nn\n"


def changes(snippet: str) -> list[DataChange[ast.expr]]:
    """The changes that the marked node of a snippet makes."""
    semantics, (node,) = marked(HEADER + snippet)
    return semantics.of(DataChanges).at.get(node, [])


def change(
    statement: str, before: str = "def f(w: nn.Parameter, v: torch.Tensor, tensors: list[torch.Tensor], x):"
) -> DataChange[ast.expr]:
    """The one change that the marked node of a statement makes."""
    [found] = changes(f"{before}\n    {statement}")
    return found


@pytest.mark.parametrize(
    ("statement", "remedy"),
    [
        ("«w.data.mul_(2)»", Remedy.NO_GRAD),
        ("«w.data» += 1", Remedy.NO_GRAD),
        ("«w.data[0]» = v", Remedy.NO_GRAD),
        ("«torch.zeros(3).data.mul_(2)»", Remedy.NOTHING),
        ("«torch.zeros(3).data.mul_(v)»", Remedy.NO_GRAD),
        ("«torch.zeros(3).data.mul_(x)»", Remedy.NO_GRAD),
        ("«torch.zeros(3).data[0]» = w", Remedy.NO_GRAD),
        ("«nn.init.normal_(w.data)»", Remedy.NOTHING),
        ("«nn.init.normal_(w.data[0])»", Remedy.DETACH),
        ("with torch.no_grad():\n        «w.data.mul_(2)»", Remedy.NOTHING),
        ("print(«w.data.mul_(2)»)", Remedy.DETACH),
        ("y = «w.data.mul_(2)»", Remedy.DETACH),
        ("«w.data.mul_((y := x))»", Remedy.DETACH),
        ("«w.data.resize_(3).zero_()»", Remedy.NONE),
        ("«v.data.resize_(3).zero_()»", Remedy.RESHAPE),
        ("«v.data.unsqueeze_(0).zero_()»", Remedy.RESHAPE),
        ("«v.data.view(-1).resize_(3).zero_()»", Remedy.DETACH),
        ("y = «v.data.resize_(3).zero_()»", Remedy.DETACH),
        ("torch.add(v, v, out=w.data)\n    «torch.add(v, 1, out=w.data)»", Remedy.DETACH),
        ("c = w.data\n    «c.zero_()»", Remedy.DETACH),
    ],
)
def test_remedies(statement: str, remedy: Remedy) -> None:
    assert change(statement).remedy is remedy


ELSEWHERE = "`f` may be called from elsewhere, between a forward and its backward"
MADE = "def _f(x: torch.Tensor):\n    w = nn.Parameter(torch.zeros(3))\n    v = torch.zeros(3)"


@pytest.mark.parametrize(
    "statement",
    [
        "«w.data.mul_(2)»",
        "«w.data.mul_(x)»",
        "«v.data.mul_(2)»",
        "«w.data[0]» = 1",
        "«nn.init.normal_(w.data)»",
        "w.data = «nn.init.normal_(w.data)»",
        "with torch.no_grad():\n        «w.data.mul_(2)»",
    ],
)
def test_what_is_certain_to_raise_and_change_nothing(statement: str) -> None:
    assert change(statement, MADE).rests_on == CERTAIN


@pytest.mark.parametrize(
    ("statement", "before", "doubt"),
    [
        ("«w.data.mul_(2)»", "def f(w: nn.Parameter):", ELSEWHERE),
        ("«w.data.mul_(2)»", "def f(w):", "`w` is an argument; it may be no tensor"),
        ("«nn.init.normal_(w.data)»", "def f(w: nn.Parameter):", ELSEWHERE),
        ("y = «nn.init.normal_(w.data)»", MADE, "what the initialiser returns is used, and now is the tensor itself"),
        ("«w.data.mul_(fit(x))»", MADE, "`fit(x)` may need autograd, which is off then"),
        ("w.sum()\n    «w.data.mul_(2)»", MADE, "nothing here shows when `_f` is called"),
        (
            "with torch.no_grad():\n        torch.set_grad_enabled(True)\n        «w.data.mul_(2)»",
            MADE,
            "autograd may be switched on again here",
        ),
        (
            "scores = w * 2\n    «scores.data.masked_fill_(x > 0, 0)»",
            "w = nn.Parameter(torch.zeros(3))\nfor x in torch.zeros(3):",
            "the backward then goes through the masking; other names of `scores` do not",
        ),
    ],
)
def test_what_may_raise_or_change_by_it(statement: str, before: str, doubt: str) -> None:
    assert change(statement, before).rests_on.doubt == doubt


@pytest.mark.parametrize(
    ("statement", "augmentable"),
    [
        ("«w.data» += 1", True),
        ("«x.weight.data» += 1", False),
        ("«tensors[0].data» += 1", False),
        ("«w.sigmoid().data» += 1", False),
        ("global u\n    u = torch.zeros(3)\n    «u.data» += 1", True),
    ],
)
def test_what_can_be_the_target_of_an_augmented_assignment(statement: str, augmentable: bool) -> None:
    before = "def f(w: nn.Parameter, tensors: list[torch.Tensor], x: nn.Linear):"
    assert change(statement, before).augmentable is augmentable


def test_a_name_of_an_outer_scope_is_no_target() -> None:
    assert not change("«w.data» += 1", "w = nn.Parameter(torch.zeros(3))\ndef f():").augmentable


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ("«w.data.add_(w.data)»", ["w.data"]),
        ("«w.data.add_(v.data * 2)»", ["v.data"]),
        ("«w.data[0]» = v.data", ["v.data"]),
        ("print(«w.data.add_(v.data)»)", []),
    ],
)
def test_other_data_that_is_not_needed_where_autograd_is_off(statement: str, reads: list[str]) -> None:
    assert [ast.unparse(read) for read in change(statement).reads] == reads


def test_one_call_may_change_several_tensors() -> None:
    snippet = (
        "def both(a, b):\n    a.zero_()\n    b.zero_()\ndef f(w: nn.Parameter, v: nn.Parameter):\n    «both(w.data, v.data)»"
    )
    assert [ast.unparse(found.tensor) for found in changes(snippet)] == ["w", "v"]


@pytest.mark.parametrize("snippet", ["def f(x: torch.Tensor):\n    «x.zero_()»", "def f(x: torch.Tensor):\n    «x.data.sum()»"])
def test_what_changes_nothing_through_data(snippet: str) -> None:
    assert changes(snippet) == []
