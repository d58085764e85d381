"""New leaves on the way to a backward pass: of each snippet, what is known of the marked expression."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from marked import marked
from torchlint.semantics.gradients.severed import NewLeaf, SeveredGraphs

HEADER = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable
from metrics import rouge
model, criterion = nn.Linear(3, 3), nn.MSELoss()
x = torch.ones(3)
out = model(x)
"""


def new_leaf(snippet: str) -> NewLeaf[ast.expr] | None:
    semantics, (call,) = marked(HEADER + snippet)
    assert isinstance(call, ast.Call)
    return semantics.of(SeveredGraphs).new_leaves.get(call)


@pytest.mark.parametrize(
    ("snippet", "whole"),
    [
        ("loss = criterion(out, y)\nloss = «Variable(loss, requires_grad=True)»\nloss.backward()", "loss"),
        ("loss = «Variable(out.mean(), True)»\nloss.backward()", "out.mean()"),
        ("«torch.tensor(out.mean().item(), requires_grad=True)».backward()", "out.mean()"),
        ("criterion(«torch.tensor(out.tolist(), requires_grad=True)», y).backward()", "out"),
        ("loss = F.l1_loss(out, y) + «torch.tensor(out.sum().item(), requires_grad=True)»\nloss.backward()", "out.sum()"),
        ("reward = env.step()\n«torch.tensor(-reward, requires_grad=True)».backward()", None),
        ("labels = «out.argmax().float().requires_grad_()»\ncriterion(labels, y).backward()", None),
    ],
)
def test_new_leaves_at_which_a_backward_pass_ends(snippet: str, whole: str | None) -> None:
    found = new_leaf(snippet)
    assert found is not None and found.asks_for_grad
    assert (found.whole and ast.unparse(found.whole)) == whole


@pytest.mark.parametrize(
    "snippet",
    [
        "loss = «Variable(out.mean(), requires_grad=False)»\n(loss + 1).backward()",
        "«Variable(model(x))».sum().backward()",
        "scores = «Variable(model(x))»\ncriterion(scores, y).backward()",
    ],
)
def test_variable_cuts_the_graph_without_asking(snippet: str) -> None:
    found = new_leaf(snippet)
    assert found is not None and not found.asks_for_grad


@pytest.mark.parametrize(
    "snippet",
    [
        "w = «torch.tensor([1.0], requires_grad=True)»\nw.sum().backward()",  # a leaf of data
        "for x in loader:\n    x = «Variable(x, requires_grad=True)»\n    criterion(x, y).backward()",
        "z = «torch.tensor(out.tolist(), requires_grad=True)»\ncriterion(z, y).backward()\nprint(z.grad)",
        "z = «torch.tensor(out.tolist(), requires_grad=True)»\nnn.Linear(3, 3)(z).sum().backward()",
        "z = «Variable(out.detach(), requires_grad=True)»\n(criterion(out, y) + z.mean()).backward()",  # cut on purpose
        "loss = «torch.tensor(out.mean().item(), requires_grad=True)»\nprint(loss)",
        "loss = «Variable(out.mean(), requires_grad=flag)»\nloss.backward()",
    ],
)
def test_leaves_that_sever_nothing(snippet: str) -> None:
    assert new_leaf(snippet) is None


MODULE = "class Net(nn.Module):\n    def forward(self, hidden):\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("y = torch.sigmoid(model(hidden))\nreturn «Variable(y, requires_grad=True)»", True),
        ("y = model(hidden)\nreturn «Variable(y)»", True),
        ("return «Variable(hidden, requires_grad=True)»", False),
        ("y = model(hidden)\nreturn «Variable(y.data, requires_grad=True)»", False),
        ("with torch.no_grad():\n    return «Variable(model(hidden), requires_grad=True)»", False),
    ],
)
def test_what_a_module_returns(body: str, found: bool) -> None:
    assert (new_leaf(MODULE + indent(body, "        ")) is not None) is found


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("edge_loss", "Variable((scores * 2).sum(), requires_grad=True)", True),
        ("edge_loss", "torch.tensor(out.mean(), requires_grad=True)", True),
        ("edge_loss", "Variable(scores, requires_grad=True)", False),
        ("edge_loss", "torch.tensor(unknown(scores), requires_grad=True)", False),
        ("edge_term", "Variable((scores * 2).sum(), requires_grad=True)", False),
    ],
)
def test_what_a_loss_function_returns(name: str, value: str, found: bool) -> None:
    assert (new_leaf(f"def {name}(scores):\n    return «{value}»") is not None) is found


@pytest.mark.parametrize(
    ("statement", "needless"),
    [
        ("out = «Variable(out, requires_grad=True)»", True),
        ("out = «torch.tensor(out.detach().cpu(), requires_grad=True)»", True),
        ("out = «Variable(out[0], requires_grad=True)»", False),
        ("out = z = «Variable(out, requires_grad=True)»", False),
        ("out = «Variable(out, requires_grad=True)».cuda()", False),
    ],
)
def test_where_nothing_is_left_of_the_statement(statement: str, needless: bool) -> None:
    found = new_leaf(f"{statement}\nout.sum().backward()")
    assert found is not None and found.needless is needless


@pytest.mark.parametrize("value", ["out.data[0]", "torch.tensor(out.tolist()[0])"])
def test_items_are_taken_again(value: str) -> None:
    found = new_leaf(f"z = «Variable({value}, requires_grad=True)»\ncriterion(z, y).backward()")
    assert found is not None and found.whole is not None
    items = [ast.unparse(item.slice) for item in found.items if isinstance(item, ast.Subscript)]
    assert (ast.unparse(found.whole), items) == ("out", ["0"])


def made_leaf(snippet: str) -> str | None:
    """What the marked flag is set on, if it makes a leaf of something computed."""
    semantics, (flag,) = marked(HEADER + snippet)
    found = semantics.of(SeveredGraphs).made_leaves.get(flag)
    return ast.unparse(found.loss) if found is not None else None


@pytest.mark.parametrize(
    "snippet",
    [
        "loss = 1 - rouge(out, y)\n«loss.requires_grad» = True\nloss.backward()",
        "loss = out.detach().mean()\n«loss.requires_grad_()»\nloss.backward()",
        "loss = out.detach().mean()\n«loss.requires_grad_(True)»\nloss.backward()",
        "loss = out.detach().mean()\n«loss.requires_grad» = True\naccelerator.backward(loss)",
    ],
)
def test_flags_on_computed_losses(snippet: str) -> None:
    assert made_leaf(snippet) == "loss"


@pytest.mark.parametrize(
    "snippet",
    [
        "loss = torch.zeros(1)\n«loss.requires_grad» = True\nloss.backward()",
        "loss = torch.zeros(1)\n«loss.requires_grad_()»\nloss.backward()",
        "loss = out.detach().mean()\n«loss.requires_grad» = True\nprint(loss)",
        "loss = out.detach().mean()\n«loss.requires_grad» = False\nloss.backward()",
        "loss = unknown(out)\n«loss.requires_grad_()»\nloss.backward()",
        "loss = out.mean()\n«loss.requires_grad_()»\nloss.backward()",  # it has its graph
        "z = out.detach().mean()\n«z.requires_grad» = True\nz.backward()\nprint(z.grad)",
    ],
)
def test_flags_that_hide_nothing(snippet: str) -> None:
    assert made_leaf(snippet) is None
