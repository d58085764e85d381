"""Changes of what the backward pass needs: of each snippet, what is known of the change in its marked expression."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from marked import marked
from torchlint.semantics.gradients.saved.changes import OutOfPlace, SavedChange, SavedChanges

HEADER = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
w = torch.ones(3, requires_grad=True)
fc = nn.Linear(3, 3)
act = nn.ReLU(inplace=True)
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
    def forward(self, x):
        return self.weight * x
scale = Scale()
"""


def saved(snippet: str) -> SavedChange[ast.expr, ast.expr | ast.stmt] | None:
    """The change that the marked expression makes; of an augmented assignment, its target is marked."""
    semantics, (node,) = marked(HEADER + dedent(snippet))
    parent = semantics.tree.parent(node)
    change = parent if isinstance(parent, ast.AugAssign) and parent.target is node else node
    assert isinstance(change, (ast.expr, ast.AugAssign))
    return semantics.of(SavedChanges).at.get(change)


@pytest.mark.parametrize(
    ("body", "saving"),
    [
        ("y = w.sigmoid()\n«y» *= 2", "w.sigmoid()"),
        ("y = torch.exp(w)\n«y.mul_(2)»", "torch.exp(w)"),
        ("y = F.softmax(w * 2, dim=0).view(-1)\n«y[0]» = 1", "F.softmax(w * 2, dim=0)"),
        ("y = w * 2\nz = y ** 2\n«y.add_(1)»\ny = z", "y ** 2"),
        ("y = w * 2\nz = fc(y)\n«y» += z", "fc(y)"),
        ("y = w * 2\n«y» /= y.norm()", "y.norm()"),
        ("y = «act(w.tanh())»", "w.tanh()"),
        ("y = w.exp()\ny = «F.dropout(y, inplace=True)»", "w.exp()"),
        ("def f(a):\n    return a * w\ny = w * 2\nz = f(y)\n«y» += z", "f(y)"),
        ("y = w * 2\nz = scale(y)\n«y» += z", "scale(y)"),
        ("def f(a):\n    return scale(a)\ny = w * 2\nz = f(y)\n«y» += z", "f(y)"),
    ],
)
def test_what_changes_what_an_operation_has_saved(body: str, saving: str) -> None:
    found = saved(f"{body}\ny.sum().backward()")
    assert found is not None
    assert ast.unparse(found.saving) == saving


@pytest.mark.parametrize(
    "snippet",
    [
        "y = w * 2\n«y» *= 3\ny.sum().backward()",  # needs nothing of its result
        "y = w + 1\n«y[0]» = 0\ny.sum().backward()",
        "y = w.sigmoid().detach()\n«y» *= 2\nw.sum().backward()",
        "y = w.sigmoid()\ny.sum().backward()\n«y» *= 2",  # the backward pass is over
        "y = w.sigmoid()\n«y» *= 2\nw.sum().backward()",  # it does not go through it
        "with torch.no_grad():\n    y = w.sigmoid()\n    «y» *= 2\nw.sum().backward()",
        "y = w.sigmoid()\nif fast:\n    y = w * 2\n    «y» *= 2\ny.sum().backward()",
        "y = [w.sigmoid()]\n«y» += [1]\ny[0].sum().backward()",
        "def f(a):\n    if fast:\n        return a\n    return a * w\ny = w * 2\nz = f(y)\n«y» += z\ny.sum().backward()",
        "def f(a):\n    a = a + 1\n    return a * w\ny = w * 2\nz = f(y)\n«y» += z\ny.sum().backward()",
        "@torch.no_grad()\ndef f(a):\n    return a * w\ny = w * 2\nz = f(y)\n«y» += z\ny.sum().backward()",
        "y = w * 2\nfor i in range(3):\n    y = y * w\n    «y[0]» = 1\ny.sum().backward()",  # of the round before
    ],
)
def test_changes_that_no_backward_pass_minds(snippet: str) -> None:
    assert saved(snippet) is None


@pytest.mark.parametrize(
    "snippet",
    [
        "y = unknown(w)\n«y» *= 2\ny.sum().backward()",
        "def f(y):\n    y = torch.sigmoid(y)\n    «y» *= 2\n    return y",
        "y = unknown.sigmoid()\n«y.mul_(2)»\ny.sum().backward()",
    ],
)
def test_unknown_values_are_not_saved(snippet: str) -> None:
    assert saved(snippet) is None


FORWARD = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
{}
"""


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("y = torch.sigmoid(self.fc(x))\n«y» *= 2\nreturn y", False),
        ("«x» += self.fc(x)\nreturn x", True),
        ("if x.sum() > 1:\n    y = torch.sigmoid(self.fc(x))\n    «y.add_(1)»\n    return y", False),
    ],
)
def test_a_module_is_trained_by_what_it_returns(body: str, given: bool) -> None:
    found = saved(FORWARD.format(indent(body, "        ")))
    assert found is not None and found.given is given


@pytest.mark.parametrize(
    "body",
    [
        "y = torch.sigmoid(self.fc(x))\n«y» *= 2\nreturn self.fc(x)",
        "if not self.training:\n    y = torch.sigmoid(self.fc(x))\n    «y» *= 2\n    return y\nreturn x",
    ],
)
def test_what_a_module_does_not_train(body: str) -> None:
    assert saved(FORWARD.format(indent(body, "        "))) is None


@pytest.mark.parametrize(
    ("change", "instead"),
    [
        ("«y» *= 2", OutOfPlace.OPERATION),
        ("«y.mul_(2)»", OutOfPlace.METHOD),
        ("y = «y.mul_(2)»", OutOfPlace.METHOD),
        ("y = «F.relu(y, inplace=True)»", OutOfPlace.UNFLAGGED),
        ("z = «act(y)»", OutOfPlace.UNFLAGGED),
        ("z = «F.relu(y, inplace=True)»", None),  # `y` is to be changed as well
        ("z = «y.mul_(2)»", OutOfPlace.CLONED),
        ("z = 1\nz += «y.mul_(2)»", OutOfPlace.CLONED),
        ("«y[0]» = 1", OutOfPlace.CLONED),
        ("«y[0]» += 1", OutOfPlace.CLONED),
        ("«y.uniform_()»", OutOfPlace.CLONED),  # there is no method `uniform`
        ("if «y.mul_(2)».any(): pass", None),
    ],
)
def test_how_a_change_is_made_out_of_place(change: str, instead: OutOfPlace | None) -> None:
    found = saved(f"y = w.exp()\n{change}\ny.sum().backward()")
    assert found is not None
    assert found.instead is instead


def test_one_clone_is_enough_for_a_block() -> None:
    semantics, nodes = marked(HEADER + "y = w.exp()\n«y[0]» = 1\n«y[1]» = 2\nif fast:\n    «y[2]» = 3\ny.sum().backward()")
    firsts = [semantics.of(SavedChanges).at[node].first for node in nodes]
    assert [first and ast.unparse(first) for first in firsts] == ["y[0] = 1", "y[0] = 1", "y[2] = 3"]


@pytest.mark.parametrize(
    ("layers", "saving"),
    [
        ("nn.Sigmoid(), «nn.ReLU(inplace=True)»", "nn.Sigmoid()"),
        ("fc, nn.ReLU(), «nn.Dropout(0.5, True)», fc", "nn.ReLU()"),
        ("nn.Linear(3, 3), «nn.ReLU(inplace=True)»", None),
        ("nn.Sigmoid(), «nn.ReLU()»", None),
        ("nn.Sigmoid(), fc, «nn.ReLU(True)»", None),
        ("nn.GELU(), «nn.Dropout(0.5, inplace=True)»", None),  # it saves its input
    ],
)
def test_layers_of_a_sequence(layers: str, saving: str | None) -> None:
    semantics, (layer,) = marked(f"{HEADER}nn.Sequential({layers})")
    found = semantics.of(SavedChanges).in_sequences.get(layer)
    assert (found and ast.unparse(found.saving)) == saving


CHOSEN = """
class Block(nn.Module):
    def __init__(self, size, act=nn.ReLU):
        super().__init__()
        self.fc = nn.Linear(size, size)
        self.act = {layer}
    def forward(self, x):
        y = self.act(self.fc(x))
        «y» += x
        return y
{made}
"""


@pytest.mark.parametrize(
    ("layer", "made", "is_saved"),
    [
        ("act(inplace=True)", "", False),
        ("act(inplace=True)", "Block(3, act=nn.SiLU)", False),
        ("act(inplace=True)", "Block(3, nn.SiLU)", False),
        ("act(inplace=True)", "Block(**given)", False),
        ("act(inplace=True)", "Block(3)", True),
        ("act(inplace=True)", "Block(3, nn.SiLU)\nBlock(3)", True),
        ("act(inplace=True)", "class Other(Block):\n    pass\nOther(3)", True),
        ("nn.ReLU(inplace=True)", "", True),
    ],
)
def test_the_class_of_a_layer_may_be_the_makers_choice(layer: str, made: str, is_saved: bool) -> None:
    assert (saved(CHOSEN.format(layer=layer, made=made)) is not None) is is_saved


SEQUENCE = """\
class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.body = {body}
    def forward(self, x):
        y = self.body(x)
        «{changed}»
        return y
"""


@pytest.mark.parametrize(
    ("body", "changed", "is_saved"),
    [
        ("nn.Sequential(nn.Conv2d(3, 3, 3), nn.BatchNorm2d(3), nn.ReLU())", "y.mul_(2)", True),
        ("nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())", "y.mul_(2)", True),
        ("nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.GELU(), nn.Tanh()))", "y.mul_(2)", True),
        ("nn.Sequential(nn.Linear(3, 3), nn.GELU())", "y.mul_(2)", False),
        ("nn.Sequential(nn.ReLU(), nn.Linear(3, 3))", "y.mul_(2)", False),
        ("nn.Sequential(nn.Linear(3, 3), nn.ReLU()) if size else nn.Sequential(nn.Linear(3, 3))", "y.mul_(2)", False),
        ("nn.Sequential(nn.Linear(3, 3), *[nn.ReLU()] * size)", "y.mul_(2)", False),
        ("nn.Sequential(nn.Linear(3, 3), nn.GELU())", "x.add_(y)", True),
        ("nn.Sequential(nn.GELU(), nn.Linear(3, 3))", "x.add_(y)", False),
    ],
)
def test_what_a_sequence_saves(body: str, changed: str, is_saved: bool) -> None:
    assert (saved(SEQUENCE.format(body=body, changed=changed)) is not None) is is_saved
