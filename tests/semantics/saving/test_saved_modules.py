"""Modules that are saved whole."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.saving.modules import SavedModules

HEADER = """\
import io
import torch
from torch import nn
from torch.nn import Module
class Net(Module): ...
"""


def saved(snippet: str) -> tuple[str | None, str]:
    """The module that the one call of ``save`` saves, and what is marked in it."""
    semantics, (marked_part,) = marked(HEADER + snippet)
    [call] = semantics.facts.calls["save"]
    found = semantics.of(SavedModules).whole.get(call)
    return (", ".join(map(ast.unparse, found)) if found is not None else None), ast.unparse(marked_part)


@pytest.mark.parametrize(
    "snippet",
    [
        "net = Net()\ntorch.save(«net», p)",
        "torch.save(obj=«nn.Linear(1, 1)», f=p)",
        "net = build()\ntorch.save(«net», p)\nnet.parameters()",
        "net = torch.nn.DataParallel(Net())\ntorch.save(«net.module», p)",
        "net = Net()\ntorch.save(«net.cpu()», p)",
        "net = build()\nnet = nn.DataParallel(net)\nnet.train()\ntorch.save(«net», p)",
        "net = Net()\ntorch.save({'net': «net», 'epoch': 3}, p)",
        "net = Net()\ntorch.save([3, (1, «net.module»)], p)",
        "net = Net()\nlast = dict(net=«net»)\ntorch.save(last, p)",
        "net = Net()\nlast = {}\nlast['net'] = «net»\ntorch.save(last, p)",
        "def test_it():\n    torch.save(«Net()», p)\n    assert torch.load(p)",
        "net = Net()\ndef keep(state, p):\n    torch.save(state, p)\nkeep({'net': «net», 'epoch': 3}, p)",
        "net = Net()\ndef keep(p, *, state):\n    torch.save(state, p)\nkeep(p, state={'net': «net»})",
        "nets = [Net() for _ in range(3)]\ntorch.save([«net» for net in nets], p)",
        "def keep(p, nets):\n    torch.save({'nets': nets}, p)\ndef fit():\n    keep(p, actors)\n"
        "actors = {name: «Net()» for name in 'ab'}",
        "net = Net()\ndef keep(p, nets):\n    torch.save(nets, p)\nactors = {'one': «net»}\nkeep(p, actors)",
        "def keep(a):\n    torch.save(«a», p)\ndef fit(net):\n    net.parameters()\n    keep(net)",
        "def keep(a):\n    torch.save({'a': «a»}, p)\ndef hand(b):\n    keep(b)\nhand(Net())",
        "class Cache:\n    def __init__(self, a):\n        self.a = a\n    def keep(self):\n        torch.save(«self.a», p)\n"
        "def fit(net):\n    net.parameters()\n    Cache(net).keep()",
        "def fit(net):\n    net.train()\n    net(x)\n    net.eval()\n    torch.save(«net», p)",
        "best = {}\nbest['net'] = Net()\ntorch.save(«best['net']», p)",
        "best = {'net': None}\nfor e in es:\n    if good:\n        best['net'] = Net()\n    torch.save(«best['net']», p)",
        "nets = {'a': Net()}\ntorch.save({'nets': {key: «net.cpu()» for key, net in nets.items()}}, p)",
    ],
)
def test_modules_are_saved(snippet: str) -> None:
    found, expected = saved(snippet)
    assert found == expected


@pytest.mark.parametrize(
    "snippet",
    [
        "net = Net()\ntorch.save(«net.state_dict()», p)",
        "net = Net()\ntorch.save(«{'net': net.state_dict(), 'epoch': 3}», p)",
        "net = Net()\nlast = [net]\nif c: last = []\ntorch.save(«last», p)",
        "def keep(a):\n    torch.save(«a», p)\ndef fit(net):\n    net.parameters()\n    keep(net)\n    keep(net.state_dict())",
        "def keep(a):\n    torch.save(«a», p)\ndef fit(net):\n    net.parameters()\n    net = net.scores\n    keep(net)",
        "class Cache:\n    def __init__(self, a):\n        self.kept = a\n        self.kept = a.weight\n    def keep(self):\n"
        "        torch.save(«self.kept», p)\ndef fit(net):\n    net.parameters()\n    Cache(net).keep()",
        "class Cache:\n    def __init__(self, a):\n        self.a = a\n    def keep(self):\n        torch.save(«self.a», p)\n"
        "Cache(Net().state_dict())\nCache(Net())",
        "net = Net()\nlast = [net for _ in range(3)]\ntorch.save(«last», p)",
        "net = Net()\ntorch.save(«{'scores': net(x)}», p)",
        "nets = [Net() for _ in range(3)]\ntorch.save(«[net.state_dict() for net in nets]», p)",
        "nets = [Net() for _ in range(3)]\ntorch.save(«[net(x) for net in nets]», p)",
        "def test_it():\n    torch.save(«Net()», p)\n    assert torch.load(p, weights_only=False)",
        "net = torch.jit.script(Net())\ntorch.save(«net», p)",
        "net = Net()\nbuffer = io.BytesIO()\ntorch.save(«net», buffer)",
        "net = Net()\nfigure.save(«net», p)",
        "net = Net()\ndef keep(state, p):\n    torch.save(state, p)\nkeep(«{'net': net.state_dict()}», p)",
        "net = Net()\ndef keep(state, p):\n    state = clean(state)\n    torch.save(state, p)\nkeep(«{'net': net}», p)",
        "net = Net()\ndef keep(state, p):\n    torch.save(clean(state), p)\nkeep(«{'net': net}», p)",
    ],
)
def test_no_module_is_saved(snippet: str) -> None:
    assert saved(snippet)[0] is None


@pytest.mark.parametrize(
    "snippet",
    [
        "net = build()\ntorch.save(«net», p)",
        "net = build()\nnet.train()\ntorch.save(«net», p)",
        "net = trainer.train()\nnet.eval()\ntorch.save(«net», p)",
        "net = build()\nnet(x)\ntorch.save(«net», p)",
        "def fit(net):\n    net.train()\n    net(x)\n    torch.save(«net», p)",
        "best = {}\nbest['net'] = Net().state_dict()\ntorch.save(«best['net']», p)",
        "best = {}\nbest['net'] = Net()\nbest['net'] = Net().state_dict()\ntorch.save(«best['net']», p)",
        "best = {}\nbest['net'] = Net()\ntorch.save(«best['figures']», p)",
        "def keep(p, nets):\n    torch.save({'nets': nets}, p)\ns = {name: Net().state_dict() for name in 'ab'}\nkeep(p, «s»)",
    ],
)
def test_what_may_be_anything_is_no_module(snippet: str) -> None:
    assert saved(snippet)[0] is None


def test_a_module_saves_itself() -> None:
    semantics, (call,) = marked("import torch\nclass Net(torch.nn.Module):\n    def f(self):\n        «torch.save(self, p)»")
    assert isinstance(call, ast.Call)
    assert semantics.of(SavedModules).whole[call] == (call.args[0],)
