"""Gradients that are always ``None``: of each snippet, the marked one."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.autograd.nonleaf_gradients import NonleafGradients, Read, Rebound, Unretained

BEFORE = """
import torch
import torch.nn as nn
from lib import unknown

net = nn.Linear(2, 2)

def f(x: torch.Tensor, flag):
    w = torch.ones(2, requires_grad=True)
"""


def read(*lines: str) -> Read | None:
    """What is known of the marked read in the body of a function."""
    semantics, (node,) = marked(BEFORE + "".join(f"    {line}\n" for line in lines))
    assert isinstance(node, ast.Attribute)
    return semantics.of(NonleafGradients).reads.get(node)


def unretained(*lines: str) -> Unretained[ast.expr, ast.stmt]:
    found = read(*lines)
    assert isinstance(found, Unretained)
    return found


@pytest.mark.parametrize(
    ("lines", "tensor"),
    [
        (("y = w * 2", "y.sum().backward()", "print(«y.grad»)"), "y"),
        (("w.sum().backward()", "print(«w[0].grad»)"), "w[0]"),
        (("w.sum().backward()", "print(«(w * 2).grad»)"), "w * 2"),
        (("y = net(x)", "y.sum().backward()", "print(«y.grad»)"), "y"),
        (("y = w * 2", "y += 1", "y.sum().backward()", "print(«y.grad»)"), "y"),
    ],
)
def test_results_of_operations_have_none(lines: tuple[str, ...], tensor: str) -> None:
    assert ast.unparse(unretained(*lines).tensor) == tensor


@pytest.mark.parametrize(
    "lines",
    [
        ("w.sum().backward()", "print(«w.grad»)"),
        ("w.sum().backward()", "print(«net.weight.grad»)"),
        ("y = w * 2", "y.retain_grad()", "y.sum().backward()", "print(«y.grad»)"),
        ("y = w * 2", "y.grad = x", "y.sum().backward()", "print(«y.grad»)"),
        ("y = w.detach().requires_grad_()", "y.sum().backward()", "print(«y.grad»)"),
        ("y = w * 2", "y.sum().backward()", "print(«y.grad» is None)"),
        ("y = w * 2", "y.sum().backward()", "if y.grad is not None:", "    print(«y.grad»)"),
        ("y = w * 2", "print(«y.grad»)"),
        ("ys = [w * 2]", "for y in ys:", "    y.retain_grad()", "y = w * 2", "unknown(y)", "y.sum().backward()", "«y.grad»"),
    ],
)
def test_leaves_and_what_is_retained_or_reckoned_with(lines: tuple[str, ...]) -> None:
    assert read(*lines) is None


@pytest.mark.parametrize(
    "lines",
    [
        ("y = unknown(w)", "y.sum().backward()", "print(«y.grad»)"),
        ("y = w.to(flag)", "y.sum().backward()", "print(«y.grad»)"),
        ("y = w", "if flag:", "    y = w * 2", "y.sum().backward()", "print(«y.grad»)"),
    ],
)
def test_what_may_be_a_leaf(lines: tuple[str, ...]) -> None:
    assert read(*lines) is None


def test_a_copy_of_a_leaf_is_named_by_its_method() -> None:
    assert unretained("y = torch.ones(2, requires_grad=True).cuda()", "y.sum().backward()", "«y.grad»").copied_by == "cuda"
    assert unretained("y = w * 2", "y.sum().backward()", "«y.grad»").copied_by == ""


def places(*lines: str) -> tuple[str | None, list[str], bool]:
    found = unretained(*lines)
    before = ast.unparse(found.before) if found.before is not None else None
    return before, [ast.unparse(each) for each in found.behind], found.certainty


def test_where_it_could_be_retained() -> None:
    assert places("y = w * 2", "y.sum().backward()", "«y.grad»") == ("y.sum().backward()", ["y = w * 2"], True)
    assert places("y = w * 2", "if flag:", "    y = w", "y = w + 1", "unknown(y)", "«y.grad»", "w.backward()") == (
        None,
        ["y = w + 1"],
        False,
    )
    two = ("if flag:", "    y = w * 2", "else:", "    y = w * 3", "y.sum().backward()", "«y.grad»")
    assert places(*two) == (None, ["y = w * 3", "y = w * 2"], True)


@pytest.mark.parametrize(
    ("lines", "cleared"),
    [
        (("for _ in x:", "    w.sum().backward()", "    w = w - 0.1 * «w.grad»"), False),
        (("for _ in x:", "    w.sum().backward()", "    w = w - 0.1 * «w.grad»", "    w.grad.zero_()"), True),
    ],
)
def test_a_leaf_of_the_first_round_only(lines: tuple[str, ...], cleared: bool) -> None:
    found = read(*lines)
    assert isinstance(found, Rebound)
    assert ast.unparse(found.update) == "w = w - 0.1 * w.grad"
    assert found.cleared is cleared


def test_leaves_of_every_round() -> None:
    assert read("w.sum().backward()", "w = w - 0.1 * «w.grad»") is None
    block = ("    with torch.no_grad():", "        w = w - 0.1 * «w.grad»", "    w.requires_grad_()")
    assert read("for _ in x:", "    w.sum().backward()", *block) is None
