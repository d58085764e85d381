"""Optimizers that are made before the parameters which they should train: each marked call is one, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.parameters.replaced import Replaced, ReplacedParameters

HEAD = """\
import torch
from torch import nn, optim
from torch.nn.utils import spectral_norm, weight_norm
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
model = Net()
"""


def replaced(snippet: str) -> list[Replaced[ast.AST]]:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(ReplacedParameters).found
    assert list(found) == nodes
    return list(found.values())


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("model.fc = nn.Linear(2, 3)", "model.fc"),
        ("model.fc = nn.Sequential(nn.ReLU(), nn.Linear(2, 3)).cuda()", "model.fc"),
        ("model.fc.weight = nn.Parameter(torch.zeros(2))", "model.fc.weight"),
        ("model.extra = Net()", "model.extra"),
        ("net = model\nnet.fc = nn.Linear(2, 3)", "net.fc"),
        ("weight_norm(model.fc)", "model.fc"),
        ("if deep:\n    model.fc = nn.Linear(2, 3)", "model.fc"),
    ],
)
def test_what_is_not_trained(change: str, part: str) -> None:
    (found,) = replaced(f"opt = «optim.SGD(model.parameters(), lr=1)»\n{change}\nopt.step()")
    assert ast.unparse(found.model) == "model"
    assert [ast.unparse(each) for each in found.parts] == [part]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ("self.opt.step()", 1),
        ("self.opt = None", 1),
        ("self.opt = chosen(self.net)", 0),
    ],
)
def test_an_optimizer_that_an_object_keeps(others: str, expected: int) -> None:
    snippet = (
        "class T:\n    def __init__(self):\n        self.net = Net()\n        self.opt = optim.SGD(self.net.parameters())\n"
        f"        self.net.fc = nn.Linear(2, 3)\n    def train(self):\n        {others}"
    )
    semantics, _ = marked(HEAD + snippet)
    assert len(semantics.of(ReplacedParameters).found) == expected


@pytest.mark.parametrize(
    "given",
    [
        "list(model.parameters())",
        "filter(lambda p: p.requires_grad, model.parameters())",
        "[p for n, p in model.named_parameters() if 'bn' not in n]",
        "[{'params': model.fc.parameters()}, {'params': model.bn.parameters()}]",
    ],
)
def test_how_it_is_given(given: str) -> None:
    part = "model.fc.out" if "fc" in given else "model.fc"
    assert replaced(f"opt = «optim.Adam({given})»\n{part} = nn.Linear(2, 3)\nopt.step()")


@pytest.mark.parametrize(
    "snippet",
    [
        "model.fc = nn.Linear(2, 3)\nopt = optim.SGD(model.parameters())\nopt.step()",
        "opt = optim.SGD(model.parameters())\nmodel.fc = nn.Identity()\nopt.step()",
        "opt = optim.SGD(model.parameters())\nmodel.fc = nn.Sequential(model.fc, nn.ReLU())\nopt.step()",
        "opt = optim.SGD(model.parameters())\nmodel.fc = model.fc.cuda()\nopt.step()",
        "opt = optim.SGD(model.parameters())\nspectral_norm(model.fc)\nopt.step()",
        "opt = optim.SGD(model.parameters())\nopt.step()\nmodel.fc = nn.Linear(2, 3)",
        "opt = optim.SGD(model.fc.parameters())\nmodel.bn = nn.Linear(2, 3)\nopt.step()",
        "opt = optim.SGD(model.parameters())\nother.fc = nn.Linear(2, 3)\nopt.step()",
        "opt = optim.SGD(model.parameters())\nmodel.fc = nn.Linear(2, 3)\nopt.add_param_group({})\nopt.step()",
        "opt = optim.SGD(model.parameters())\nmodel.fc = nn.Linear(2, 3)\nnew = optim.SGD(model.fc.parameters())\nopt.step()",
        "opt = optim.SGD(model.parameters())\nmodel.fc = nn.Linear(2, 3)\ndef f():\n    return optim.SGD(model.parameters())\n"
        "opt.step()",
        "for i in range(2):\n    opt = optim.SGD(model.parameters())\n    opt.step()\n    model.fc = nn.Linear(2, i)",
        "opt = optim.SGD(model.parameters())\nhead = model.fc\nmodel.fc = nn.Linear(2, 3)\nmodel.fc = head\nopt.step()",
        "opt = optim.SGD(model.parameters())\nmodel.fc = nn.Linear(2, 3)\n"
        "opt.param_groups[0]['params'] = [*model.parameters()]\nopt.step()",
        "opt = Mine(model.parameters())\nmodel.fc = nn.Linear(2, 3)\nopt.step()",
        "if new:\n    model.fc = nn.Linear(2, 3)\nelse:\n    opt = optim.SGD(model.parameters())\nopt.step()",
    ],
)
def test_what_is_trained(snippet: str) -> None:
    assert not replaced(snippet)


@pytest.mark.parametrize(
    ("between", "moved"),
    [
        (
            "n = model.fc.in_features\nk = n\nmodel.fc = nn.Linear(n, 3)",
            ["n = model.fc.in_features", "model.fc = nn.Linear(n, 3)"],
        ),
        (
            "model.fc = nn.Linear(2, 3)\nx = 1\nmodel.bn = nn.Linear(2, 3)",
            ["model.fc = nn.Linear(2, 3)", "model.bn = nn.Linear(2, 3)"],
        ),
        ("n = len(opt.param_groups)\nmodel.fc = nn.Linear(n, 3)", []),
        ("for n in sizes:\n    pass\nmodel.fc = nn.Linear(n, 3)", []),
        ("if deep:\n    model.fc = nn.Linear(2, 3)", []),
    ],
)
def test_what_can_come_before_the_optimizer(between: str, moved: list[str]) -> None:
    (found,) = replaced(f"opt = «optim.SGD(model.parameters())»\n{between}\nopt.step()")
    assert [ast.unparse(each) for each in found.moved] == moved
