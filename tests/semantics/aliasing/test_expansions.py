"""What is expanded and then written to, or made a module's own: of each snippet, by the marked node."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.expansions import ExpandedWrite, Expansions

HEAD = (
    "import numpy\nimport torch\nfrom torch import broadcast_to, nn\ndef f(x: torch.Tensor, y: torch.Tensor, unknown, n):\n    "
)
INIT = "import torch\nfrom torch import nn\nclass A(nn.Module):\n  def __init__(self, x: torch.Tensor):\n    "


def writes(body: str) -> list[ExpandedWrite[ast.expr]]:
    """The writes that the marked node of a function's body makes to what is expanded."""
    semantics, (node,) = marked(HEAD + body)
    return semantics.of(Expansions).writes.get(node, [])


@pytest.mark.parametrize(
    ("body", "expanded"),
    [
        ("e = x.expand(3, 4)\n    «e.add_(1)»", "x.expand(3, 4)"),
        ("e = x.expand(3, 4)\n    «e[0]» = 1", "x.expand(3, 4)"),
        ("e = x.expand(3, 4)\n    «e» += 1", "x.expand(3, 4)"),
        ("e = x.expand(3, 4)\n    «torch.add(y, 1, out=e)»", "x.expand(3, 4)"),
        ("e: torch.Tensor = x.expand(3, 4)\n    «e.add_(1)»", "x.expand(3, 4)"),
        ("«x.expand(3, 4)[0]» = 1", "x.expand(3, 4)"),
        ("e = x.expand_as(y)\n    «e.mul_(2)»", "x.expand_as(y)"),
        ("e = x.broadcast_to((3, 4))\n    «e.mul_(2)»", "x.broadcast_to((3, 4))"),
        ("e = torch.broadcast_to(x, (3, 4))\n    «e.mul_(2)»", "torch.broadcast_to(x, (3, 4))"),
        ("e = broadcast_to(x, (3, 4))\n    «e.mul_(2)»", "broadcast_to(x, (3, 4))"),
        ("v = x.expand(3, 4).t()\n    «v.add_(1)»", "x.expand(3, 4)"),
        ("e = x.expand(3, 4)\n    v = e.view(-1)\n    «v.add_(1)»", "x.expand(3, 4)"),
        ("e = x.expand(3, 4)\n    if n:\n        e = e.clone()\n    «e.add_(1)»", "x.expand(3, 4)"),
        ("e = x.expand(1, 3)\n    «e.add_(1)»", "x.expand(1, 3)"),
        ("e = x.expand(3, 4)\n    «e[0].zero_()»", "x.expand(3, 4)"),
    ],
)
def test_what_is_written_to(body: str, expanded: str) -> None:
    [found] = writes(body)
    assert (ast.unparse(found.expanded), found.source and ast.unparse(found.source)) == (expanded, "x")
    assert (found.unpacked, found.lost) == (False, False)


@pytest.mark.parametrize(
    "body",
    [
        "e = x.expand(3, 4).clone()\n    «e.add_(1)»",
        "e = x.expand(3, 4).contiguous()\n    «e.add_(1)»",
        "e = x.expand(3, 4)\n    e = e + 1\n    «e.add_(1)»",
        "e = x.repeat(3, 4)\n    «e.add_(1)»",
        "e = x.expand(3, 4)\n    «e.add(1)»",
        "e = x.expand(3, 4)\n    «e.requires_grad_()»",
        "e = numpy.broadcast_to(n, (3, 4))\n    «e[0]» = 1",
    ],
)
def test_what_is_no_write_or_one_to_a_copy(body: str) -> None:
    assert writes(body) == []


@pytest.mark.parametrize("body", ["«e.zero_()»", "«e.fill_(2)»"])
def test_one_value_for_all_is_no_harm(body: str) -> None:
    assert writes(f"e = x.expand(3, 4)\n    {body}") == []


@pytest.mark.parametrize("sizes", ["-1, -1", "(1, -1)", "1"])
def test_sizes_that_show_nothing_twice(sizes: str) -> None:
    assert writes(f"e = x.expand({sizes})\n    «e.add_(1)»") == []


def test_a_write_to_what_nobody_keeps_is_lost() -> None:
    [found] = writes("«x.expand(3, 4).add_(1)»")
    assert found.lost


@pytest.mark.parametrize("write", ["«a.add_(1)»", "«b[0]» = 1"])
def test_the_parts_of_a_mesh(write: str) -> None:
    [found] = writes(f"a, b = torch.meshgrid(x, y)\n    {write}")
    assert (ast.unparse(found.expanded), found.source, found.unpacked) == ("torch.meshgrid(x, y)", None, True)


@pytest.mark.parametrize(
    ("statement", "made"),
    [
        ("self.register_buffer('a', «x.expand(3, 4)»)", "register_buffer"),
        ("self.register_buffer('a', «x.expand(3, 4)», True)", "register_buffer"),
        ("self.register_buffer('a', «x.expand(3, 4)», persistent=True)", "register_buffer"),
        ("self.register_buffer('a', «x.expand(3, 4)».t())", "register_buffer"),
        ("e = «x.expand(3, 4)»\n    self.register_buffer('a', e)", "register_buffer"),
        ("self.w = nn.Parameter(«x.expand(3, 4)»)", "Parameter"),
    ],
)
def test_what_is_made_a_modules_own(statement: str, made: str) -> None:
    semantics, (node,) = marked(INIT + statement)
    assert isinstance(node, ast.Call)
    found = semantics.of(Expansions).weights[node]
    assert (ast.unparse(found.source), found.made) == ("x", made)


@pytest.mark.parametrize(
    "statement",
    [
        "self.register_buffer('a', «x.expand(3, 4)», False)",
        "self.register_buffer('a', «x.expand(3, 4)», persistent=False)",
        "self.register_buffer('a', «x.expand(3, 4)».clone())",
        "self.w = nn.Parameter(«x.expand(3, 4)», requires_grad=False)",
        "self.w = «x.expand(3, 4)»",
    ],
)
def test_what_is_neither_saved_nor_trained(statement: str) -> None:
    semantics, (node,) = marked(INIT + statement)
    assert node not in semantics.of(Expansions).weights


@pytest.mark.parametrize(
    ("body", "doubt"),
    [
        ("e = torch.ones(1).expand(3)\n    «e[0]» = 1\n    return e", "`e` may rely on what is written to one row"),
        ("e = torch.ones(1, 2).expand(3, 2)\n    «e[0, 1]» = 1\n    return e", ""),
        ("e = torch.ones(1).expand(3)\n    «e[0]» = e[0] + 1", ""),
        ("e = torch.ones(1).expand(3)\n    «e[n]» = e[0] + 1", "`e[0]` may rely on what is written to one row"),
        ("e = torch.ones(1).expand(3)\n    for k in range(3):\n        «e[k]» = k\n    return e", ""),
        ("e = torch.ones(1).expand(3)\n    «e[0]» = e[-1] + 1", "`e[-1]` may rely on what is written to one row"),
        ("e = x.expand(3)\n    «e[0]» = 1", "code may rely on the memory that is shared with `x`"),
    ],
)
def test_whether_rows_are_meant_to_be_shared(body: str, doubt: str) -> None:
    [found] = writes(body)
    assert found.alone.doubt == doubt


KEPT = (
    "import torch\nclass A:\n  def __init__(self, diag):\n    self.diag = diag\n    self.left = 0\n"
    "  def turn(self):\n    self.left = 1\n  def f(self, x: torch.Tensor, n, other):\n    "
)
APART = "if {}:\n        e = x.expand(3, 4)\n    else:\n        e = torch.zeros(3, 4)\n    "


@pytest.mark.parametrize(
    ("test", "opposite"),
    [
        ("self.diag", "not self.diag"),
        ("n", "not n"),
        ("n == 1", "n != 1"),
        ("n == 'a'", "n == 'b'"),
        ("n is None", "n is not None"),
        ("n and other", "not n"),
    ],
)
def test_a_write_under_the_opposite_condition_is_to_something_else(test: str, opposite: str) -> None:
    semantics, (node,) = marked(KEPT + APART.format(test) + f"if {opposite}:\n        «e[0]» = 1")
    assert not semantics.of(Expansions).writes.get(node)
    semantics, (node,) = marked(KEPT + APART.format(test) + f"if other:\n        if {opposite}:\n            «e[0]» = 1")
    assert not semantics.of(Expansions).writes.get(node)


@pytest.mark.parametrize(
    "body",
    [
        APART.format("self.diag") + "if self.diag:\n        «e[0]» = 1",
        APART.format("n") + "if other:\n        «e[0]» = 1",
        APART.format("n") + "n = other\n    if not n:\n        «e[0]» = 1",
        APART.format("self.left") + "self.turn()\n    if not self.left:\n        «e[0]» = 1",
        APART.format("n.ask()") + "if not n.ask():\n        «e[0]» = 1",
        APART.format("n[0]") + "if not n[0]:\n        «e[0]» = 1",
        "e = x\n    for n in other:\n        if n:\n            e = x.expand(3, 4)\n        if not n:\n            «e[0]» = 1",
        "e = x\n    for _ in other:\n        k = x.next\n        if k:\n            e = x.expand(3, 4)\n"
        "        if not k:\n            «e[0]» = 1",
        "if n and other:\n        e = x.expand(3, 4)\n    else:\n        e = x.expand(2, 4)\n    if not n:\n        «e[0]» = 1",
    ],
)
def test_conditions_that_may_come_out_otherwise_exclude_nothing(body: str) -> None:
    semantics, (node,) = marked(KEPT + body)
    assert len(semantics.of(Expansions).writes.get(node, [])) == 1
