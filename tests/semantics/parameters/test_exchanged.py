"""Optimizers whose model is another one by the time that it is trained: each marked call is one, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.parameters.exchanged import Exchanged, ExchangedModels

HEAD = """\
import copy
import torch
from torch import nn, optim
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
A = Net
model = Net()
"""


def exchanged(snippet: str) -> list[Exchanged[ast.expr]]:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(ExchangedModels).found
    assert list(found) == nodes
    return list(found.values())


@pytest.mark.parametrize(
    "anew",
    [
        "model = torch.load(path)",
        "model = torch.load(path)['model'].cuda()",
        "state = torch.load(path)\nif whole:\n    model = state['net']",
        "model = Net()",
        "model = nn.Sequential(nn.Linear(2, 2)).cuda()",
        "model = copy.deepcopy(model)",
        "model = torch.load(path)\nmodel = nn.DataParallel(model)",
    ],
)
@pytest.mark.parametrize(
    "training",
    ["train(model, opt)", "train(opt=opt, net=model)", "for x in data:\n    model(x).sum().backward()\n    opt.step()"],
)
def test_another_model_is_trained(anew: str, training: str) -> None:
    (found,) = exchanged(f"opt = «optim.SGD(model.parameters(), lr=1)»\n{anew}\n{training}")
    assert ast.unparse(found.model) == "model"


@pytest.mark.parametrize(
    "snippet",
    [
        "opt = optim.SGD(model.parameters())\ntrain(model, opt)\nmodel = torch.load(path)\ntest(model)",
        "opt = optim.SGD(model.parameters())\nmodel = torch.load(path)\nopt = optim.SGD(model.parameters())\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nif p:\n    model = torch.load(p)\n    opt = restored(p)\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nif p:\n    opt = restored(p)\n    model = torch.load(p)\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nmodel = model.cuda()\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nmodel = nn.DataParallel(model)\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nmodel = nn.Sequential(model, nn.Linear(2, 2))\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nmodel = torch.load(path)\nsave_checkpoint(model, opt)",
        "inner = model\nopt = optim.SGD(model.parameters())\nmodel = nn.Sequential(inner)\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nmodel = nn.ReLU()\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nmodel = torch.compile(model)\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nmodel = built()\ntrain(model, opt)",
        "opt = optim.SGD(model.parameters())\nother = torch.load(path)\ntrain(other, opt)",
        "opt = optim.SGD(model.parameters())\nmodel = torch.load(path)\nopt.add_param_group({})\ntrain(model, opt)",
        "if path:\n    model = torch.load(path)\nelse:\n    opt = optim.SGD(model.parameters())\ntrain(model, opt)",
        "if new:\n    opt = optim.SGD(model.parameters())\nif not new:\n    model = torch.load(path)\ntrain(model, opt)",
        "for k in range(3):\n    opt = optim.SGD(model.parameters())\n    train(model, opt)\n    model = Net()",
        "opt = optim.SGD(model.parameters())\nif not T:\n    model = torch.load(p)\nif T:\n    train(model, opt)",
        "opt = optim.SGD(model.parameters())\nfor i in range(n):\n    t(model, opt)\n    if i == n - 1:\n        model = A()",
    ],
)
def test_what_is_trained(snippet: str) -> None:
    assert not exchanged(snippet)


@pytest.mark.parametrize(
    "body",
    [
        "model = torch.load(path)\n    fit(model, optimizer)",
        "if path:\n        model = Net.from_pretrained(path).cuda()\n    fit(net=model, optimizer=optimizer)",
        "model = copy.deepcopy(model)\n    for x in data:\n        model(x).sum().backward()\n        optimizer.step()",
    ],
)
def test_another_model_than_the_one_that_is_given(body: str) -> None:
    semantics, _ = marked(f"{HEAD}def train(model, optimizer, data):\n    {body}\n")
    assert len(semantics.of(ExchangedModels).given) == 1


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        ("model, optimizer", "model = model.cuda()\n    fit(model, optimizer)"),
        ("model, optimizer", "model = nn.DataParallel(model)\n    fit(model, optimizer)"),
        ("model, optimizer", "model = torch.load(path)\n    save(model, optimizer)"),
        ("model, optimizer", "fit(model, optimizer)\n    model = torch.load(path)\n    test(model)"),
        (
            "model, optimizer",
            "model = torch.load(path)\n    optimizer = optim.SGD(model.parameters())\n    fit(model, optimizer)",
        ),
        ("model, optimizer", "model = torch.load(path)\n    optimizer = made(model.parameters())\n    fit(model, optimizer)"),
        ("model, optimizer", "model = torch.load(path)\n    o = made(model.parameters())\n    fit(model, optimizer, o)"),
        ("optimizer, model=None", "if model is None:\n        model = Net()\n    fit(model, optimizer)"),
        ("optimizer", "model = torch.load(path)\n    fit(model, optimizer)"),
        ("model, opt", "model = torch.load(path)\n    fit(model, opt)"),
        ("model, g_optimizer, optimizer, optim", "model = torch.load(path)\n    fit(model, optimizer)"),
        ("model, optimizer", "model = torch.load(path)\n    optimizer.add_param_group(g)\n    fit(model, optimizer)"),
    ],
)
def test_the_model_that_is_given_or_none(arguments: str, body: str) -> None:
    semantics, _ = marked(f"{HEAD}def train({arguments}):\n    {body}\n")
    assert not semantics.of(ExchangedModels).given


OWN = """
class Trainer:
    def __init__(self, path):
        self.net = {made}
        self.opt = {optimizer}
{then}
    def fit(self, data):
        for x in data:
            self.net(x).sum().backward()
            {step}
"""
ADAM, STEP = "optim.Adam(self.net.parameters())", "self.opt.step()"
LOADED = "        if path:\n            self.net = torch.load(path).cuda()"


def test_an_attribute_that_is_loaded_after_its_optimizer_was_made() -> None:
    (found,) = exchanged(OWN.format(made="Net()", optimizer=f"«{ADAM}»", then=LOADED, step=STEP))
    assert (ast.unparse(found.model), ast.unparse(found.anew)) == ("self.net", "self.net")


@pytest.mark.parametrize(
    ("then", "step"),
    [
        (f"{LOADED}\n            self.opt = {ADAM}", STEP),
        (f"{LOADED}\n    def again(self):\n        self.opt = {ADAM}", STEP),
        (f"{LOADED}\n            self.opt.param_groups[0]['params'] = list(self.net.parameters())", STEP),
        (f"{LOADED}\n            self.opt.add_param_group(dict(params=self.net.parameters()))", STEP),
        ("        for x in path:\n            self.net(x).sum().backward()\n            self.opt.step()\n" + LOADED, "pass"),
        (LOADED, "pass"),
        ("        self.net = nn.DataParallel(self.net)", STEP),
        ("        self.net.load_state_dict(torch.load(path))", STEP),
        ("        self.old = torch.load(path)", STEP),
        ("        pass\n    def test(self, path):\n        self.net = torch.load(path)", STEP),
        (f"{LOADED}\n            self.opt = torch.load(path)", STEP),
    ],
)
def test_an_attribute_that_its_optimizer_trains(then: str, step: str) -> None:
    assert not exchanged(OWN.format(made="Net()", optimizer=ADAM, then=then, step=step))


def test_an_attribute_that_is_loaded_before_its_optimizer_is_made() -> None:
    assert not exchanged(OWN.format(made="torch.load(path)", optimizer=ADAM, then="        pass", step=STEP))
