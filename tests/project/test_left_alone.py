"""Programs in which nothing is wrong, though they look like others: each beside the other, which one change makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset

"""
AMP = """
def fit(net, rows, opt, log):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in rows:
        opt.zero_grad()
        with torch.autocast("cuda"):
            loss = F.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        for p in net.parameters():
            log({figure})
        scaler.step(opt)
        scaler.update()
"""
RANKS = """
import torch.distributed as dist

def share(rank, weights):
    if rank == 0:
        for w in weights:
            dist.broadcast(w, src=0)
{rest}

def receive(weights):
    for w in weights:
        dist.broadcast(w, src=0)
"""
FROZEN = """
import torchvision
from part import Base

class Net(Base):
    def __init__(self):
        super().__init__()
        self.body = torchvision.models.resnet18()

def fit(rows):
    net = Net()
    for p in net.body.parameters():
        p.requires_grad = False
    {change}
    net.train()
"""
BASE = """
from torch import nn

class Base(nn.Module):
    def {name}(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self
"""
STILL = BASE.format(name="still")
SHARE = """
def share(net, loader):
    hits = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (net(x).argmax(1) == y).sum().item()
    return hits / len(loader)
"""
LOADER = """
from main import share
from torch.utils.data import DataLoader

def report(net, data):
    print(share(net, DataLoader(data, {size})))
"""
OPTION = """
import argparse

def report(net, data):
    parser = argparse.ArgumentParser()
    parser.add_argument("--test-size", type=int, default={size})
    args = parser.parse_args()
    test_loader = DataLoader(data, batch_size=args.test_size)
    hits = 0
    for x, y in test_loader:
        hits += (net(x).argmax(1) == y).sum().item()
    return hits / len(test_loader)
"""
PARAMETERS = """
from part import Pair

def fit(a, b):
    both = Pair(a, b)
    params = both.parameters()
    opt = optim.SGD(params, lr=0.1)
    nn.utils.clip_grad_norm_(params, 1.0)
    return opt
"""
KEPT_PARAMETERS = """
from part import Pair

class Fit:
    def __init__(self, a, b):
        self.both = Pair(a, b)

    def run(self):
        params = self.both.parameters()
        opt = optim.SGD(params, lr=0.1)
        nn.utils.clip_grad_norm_(params, 1.0)
        return opt
"""
PAIR = """
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def {name}(self):
        return [*self.a.parameters(), *self.b.parameters()]
"""
WHOLE = """
def run(path, x):
    net = torch.load(path, map_location="cpu")
    net.eval()
    return net(x)
"""
CRITIC = """
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
        {change}

    def forward(self, x):
        return self.main(x)

def fit(rows):
    critic, loss = Critic(), nn.BCELoss()
    for x, y in rows:
        loss(critic(x), y).backward()
"""
ZEROED = """
def fit(net, rows):
    opt = optim.SGD(net.parameters(), lr=0.1)
    reset = {method}
    for x, y in rows:
        reset()
        F.mse_loss(net(x), y).backward()
        opt.step()
"""
LENT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)

def lend(own, shared):
    for p, s in zip(own.parameters(), shared.parameters()):
        s.{name} = p.grad

def work(shared, rows):
    opt = optim.Adam(shared.parameters())
    for x in rows:
        own = Net()
        own(x).mean().backward()
        lend(own, shared)
        opt.step()
"""
LAST = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(3, 3), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.fc(x))

def fit(rows, opts):
    net = Net()
    opt = optim.Adam(net.parameters())
    net.train()
    for epoch in range({rounds}):
        for x, y in rows:
            opt.zero_grad()
            F.mse_loss(net(x), y).backward()
            opt.step()
        if epoch == {last}:
            net.eval()
            print(sum(net(x).sum() for x, _ in rows))
"""
DROPOUT = """
class Net(nn.Module):
    \"\"\"{said}\"\"\"

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(F.dropout(x, 0.2))
"""
DRAWN = """
import random

class Pages(Dataset):
    def __init__(self, pages):
        self.pages = pages

    def __getitem__(self, index):
        {change}
        return self.pages[index], 1

def fit(net, opt, pages):
    train_loader = DataLoader(Pages(pages), batch_size=8)
    test_loader = DataLoader(Pages(pages), batch_size=8)
    for x, y in train_loader:
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
    return test_loader
"""
SQUASHED = """
def fit(net, x, y):
    scores = net(x)
    loss = F.binary_cross_entropy_with_logits(scores, y)
    {change}
    return loss, scores > 0.5
"""
MASKED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

def fit(net: Net, x: torch.Tensor, seen):
    out = net.fc(x)
    part = out.detach()[{index}]
    part[part < 0] = 0
    return out, part
"""
BEST = """
def fit(net, rows, opt, test):
    {change}
    least = 9
    for epoch in range(3):
        for x, y in rows:
            opt.zero_grad()
            F.mse_loss(net(x.cuda()), y.cuda()).backward()
            opt.step()
        if test(net) < least:
            best = {{k: v.cpu() for k, v in net.state_dict().items()}}
    net.load_state_dict(best)
"""
CLASSES_FIRST = """
def fit(head, rows):
    for x, y in DataLoader(rows, batch_size=8):
        scores = F.log_softmax({scores}, dim=0)
        F.nll_loss({given}, y).backward()
"""
MASK = """
def fit(rows):
    net = nn.Sequential(nn.Linear(3, 3))
    opt = optim.SGD(net.parameters(), lr=0.1)
    net.mask = nn.Parameter(torch.ones(3), requires_grad={flag})
    for x, y in rows:
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
"""
REPEATED = """
from part import Scale

class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList([{layer}] * depth)
"""
SCALE = """
from torch import nn

class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = {inner}

    def forward(self, x):
        return self.inner(x) * 2
"""
DETECTOR = """
class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, targets=None):
        y = self.fc(x).sigmoid()
        {leaves}
        y[:, :2] *= 2
        return y
"""
PAIRS = [
    ("TPL011", DETECTOR, {"leaves": "if self.training:\n            return y"}, {"leaves": "print(self.training)"}),
    (
        "TPL011",
        DETECTOR,
        {"leaves": "if targets is not None:\n            return F.mse_loss(y, targets)"},
        {"leaves": "if targets is None:\n            return y"},
    ),
    ("TPL309", AMP, {"figure": "p.grad.abs().sum() == 0"}, {"figure": "p.grad.abs().sum()"}),
    ("TPL309", AMP, {"figure": "torch.isfinite(p.grad.norm())"}, {"figure": "p.grad.norm()"}),
    ("TPL309", AMP, {"figure": "p.grad.norm().isnan()"}, {"figure": "p.grad.norm().log()"}),
    ("TPL309", AMP, {"figure": "p.grad.norm() / q.grad.norm()"}, {"figure": "p.grad.norm() / q.norm()"}),
    (
        "TPL702",
        RANKS,
        {"rest": "        return\n    for w in weights:\n        dist.broadcast(w, src=0)"},
        {"rest": "        return"},
    ),
    ("TPL702", RANKS, {"rest": "    else:\n        receive(weights)"}, {"rest": "    else:\n        print(weights)"}),
    ("TPL324", FROZEN, {"change": "", "part": BASE.format(name="train")}, {"change": "", "part": STILL}),
    ("TPL324", FROZEN, {"change": "net.body.bn1.momentum = 0", "part": STILL}, {"change": "", "part": STILL}),
    ("TPL603", SHARE, {"part": LOADER.format(size="batch_size=1")}, {"part": LOADER.format(size="batch_size=16")}),
    ("TPL603", OPTION, {"size": "1"}, {"size": "32"}),
    ("TPL318", PARAMETERS, {"part": PAIR.format(name="parameters")}, {"part": PAIR.format(name="all")}),
    ("TPL318", KEPT_PARAMETERS, {"part": PAIR.format(name="parameters")}, {"part": PAIR.format(name="all")}),
    ("TPL505", WHOLE, {"part": "import torch\ntorch.load = print\n"}, {"part": "import torch\nload = print\n"}),
    ("TPL605", CRITIC, {"change": "self.main.add_module('out', nn.Sigmoid())"}, {"change": "self.out = nn.Sigmoid()"}),
    ("TPL605", CRITIC, {"change": "self.main[-1] = nn.Sigmoid()"}, {"change": "print(self.main[-1])"}),
    ("TPL015", ZEROED, {"method": "opt.zero_grad"}, {"method": "opt.state_dict"}),
    ("TPL015", LENT, {"name": "_grad"}, {"name": "grid"}),
    (
        "TPL306",
        LAST,
        {"rounds": "1, opts.epochs + 1", "last": "opts.epochs"},
        {"rounds": "opts.epochs + 2", "last": "opts.epochs"},
    ),
    ("TPL306", LAST, {"rounds": "3", "last": "2"}, {"rounds": "4", "last": "2"}),
    ("TPL316", DROPOUT, {"said": "A net with Monte Carlo dropout."}, {"said": "A net with dropout."}),
    ("TPL322", DRAWN, {"change": "index = random.randrange(len(self.pages))"}, {"change": "index = index + 1"}),
    ("TPL602", SQUASHED, {"change": "scores.sigmoid_()"}, {"change": "scores.relu()"}),
    ("TPL602", SQUASHED, {"change": "torch.sigmoid_(scores)"}, {"change": "torch.relu(scores)"}),
    ("TPL008", MASKED, {"index": "seen > 0"}, {"index": "0"}),
    ("TPL009", BEST, {"change": "net.cuda()"}, {"change": "net.train()"}),
    ("TPL009", BEST, {"change": "net.cuda()"}, {"change": "if test:\n        net.cuda()"}),
    ("TPL308", CLASSES_FIRST, {"scores": "head(x).t()", "given": "scores.t()"}, {"scores": "head(x)", "given": "scores"}),
    ("TPL323", MASK, {"flag": "False"}, {"flag": "True"}),
    ("TPL317", REPEATED, {"layer": "nn.LayerNorm(3, elementwise_affine=False)"}, {"layer": "nn.LayerNorm(3)"}),
    (
        "TPL317",
        REPEATED,
        {"layer": "Scale()", "part": SCALE.format(inner="nn.Tanh()")},
        {"layer": "Scale()", "part": SCALE.format(inner="nn.Linear(3, 3)")},
    ),
]


def is_reported(folder: Path, code: str, program: str, values: dict[str, str]) -> bool:
    (folder / "part.py").write_text(values.get("part", "from torch.nn import Module as Base\n"))
    text = HEAD + program.format(**values)
    (folder / "main.py").write_text(text)
    named = ["TPL009"] if code == "TPL009" else []  # which is strict of what is shared on the CPU alone
    found = lint(text, filename=str(folder / "main.py"), extend_select=named, project_root=str(folder))
    return any(each.code == code for each in found)


@pytest.mark.parametrize(("code", "program", "right", "wrong"), PAIRS)
def test_a_program_is_right_beside_one_that_is_wrong(
    tmp_path: Path, code: str, program: str, right: dict[str, str], wrong: dict[str, str]
) -> None:
    assert not is_reported(tmp_path, code, program, right)
    (tmp_path / "other").mkdir()
    assert is_reported(tmp_path / "other", code, program, wrong)


@pytest.mark.parametrize(
    ("call", "is_computed_anew"),
    [
        ("F.relu(x, True)", False),
        ("F.relu(x, False)", True),
        ("F.elu(x, 1.0, True)", False),
        ("F.elu(x, 1.0)", True),
        ("F.dropout(x, 0.5, True, True)", False),
        ("F.dropout(x, 0.5, True)", True),
        ("F.threshold(x, 0.1, 0, True)", False),
        ("F.leaky_relu(x, 0.1, flag)", False),
        ("F.hardtanh(x, 0.0, 1.0, True)", False),
    ],
)
def test_work_in_place_that_an_argument_without_a_name_asks_for(call: str, is_computed_anew: bool) -> None:
    text = f"{HEAD}def act(flag):\n    x = torch.randn(3)\n    {call}\n    return x\n"
    assert any(each.code == "TPL014" for each in lint(text)) is is_computed_anew
