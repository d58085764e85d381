"""Parameters that are frozen and given to an optimizer: of each snippet, by the marked call of ``parameters``."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.training.freezing import Freezing, FrozenGiven

HEAD = """\
from torch import nn, optim
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
        self.fc = nn.Linear(2, 2)
model = Net()
other = Net()
"""
GIVEN = "\noptim.SGD(«model.parameters()», lr=0.1)"


def given(snippet: str) -> FrozenGiven[ast.expr] | None:
    semantics, (node,) = marked(HEAD + snippet)
    assert isinstance(node, ast.Call)
    return semantics.of(Freezing).given.get(node)


@pytest.mark.parametrize(
    ("switch", "frozen", "named", "is_part"),
    [
        ("model.body.requires_grad_(False)", "model.body", "model.body", False),
        ("model.body.requires_grad_(requires_grad=False)", "model.body", "model.body", False),
        ("model.body.weight.requires_grad = False", "model.body.weight", "model.body.weight", False),
        ("m = model.body\nm.requires_grad_(False)", "m", "m", False),
        ("for p in model.body.parameters():\n    p.requires_grad = False", "p", "model.body", False),
        ("for p in list(model.parameters())[:2]:\n    p.requires_grad = False", "p", "model", True),
        ("for n, p in model.named_parameters():\n    if 'fc' not in n:\n        p.requires_grad = False", "p", "model", True),
        ("ps = list(model.body.parameters())\nfor p in ps:\n    p.requires_grad = False", "p", "model", True),
        ("for c in model.children():\n    c.requires_grad_(False)", "c", "model", True),
        ("model.requires_grad_(False)\nmodel.fc.requires_grad_(True)", "model", "model", True),
        ("model.requires_grad_(False)\nmodel.fc = nn.Linear(2, 2)", "model", "model", True),
        ("model.body.requires_grad_(False)\nmodel = model.cuda()", "model.body", "model.body", False),
        ("model.body.requires_grad_(False)\nmodel = nn.DataParallel(model)", "model.body", "model.body", False),
        ("model.requires_grad_(True)\nmodel.body.requires_grad_(False)", "model.body", "model.body", False),
    ],
)
def test_what_is_frozen(switch: str, frozen: str, named: str, is_part: bool) -> None:
    found = given(switch + GIVEN)
    assert found is not None
    assert (ast.unparse(found.frozen), ast.unparse(found.named), found.is_part) == (frozen, named, is_part)
    assert ast.unparse(found.optimizer) == "optim.SGD(model.parameters(), lr=0.1)"


def test_a_function_that_freezes_what_it_is_given() -> None:
    freeze = "def freeze(m):\n    for p in m.parameters():\n        p.requires_grad = False\n"
    found = given(f"{freeze}freeze(model.body){GIVEN}")
    assert found is not None
    assert ast.unparse(found.frozen) == "model.body"
    assert given(f"{freeze}freeze(other.body){GIVEN}") is None


def test_a_constructor_that_freezes_a_part() -> None:
    own = "class Own(nn.Module):\n  def __init__(self):\n    self.a = nn.Linear(2, 2)\n    self.a.requires_grad_(False)\n"
    found = given(f"{own}own = Own()\noptim.SGD(«own.parameters()», lr=0.1)")
    assert found is not None
    assert ast.unparse(found.frozen) == "self.a"


@pytest.mark.parametrize(
    "optimizer",
    [
        "optim.SGD(params=«model.parameters()», lr=0.1)",
        "params = «model.parameters()»\noptim.SGD(params, lr=0.1)",
        "optim.Adam(«model.parameters()»)",
    ],
)
def test_how_an_optimizer_is_given_it(optimizer: str) -> None:
    assert given(f"model.body.requires_grad_(False)\n{optimizer}") is not None


@pytest.mark.parametrize(
    "snippet",
    [
        "optim.SGD([«model.parameters()»], lr=0.1)",
        "optim.SGD(«filter(lambda p: p.requires_grad, model.parameters())», lr=0.1)",
        "params = «model.parameters()»\nprint(params)\noptim.SGD(params, lr=0.1)",
        "optim.SGD(«model.fc.parameters()», lr=0.1)",
        "print(«model.parameters()»)",
    ],
)
def test_something_else_is_given(snippet: str) -> None:
    assert given(f"model.body.requires_grad_(False)\n{snippet}") is None


@pytest.mark.parametrize(
    "switch",
    [
        "pass",
        "model.body.requires_grad_()",
        "other.body.requires_grad_(False)",
        "model.body.requires_grad_(False)\nmodel = Net()",
        "model.requires_grad_(False)",
        "for p in model.parameters():\n    p.requires_grad = False",
    ],
)
def test_nothing_of_the_model_is_frozen_or_all_of_it(switch: str) -> None:
    assert given(switch + GIVEN) is None


@pytest.mark.parametrize(
    "later",
    [
        "model.body.requires_grad_(True)",
        "model.requires_grad_(True)",
        "for p in model.parameters():\n    p.requires_grad = True",
        "for p in model.body.parameters():\n    p.requires_grad = True",
    ],
)
def test_what_is_unfrozen_before(later: str) -> None:
    assert given(f"model.body.requires_grad_(False)\n{later}{GIVEN}") is None


def test_what_another_part_is_unfrozen_for() -> None:
    assert given(f"model.body.requires_grad_(False)\nmodel.fc.requires_grad_(True){GIVEN}") is not None
    assert given(f"model.body.requires_grad_(False)\nmodel.body.weight.requires_grad_(True){GIVEN}") is not None


@pytest.mark.parametrize(
    "snippet",
    [
        f"{GIVEN}\nmodel.body.requires_grad_(False)",
        f"model.body.requires_grad_(False){GIVEN}\nmodel.body.requires_grad_(True)",
        f"for _ in range(3):\n    {GIVEN.strip()}\n    model.body.requires_grad_(False)",
        f"if unknown:\n    model.body.requires_grad_(False)\nelse:\n    {GIVEN.strip()}",
    ],
)
def test_another_order(snippet: str) -> None:
    assert given(snippet) is None


@pytest.mark.parametrize(
    "switch",
    [
        "model.body.requires_grad_(False)\nmodel.unfreeze()",
        "model.body.requires_grad_(False)\nfor p in unknown():\n    p.requires_grad = True",
        "model.body.requires_grad_(unknown)",
        "for n, p in model.named_parameters():\n    p.requires_grad = 'fc' in n",
    ],
)
def test_what_may_be_unfrozen(switch: str) -> None:
    assert given(switch + GIVEN) is None


def test_a_leaf_of_its_own_unfreezes_nothing() -> None:
    assert given(f"model.body.requires_grad_(False)\nimage = unknown()\nimage.requires_grad = True{GIVEN}") is not None


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("model.requires_grad_(False)\n«model»(x)", True),
        ("for p in model.parameters():\n    p.requires_grad = False\n«model»(x)", True),
        ("model.body.requires_grad_(False)\n«model.body»(x)", True),
        ("model.body.requires_grad_(False)\n«model»(x)", False),
        ("model.requires_grad_(False)\n«other»(x)", False),
        ("model.requires_grad_(False)\nmodel.fc = nn.Linear(2, 2)\n«model»(x)", False),
        ("model.requires_grad_(False)\nmodel.requires_grad_(True)\n«model»(x)", False),
        ("for n, p in model.named_parameters():\n    if 'fc' not in n:\n        p.requires_grad = False\n«model»(x)", False),
        ("«model»(x)", False),
    ],
)
def test_a_module_is_frozen_as_a_whole(snippet: str, expected: bool) -> None:
    semantics, (module,) = marked(HEAD + snippet)
    assert semantics.of(Freezing).is_frozen(module) is expected


@pytest.mark.parametrize(
    "thawed",
    [
        "kept = list(model.body.parameters())\nfor q in kept:\n    q.requires_grad = True",
        "kept = model.body.parameters()\nfor q in kept:\n    q.requires_grad_(True)",
        "kept = [p for n, p in model.named_parameters() if 'body' in n]\nfor q in kept:\n    q.requires_grad = True",
        "kept = []\nkept.append(model.body.weight)\nfor q in kept:\n    q.requires_grad_()",
        "run.kept = list(model.body.parameters())\nfor q in run.kept:\n    q.requires_grad = True",
    ],
)
def test_what_is_thawed_by_a_list(thawed: str) -> None:
    kept, loop = thawed.split("\nfor ")
    assert given(f"{kept}\nmodel.body.requires_grad_(False){GIVEN}\nfor {loop}") is None


def test_a_list_of_another_part_that_is_thawed() -> None:
    body = "model.body.requires_grad_(False)"
    assert given(f"{body}\nkept = list(model.fc.parameters())\nfor q in kept:\n    q.requires_grad = True{GIVEN}") is not None
