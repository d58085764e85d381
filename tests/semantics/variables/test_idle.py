"""Assignments that do nothing but wrap a value under its own name."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from marked import marked
from torchlint.semantics.variables.idle import Idle, IdleAssignments


def idle(snippet: str, *, left: int = 0, may_go: bool = True) -> Idle[ast.stmt] | None:
    """What goes with the last assignment of a snippet; calls on line ``left`` are to be left."""
    semantics, _ = marked("import torch\nfrom torch.autograd import Variable\n" + dedent(snippet))
    statement = semantics.tree.of_type(ast.Assign)[-1]
    return semantics.of(IdleAssignments).around(statement, lambda call: call.lineno - 2 == left, lambda branch: may_go)


@pytest.mark.parametrize(
    "snippet",
    [
        "x = Variable(x)",
        "x, y = Variable(x), Variable(y)",
        "x, y = x, Variable(y)",
        "self.x = Variable(self.x)",
        "x = Variable(x, requires_grad=False)",
    ],
)
def test_finds_what_does_nothing(snippet: str) -> None:
    found = idle(snippet)
    assert found is not None and len(found.statements) == 1 and not found.whole


@pytest.mark.parametrize(
    "snippet",
    [
        "y = Variable(x)",
        "x = Variable(x, requires_grad=True)",
        "x = Variable(x.data)",
        "x = z = Variable(x)",
        "x[0] = Variable(x[0])",
        "x, y = Variable(x), f(y)",
        "x, y = Variable(y), Variable(x)",
        "x = x",
        "def repackage(x):\n    x = Variable(x)",
    ],
)
def test_finds_nothing_else(snippet: str) -> None:
    assert idle(snippet) is None


def test_leaves_what_is_to_be_left() -> None:
    assert idle("x = Variable(x)", left=1) is None


@pytest.mark.parametrize(
    ("snippet", "whole", "branch"),
    [
        ("if cuda:\n    x = Variable(x)\n    y = Variable(y)", True, True),
        ("if isinstance(x, list):\n    x = Variable(x)", True, True),
        ("if ready():\n    x = Variable(x)", True, False),
        ("if cuda:\n    x = Variable(x)\nelse:\n    pass", True, False),
        ("if cuda:\n    pass\nelse:\n    x = Variable(x)", True, False),
        ("for x in xs:\n    x = Variable(x)", True, False),
        ("if cuda:\n    f()\n    x = Variable(x)", False, False),
    ],
)
def test_tells_what_goes_with_it(snippet: str, whole: bool, branch: bool) -> None:
    found = idle(snippet)
    assert found is not None
    assert (found.whole, found.branch is not None) == (whole, branch)


def test_a_branch_that_may_not_go_stays() -> None:
    found = idle("if cuda:\n    x = Variable(x)", may_go=False)
    assert found is not None and found.whole and found.branch is None


@pytest.mark.parametrize(
    ("snippet", "itself", "detached"),
    [
        ("x = torch.zeros(3)\nx = Variable(x)", True, True),
        ("x = torch.zeros(3)\nx.requires_grad_()\nx = Variable(x)", False, True),
        ("def f(x):\n    x = Variable(x)\n    return x", False, False),
        ("x = torch.zeros(3)\nfor y in ys:\n    x = Variable(x)\n    y = Variable(y)", False, False),
        ("x, y = torch.zeros(3), torch.zeros(3)\nif c:\n    x = Variable(x)\n    y = Variable(y)", True, True),
    ],
)
def test_tells_what_is_certain_of_all_values(snippet: str, itself: bool, detached: bool) -> None:
    found = idle(snippet)
    assert found is not None
    assert (found.itself.is_certain, found.detached.is_certain) == (itself, detached)


@pytest.mark.parametrize(
    ("snippet", "column"),
    [
        ("x, y = Variable(x), Variable(y)", 7),
        ("x = net(x)\ny = net(y)\nx, y = Variable(x), Variable(y)", 7),
        ("net = torch.nn.Linear(3, 3)\ny = net(y)\nx, y = Variable(x), Variable(y)", 20),
    ],
)
def test_one_call_speaks_for_a_statement(snippet: str, column: int) -> None:
    semantics, _ = marked("import torch\nfrom torch.autograd import Variable\n" + snippet)
    calls = [call for call in semantics.tree.of_type(ast.Call) if ast.unparse(call.func) == "Variable"]
    assert [call.col_offset for call in calls if semantics.of(IdleAssignments).leads(call)] == [column]
