"""Runs of models whose graph `detach()` throws away: of each snippet the marked calls, or none."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.api import fix
from torchlint.semantics.modes.runs.discarded_graphs import DiscardedGraphs

HEAD = """\
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)

class Augment(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)

class Fixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4), requires_grad=False)

    def forward(self, x):
        return x @ self.weight

class Listing(Net):
    def forward(self, x, hidden):
        hidden.append(self.fc(x))
        return hidden[-1]

class Local(Net):
    def forward(self, x):
        hidden = []
        hidden.append(self.fc(x))
        return hidden[0]

def freeze(module):
    for p in module.parameters():
        p.requires_grad = False
    return module

class Keeping(Net):
    def forward(self, x):
        self.last = self.fc(x)
        return self.last

"""
STEP = """\
def step(net: Net, other: Net, keeping: Keeping, listing: Listing, local: Local, x, y, flag, optimizer, kept):
{}
    loss = F.mse_loss(other(x), y)
    loss.backward()
    optimizer.step()
"""


def step(body: str) -> str:
    return HEAD + STEP.format("".join(f"    {line}\n" for line in body.splitlines()))


FOUND = [
    "out = «net(x)».detach()",
    "out = «net(x)».max(1)[0].detach().clone()",
    "out = torch.max(«net(x)», 1)[0].detach()",
    "out = (y + 0.9 * «net(x)»).detach()",
    "out = -«net(x)».detach()",
    "out = «net(x)»\ny = out.detach()",
    "out = «net(x)»\nprint(out.shape)\ny = out.detach().sum() + out.size(0)",
    "out = «net(other(x))».detach()",
    "out = «net.fc(x)».detach()",
    "out = «nn.Linear(4, 4)(x)».detach()",
    "kept.append(«net(x)».detach())",
    "if flag:\n    out = «net(x)».detach()",
    "out = «net(x)»\nif flag:\n    out = y\nz = out.detach()",
    "criterion = nn.CrossEntropyLoss()\nout = criterion(«net(x)», y).detach()",
    "first = «net(x)»\nsecond = «other(x)»\nbest = torch.min(first, second)\nz = y + 0.9 * best\nreturn z.detach()",
    "out = torch.cat([«net(x)», y]).detach()",
    "out = net(x)\nz = «keeping(out)».detach()\nreturn keeping.last",
    "out = «net(x)»\nz = out if flag else y\nreturn z.detach()",
    "h = «net(x)»\nout = «other(h)».detach()",
    "out = «net(x)»\nwith torch.no_grad():\n    print(out.mean(), out + 1)\nz = out.detach()",
]
LEFT = [
    "out = net(x)",
    "out = net(x)\nkept.add(out.sum() + out.detach().sum())",
    "out = net(x)\nother.last = torch.cat([out, out.detach()])",
    "out = net(x)\nz = torch.cat([out, y])\nz.detach()\nz.backward()",
    "out = net(x)\nout += other(x)\nz = out.detach()",
    "out = net(x)\nz = out + 1\nreturn z.sum() if flag else z.detach()",
    "out = net(x)\nloss = kept.compare(out)\nz = loss.detach()",
    "outs = [net(part) for part in x]\nz = torch.stack(outs).detach()",
    "out = net(x)\nkept.append(out)\nout.detach()",
    "out = net(x).data",
    "with torch.no_grad():\n    out = net(x).detach()",
    "with torch.inference_mode():\n    out = net(x).detach()",
    "with kept.context():\n    out = net(x).detach()",
    "out = net(h := other(x)).detach()",
    "out = kept.run(net(x)).detach()",
    "out = nn.ReLU()(x).detach()",
    "out = F.mse_loss(net(x), y)\nout.detach()\nout.sum()",
    "net.requires_grad_(False)\nout = net(x).detach()",
    "for p in net.parameters():\n    p.requires_grad = False\nout = net(x).detach()",
    "out = net.to(flag).detach()",
    "out = x.detach()",
    "def later():\n    return out\nout = net(x)\nz = out.detach()",
    "out, rest = net(x)\nz = out.detach()",
    "out = net(x)\nwith torch.no_grad():\n    same = out\nz = out.detach()\nreturn same",
    "out = net(x)\nwith torch.no_grad():\n    kept.append(out)\nz = out.detach()",
    "out = Augment()(x).detach()",
    "out = net(x)\nz = out.detach()\nout += 1\nreturn out",
    "out = net(x)\nfor row in y:\n    z = out.detach()\n    out *= 2",
    "out = net(x).sum()\nz = torch.autograd.grad(out, net.fc.weight)[0].detach()",
    "z = torch.autograd.grad(outputs=net(x).sum(), inputs=x)[0].detach()",
    "out = net(x)\nwith torch.no_grad():\n    same = out.to(flag)\nz = out.detach()\nreturn same",
    "out = net(x)\nwith torch.no_grad():\n    same = nn.Identity()(out)\nz = out.detach()\nreturn same",
    "out = net(x)\nz = y.mul_(out).detach()\nreturn y",
    "out = net(x)\nz = torch.Tensor.add_(y, out).detach()\nreturn y",
    "out = net(x)\nassert out.requires_grad\nz = out.detach()",
    "out = Fixed()(x).detach()",
    "frozen = freeze(Net())\nout = frozen(x).detach()",
    "for p in net.parameters():\n    p.detach_()\nout = net(x).detach()",
    "for p in net.parameters():\n    setattr(p, 'requires_grad', False)\nout = net(x).detach()",
]


@pytest.mark.parametrize("body", [*FOUND, *LEFT])
def test_runs(body: str) -> None:
    semantics, nodes = marked(step(body))
    assert list(semantics.of(DiscardedGraphs).found) == nodes


@pytest.mark.parametrize(
    ("body", "statements"),
    [
        ("out = «net(x)».detach()", 1),
        ("out = y + 0.9 * «net(x)».max(1)[0].detach()", 1),
        ("out = «net(x)».detach()\nz = other(x).detach()", 2),
        ("out = «net(x)».detach()\nprint(flag)\nz = other(x).detach()", 1),
        ("out = F.mse_loss(other(x), «net(x)».detach())", 0),
        ("out = other(x) + «net(x)».detach()", 0),
        ("out = F.linear(«net(x)».detach(), other.fc.weight)", 0),
        ("out = «net(x)».detach().sub(other(x))", 0),
        ("out = «net(x)».detach() * flag()", 0),
        ("out[:2] = «net(x)».detach()", 0),
        ("out = «net(x)».detach().clamp(0, 1).to(flag)", 1),
        ("out = F.mse_loss(«net(x)», other(x))\nz = out.detach()", 1),
        ("kept.append(«net(x)».detach())", 0),
    ],
)
def test_what_goes_under_no_grad(body: str, statements: int) -> None:
    semantics, (node,) = marked(step(body))
    [found] = [found for run, found in semantics.of(DiscardedGraphs).found.items() if run is node]
    assert len(found.statements) == statements


@pytest.mark.parametrize(
    ("code", "is_trained", "is_known"),
    [
        (step("out = «net(x)».detach()"), True, True),
        (step("out = «keeping(x)».detach()"), True, False),
        (step("out = «listing(x, kept)».detach()"), True, False),
        (step("out = «local(x)».detach()"), True, True),
        (step("net.register_forward_hook(kept)\nout = «net(x)».detach()"), True, False),
        (HEAD + "def act(net: Net, x):\n    return «net(x)».detach().argmax(1)\n", False, True),
    ],
)
def test_what_is_strict(code: str, is_trained: bool, is_known: bool) -> None:
    semantics, nodes = marked(code)
    [(run, found)] = semantics.of(DiscardedGraphs).found.items()
    assert [run] == nodes
    assert (found.is_trained, found.is_known) == (is_trained, is_known)


PROGRAM = """
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential({})

    def forward(self, x):
        return self.layers(x)


torch.manual_seed(0)
student, net = nn.Linear(4, 3), Net()
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for _ in range(3):
    features = student(torch.randn(8, 4))
    target = net(features).detach(){}
    other = net(features).detach()
    loss = (features - target - other).pow(2).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("layers", ["nn.Linear(3, 3), nn.ReLU()", "nn.ReLU(inplace=True), nn.Linear(3, 3)", "nn.LSTM(3, 3)"])
def test_no_fix_is_safe(layers: str) -> None:
    text = PROGRAM.format(layers, "")
    assert fix(text, select=["TPL406"]).text == text
    assert "no_grad" in fix(text, select=["TPL406"], unsafe=True).text


def test_a_line_that_is_silenced_stays_where_it_is() -> None:
    fixed = fix(PROGRAM.format("nn.Linear(3, 3)", "  # noqa: TPL406"), select=["TPL406"], unsafe=True).text
    assert "\n    target = net(features).detach()  # noqa: TPL406\n    with torch.no_grad():\n        other" in fixed
