"""Leaves and results, what a loss is made of, and what autograd keeps: what the rules about single tensors ask."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.leaves import Operations
from torchlint.semantics.autograd.loss_terms import LossTerms
from torchlint.semantics.gradients.saved.tensors import SavedTensors
from torchlint.text.source import Source

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nw = torch.ones(3, requires_grad=True)\n"


def last_expression(text: str) -> tuple[Semantics, ast.expr]:
    """The file's semantics, and the expression that stands alone on its last line."""
    source = Source(HEAD + text)
    last = source.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return Semantics(source.tree), last.value


# --- results of operations -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "w * 2",
        "-w",
        "w[0]",
        "w.T",
        "x = w.pow(2)\nx",
        "x = w * 2\nx += 1\nx",
        "x = w * 2 if w is None else w.exp()\nx",
        "x = w * 2\ny = x.cpu().contiguous()\ny",
        "nn.Linear(3, 3)(w)",
        "a, b = w.chunk(2)\na",
        "torch.ones(3, requires_grad=True).cuda()",
        "torch.ones(3, requires_grad=True).to(device)",
        "torch.ones(3, requires_grad=True).double()",
        "x = torch.ones(3)\nx.requires_grad = True\ny = x.cuda()\ny",
        "def f(x):\n    return w * x\nf(2)",
    ],
)
def test_results(text: str) -> None:
    semantics, node = last_expression(text)
    assert Operations(semantics).is_result(node)


@pytest.mark.parametrize(
    "text",
    [
        "w",
        "w.contiguous()",
        "w.cpu()",
        "w.float()",
        "w.to('cpu')",
        "w.detach() * 2",
        "(w * 2).detach()",
        "(w * 2).detach().requires_grad_()",
        "nn.Parameter(w * 2)",
        "nn.Identity()(w)",
        "F.dropout(w)",
        "torch.ones(3, device=device, requires_grad=True).to(device)",
        "x = w\nif w is None:\n    x = w * 2\nx",
        "with torch.no_grad():\n    x = w * 2\nx",
        "x = [w]\nx[0]",
        "x = w * 2\nfor x in y:\n    pass\nx",
        "while w:\n    x = x\nx",
    ],
)
def test_what_may_be_a_leaf(text: str) -> None:
    semantics, node = last_expression(text)
    assert not Operations(semantics).is_result(node)


# --- terms of a loss -------------------------------------------------------------------------------------------------


def terms(text: str) -> set[tuple[str, bool, bool]]:
    """The terms of what is back-propagated: their text, whether they are the whole loss, whether a criterion judges them."""
    found = LossTerms(Semantics(ast.parse(HEAD + text))).terms
    return {(ast.unparse(term.node), term.whole, term.judged) for term in found}


def test_a_loss_that_is_scaled_is_whole() -> None:
    assert ("f(w)", True, False) in terms("loss = f(w)\nloss = loss / steps\n(2 * loss).mean().backward()")


def test_a_sum_is_not_one_of_its_parts() -> None:
    found = terms("a = f(w)\n(a + w).backward()")
    assert ("f(w)", False, False) in found
    assert not any(whole for text, whole, _ in found if text != "a + w")


def test_a_criterion_judges_its_first_argument() -> None:
    found = terms("out = w * 2\ncriterion = nn.MSELoss()\ncriterion(out, target).backward()")
    assert ("w * 2", False, True) in found
    assert not any(text == "target" for text, _, _ in found)


def test_a_loss_of_a_function_in_the_file_is_followed() -> None:
    assert ("x.sum()", True, False) in terms("def loss(x):\n    return x.sum()\nloss(w).backward()")


def test_a_model_ends_the_path() -> None:
    found = terms("model = nn.Linear(3, 3)\nx = w * 2\nF.mse_loss(model(x), y).backward()")
    assert ("model(x)", False, True) in found
    assert not any(text in ("x", "w * 2") for text, _, _ in found)


def test_a_gradient_that_is_handed_in_is_of_no_loss() -> None:
    assert terms("x = w * 2\nx.backward(gradient)") == set()


# --- what is kept for the backward pass ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["w.sigmoid()", "torch.exp(w)", "F.softmax(w, dim=0)", "nn.Tanh()(w)", "w.relu().view(-1)", "w.max()", "w.norm()"],
)
def test_operations_that_keep_their_result(text: str) -> None:
    semantics, node = last_expression(text)
    assert SavedTensors(semantics).keeping_result(node) is not None


@pytest.mark.parametrize(
    "text",
    ["w * 2", "w.pow(2)", "torch.max(w, w)", "w.detach().sigmoid()", "w.sigmoid().detach()", "w.sigmoid().clone()", "w.sum()"],
)
def test_operations_that_do_not_keep_their_result(text: str) -> None:
    semantics, node = last_expression(text)
    assert SavedTensors(semantics).keeping_result(node) is None


def keeps(text: str, name: str) -> bool:
    """Whether the operation on the last line keeps the operand ``name``."""
    semantics, node = last_expression(text)
    uses = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == name]
    return SavedTensors(semantics).keeping_operand(uses[0]) is not None


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("x * w", "x"),
        ("x @ w", "x"),
        ("x.mul(w)", "x"),
        ("nn.Linear(3, 3)(x)", "x"),
        ("w / y", "y"),
        ("y / w", "y"),
        ("y.pow(2)", "y"),
        ("y ** 2", "y"),
        ("torch.log(y)", "y"),
        ("y.max()", "y"),
    ],
)
def test_operations_that_keep_an_operand(operation: str, name: str) -> None:
    assert keeps(f"x = torch.ones(3)\ny = w * 1\n{operation}", name)


@pytest.mark.parametrize(
    "operation", ["y * x", "y + w", "y / x", "y ** 1", "y.max(0)", "y.sum()", "y.gather(0, x)", "y.mul(2)"]
)
def test_operations_that_do_not_keep_an_operand(operation: str) -> None:
    assert not keeps(f"x = torch.ones(3)\ny = w * 1\n{operation}", "y")
