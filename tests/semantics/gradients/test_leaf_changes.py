"""Changes of leaves in place: of each snippet, what is known of the change in its marked expression."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from marked import marked
from torchlint.semantics.gradients.leaf_changes import LeafChange, LeafChanges

HEADER = "import torch\nimport torch.nn as nn\nw = torch.ones(3, requires_grad=True)\nlayer = nn.Linear(3, 3)\n"


def changed(snippet: str) -> LeafChange[ast.expr, ast.expr | ast.stmt] | None:
    """The change that the marked expression makes; of an augmented assignment, its target is marked."""
    semantics, (node,) = marked(HEADER + dedent(snippet))
    parent = semantics.tree.parent(node)
    change = parent if isinstance(parent, ast.AugAssign) and parent.target is node else node
    assert isinstance(change, (ast.expr, ast.AugAssign))
    return semantics.of(LeafChanges).at.get(change)


@pytest.mark.parametrize(
    ("snippet", "target"),
    [
        ("«w» *= 2", "w"),
        ("«w[0]» = 1", "w"),
        ("«w.clamp_(0, 1)»", "w"),
        ("«layer.weight.mul_(2)»", "layer.weight"),
        ("p = nn.Parameter(torch.ones(3))\n«p.zero_()»", "p"),
        ("def train():\n    loss().backward()\n    «layer.bias» -= 1", "layer.bias"),
        ("def train():\n    v = torch.ones(3, requires_grad=True)\n    «v.zero_()»", "v"),
        ("def given():\n    return torch.sqrt(w).clone().detach().requires_grad_()\nv = given()\n«v.zero_()»", "v"),
    ],
)
def test_leaves_are_changed_in_place(snippet: str, target: str) -> None:
    found = changed(snippet)
    assert found is not None and ast.unparse(found.target) == target


@pytest.mark.parametrize(
    "snippet",
    [
        "with torch.no_grad():\n    «w» *= 2",
        "v = torch.ones(3)\n«v» *= 2",
        "v = w.detach()\n«v» *= 2",
        "«w.data.zero_()»",
        "v = torch.ones(3, requires_grad=True)\nv.requires_grad = False\n«v» *= 2",
        "«layer.weight.requires_grad_(False)»",
        "layer.weight.requires_grad_(flag)\n«layer.weight.mul_(2)»",
        "v = w.exp().clone().detach().requires_grad_(False)\n«v» *= 2",
        "v = w.detach().requires_grad_(requires_grad=False)\n«v» *= 2",
        "def given():\n    return torch.sqrt(w).clone().detach().requires_grad_(False)\nv = given()\n«v[v < 1]» = 1",
    ],
)
def test_what_is_no_leaf_that_requires_grad(snippet: str) -> None:
    assert changed(snippet) is None


@pytest.mark.parametrize(
    "snippet",
    [
        "def reset():\n    «layer.weight.zero_()»",  # the caller may have turned autograd off
        "def reset():\n    «w.zero_()»",
        "v = unknown()\n«v.zero_()»",
        "v = w if flag else unknown()\n«v.zero_()»",
        "optimizer = torch.optim.SGD([w])\nfor group in optimizer.param_groups:\n    «group['params'][0].zero_()»",
    ],
)
def test_what_is_not_known_to_raise(snippet: str) -> None:
    assert changed(snippet) is None


@pytest.mark.parametrize(("method", "known"), [("__init__", True), ("forward", True), ("reset_parameters", False)])
def test_methods_in_which_autograd_is_on(method: str, known: bool) -> None:
    body = indent(f"def {method}(self):\n    self.w = nn.Parameter(torch.ones(3))\n    «self.w.zero_()»", "    ")
    assert (changed(f"class Net(nn.Module):\n{body}") is not None) is known


@pytest.mark.parametrize(
    ("snippet", "takes_graph"),
    [
        ("«w[0]» = 1.0", False),
        ("«w[0]» = layer(w).sum()", True),
        ("«w.copy_(layer(w))»", True),
        ("«w» += torch.ones(3)", False),
    ],
)
def test_what_is_put_into_a_leaf_may_carry_graph(snippet: str, takes_graph: bool) -> None:
    found = changed(snippet)
    assert found is not None and found.takes_graph is takes_graph


@pytest.mark.parametrize(
    ("snippet", "whole"),
    [("«w» *= 2", True), ("«w.zero_()»", True), ("print(«w.zero_()»)", False), ("v = «w[0]» = 1", False)],
)
def test_a_change_may_be_all_that_its_statement_does(snippet: str, whole: bool) -> None:
    found = changed(snippet)
    assert found is not None and found.whole is whole
