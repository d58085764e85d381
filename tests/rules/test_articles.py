"""The pitfalls that articles about old PyTorch code warn of, as short programs of the same shape.

Each says what must be found on which line, and what the safe fixes, and all fixes, make of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules.selection import select_rules
from torchlint.text.source import Source


@dataclass(frozen=True)
class Pitfall:
    """A program, the findings as (line, code), and the texts after ``--fix`` and ``--fix --unsafe-fixes``.

    ``unsafe`` is ``None`` where the unsafe fixes have nothing to add.
    """

    name: str
    text: str
    findings: list[tuple[int, str]]
    safe: str
    unsafe: str | None = None


PITFALLS = [
    Pitfall(
        name="a leaf is scaled through .data while detached and cloned copies look on",
        text="""\
            import torch

            weight = torch.tensor(2.0, requires_grad=True)
            shared = weight.detach()
            weight.data *= 3
            print(weight, shared)
            """,
        findings=[(5, "TPL001")],
        safe="""\
            import torch

            weight = torch.tensor(2.0, requires_grad=True)
            shared = weight.detach()
            with torch.no_grad():
                weight *= 3
            print(weight, shared)
            """,
    ),
    Pitfall(
        name="an alias of .data is zeroed between forward and backward; nothing is imported",
        text="""\
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            squashed = x.sigmoid()

            alias = squashed.data
            alias.zero_()
            squashed.sum().backward()
            """,
        findings=[(5, "TPL001")],
        safe="""\
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            squashed = x.sigmoid()

            alias = squashed.data
            alias.zero_()
            squashed.sum().backward()
            """,
        unsafe="""\
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            squashed = x.sigmoid()

            alias = squashed.detach().clone()
            alias.zero_()
            squashed.sum().backward()
            """,
    ),
    Pitfall(
        name="tensors are wrapped to make them differentiable",
        text="""\
            import torch
            from torch.autograd import Variable

            inputs = Variable(torch.randn(8, 4), requires_grad=True)
            targets = Variable(torch.randn(8, 2))
            weights = Variable(torch.randn(4, 2), requires_grad=True)
            error = torch.mean(targets - torch.matmul(inputs, weights))
            error.backward()
            """,
        findings=[(4, "TPL101"), (5, "TPL101"), (6, "TPL101")],
        safe="""\
            import torch

            inputs = torch.randn(8, 4, requires_grad=True)
            targets = torch.randn(8, 2)
            weights = torch.randn(4, 2, requires_grad=True)
            error = torch.mean(targets - torch.matmul(inputs, weights))
            error.backward()
            """,
    ),
    Pitfall(
        name="wrapped without an import, as in a snippet",
        text="""\
            a = Variable(torch.ones(3))
            b = Variable(torch.ones(3), requires_grad=True)
            print((a + b).requires_grad)
            """,
        findings=[(1, "TPL101"), (2, "TPL101")],
        safe="""\
            a = torch.ones(3)
            b = torch.ones(3, requires_grad=True)
            print((a + b).requires_grad)
            """,
    ),
    Pitfall(
        name="a tensor that is there already becomes a leaf",
        text="""\
            from torch.autograd import Variable

            point = torch.ones(1)
            point = Variable(point, requires_grad=True)
            (point * 2).backward()
            """,
        findings=[(4, "TPL101")],
        safe="""\

            point = torch.ones(1)
            point = point.requires_grad_()
            (point * 2).backward()
            """,
    ),
    Pitfall(
        name="the running loss reads .data[0]",
        text="""\
            running = 0.0
            for images, labels in train_loader:
                loss = criterion(model(images), labels)
                loss.backward()
                running += loss.data[0]
            """,
        findings=[(5, "TPL102")],
        safe="""\
            running = 0.0
            for images, labels in train_loader:
                loss = criterion(model(images), labels)
                loss.backward()
                running += loss.data[0]
            """,
        unsafe="""\
            running = 0.0
            for images, labels in train_loader:
                loss = criterion(model(images), labels)
                loss.backward()
                running += loss.item()
            """,
    ),
    Pitfall(
        name="one line alone",
        text="running_loss += loss.data[0]\n",
        findings=[(1, "TPL102")],
        safe="running_loss += loss.data[0]\n",
        unsafe="running_loss += loss.item()\n",
    ),
    Pitfall(
        name="the running loss keeps every step's graph",
        text="""\
            running = 0
            for step in range(1000):
                optimizer.zero_grad()
                loss = criterion(model(batch), target)
                loss.backward()
                optimizer.step()
                running += loss
            """,
        findings=[(7, "TPL004")],
        safe="""\
            running = 0
            for step in range(1000):
                optimizer.zero_grad()
                loss = criterion(model(batch), target)
                loss.backward()
                optimizer.step()
                running += loss
            """,
        unsafe="""\
            running = 0
            for step in range(1000):
                optimizer.zero_grad()
                loss = criterion(model(batch), target)
                loss.backward()
                optimizer.step()
                running += loss.item()
            """,
    ),
    Pitfall(
        name="gradient descent by hand, before the file's only import",
        text="""\
            net = models.resnet18()
            rate = 0.1
            for p in net.parameters():
                p.data.sub_(p.grad.data * rate)

            import torch.optim as optim

            optimizer = optim.SGD(net.parameters(), lr=rate)
            criterion = torch.nn.CrossEntropyLoss()
            """,
        findings=[(4, "TPL001")],
        safe="""\
            net = models.resnet18()
            rate = 0.1
            for p in net.parameters():
                p.data.sub_(p.grad.data * rate)

            import torch.optim as optim

            optimizer = optim.SGD(net.parameters(), lr=rate)
            criterion = torch.nn.CrossEntropyLoss()
            """,
        unsafe="""\
            net = models.resnet18()
            rate = 0.1
            with torch.no_grad():
                for p in net.parameters():
                    p.sub_(p.grad * rate)

            import torch.optim as optim

            optimizer = optim.SGD(net.parameters(), lr=rate)
            criterion = torch.nn.CrossEntropyLoss()
            """,
    ),
    Pitfall(
        name="hard examples are chosen in numpy and wrapped again",
        text="""\
            anchors = Variable(torch.from_numpy(emb_a.cpu().data.numpy()[hard]).cuda(), requires_grad=True)
            others = Variable(torch.from_numpy(emb_b.cpu().data.numpy()[hard]).cuda(), requires_grad=True)
            distance = TripletLoss(margin)(anchors, others)
            distance.backward()
            """,
        findings=[(1, "TPL101"), (1, "TPL104"), (2, "TPL101"), (2, "TPL104")],
        safe="""\
            anchors = torch.from_numpy(emb_a.cpu().data.numpy()[hard]).cuda().requires_grad_()
            others = torch.from_numpy(emb_b.cpu().data.numpy()[hard]).cuda().requires_grad_()
            distance = TripletLoss(margin)(anchors, others)
            distance.backward()
            """,
        unsafe="""\
            anchors = torch.from_numpy(emb_a.detach().cpu().numpy()[hard]).cuda().requires_grad_()
            others = torch.from_numpy(emb_b.detach().cpu().numpy()[hard]).cuda().requires_grad_()
            distance = TripletLoss(margin)(anchors, others)
            distance.backward()
            """,
    ),
    Pitfall(
        name="from the GPU to numpy",
        text="features = out.cpu().data.numpy()\nscores = out.data.cpu().numpy()\n",
        findings=[(1, "TPL104"), (2, "TPL104")],
        safe="features = out.cpu().data.numpy()\nscores = out.data.cpu().numpy()\n",
        unsafe="features = out.detach().cpu().numpy()\nscores = out.detach().cpu().numpy()\n",
    ),
    Pitfall(
        name="a backbone that was meant to be frozen",
        text="""\
            model = models.resnet18()
            for parameter in model.parameters():
                parameter.requres_grad = False
            model.fc = torch.nn.Linear(512, 10)
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
            """,
        findings=[(3, "TPL005")],
        safe="""\
            model = models.resnet18()
            for parameter in model.parameters():
                parameter.requires_grad = False
            model.fc = torch.nn.Linear(512, 10)
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
            """,
    ),
    Pitfall(
        name="parameters are looked at through .data, in a file indented by tabs",
        text="class N(nn.Module):\n\tdef f(self):\n\t\tfor p in self.parameters():\n\t\t\tprint(type(p.data), p.size())\n",
        findings=[(4, "TPL002")],
        safe="class N(nn.Module):\n\tdef f(self):\n\t\tfor p in self.parameters():\n\t\t\tprint(type(p.data), p.size())\n",
        unsafe="class N(nn.Module):\n\tdef f(self):\n"
        "\t\tfor p in self.parameters():\n\t\t\tprint(type(p.detach()), p.size())\n",
    ),
    Pitfall(
        name="a copy of the output is kept by .data",
        text="""\
            import torch.nn as nn

            layer = nn.Linear(2, 2)
            out = layer(torch.randn(1, 2))
            kept = out.data
            print(kept)
            """,
        findings=[(5, "TPL002")],
        safe="""\
            import torch.nn as nn

            layer = nn.Linear(2, 2)
            out = layer(torch.randn(1, 2))
            kept = out.detach()
            print(kept)
            """,
    ),
]

RECOMMENDED = """\
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


net = Net()
x = torch.randn(8, 4, requires_grad=True)
a = x.clone()
b = x.detach()
c = x.clone().detach()
fixed = torch.tensor(1.0)
copy = fixed.clone()
copy.requires_grad_()
numbers = torch.ones(4)
numbers.add_(1)
numbers[:] = numbers + 1
total = 0.0
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for _ in range(10):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    total += loss.item()
    total += float(loss)
for p in net.parameters():
    p.requires_grad = False
with torch.no_grad():
    for p in net.parameters():
        p.sub_(0.1 * p.grad)
print(total, x.grad, net(x).detach().cpu().numpy(), a.tolist(), b, c)
"""

each_pitfall = pytest.mark.parametrize("pitfall", PITFALLS, ids=lambda pitfall: pitfall.name)


def fixed(text: str, applicability: Applicability) -> str:
    return fix(Source(dedent(text)), select_rules(), applicability).text


@each_pitfall
def test_finds_the_pitfall_on_its_line(pitfall: Pitfall) -> None:
    found = lint(Source(dedent(pitfall.text)), select_rules())
    assert [(diagnostic.location.row, diagnostic.code) for diagnostic in found] == pitfall.findings


@each_pitfall
def test_safe_fixes_make_what_is_recommended(pitfall: Pitfall) -> None:
    assert fixed(pitfall.text, Applicability.SAFE) == dedent(pitfall.safe)


@each_pitfall
def test_all_fixes_make_what_is_recommended(pitfall: Pitfall) -> None:
    assert fixed(pitfall.text, Applicability.UNSAFE) == dedent(pitfall.unsafe or pitfall.safe)


@each_pitfall
def test_nothing_is_left_to_find(pitfall: Pitfall) -> None:
    assert lint(Source(dedent(pitfall.unsafe or pitfall.safe)), select_rules()) == []


def test_leaves_alone_what_the_articles_recommend() -> None:
    assert lint(Source(RECOMMENDED), select_rules()) == []
