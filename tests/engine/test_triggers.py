"""Triggers only save time: with or without them, the findings are the same."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchlint.engine.linter import lint
from torchlint.engine.words import passes_sieve
from torchlint.rules import all_rules
from torchlint.text.source import Source, SourceError


def torch_sources(every: int) -> Iterator[Path]:
    """Files of torch's own Python code, one in so many: real code, much of it old, that trains, tests and optimizes."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return
    yield from sorted(Path(spec.submodule_search_locations[0]).rglob("*.py"))[::every]


def findings(path: Path, *, triggers: bool) -> list[tuple[str, int, int]]:
    source = Source.decode(path.read_bytes(), str(path))
    return [(found.code, found.location.row, found.location.column) for found in lint(source, all_rules(), triggers=triggers)]


def test_real_code_has_the_same_findings_without_triggers() -> None:
    """Every rule on whole modules, under libcst's own traversal."""
    # without triggers a long file takes most of a minute, and a file with none of these words has hardly a finding
    short = [path for path in torch_sources(every=1) if path.stat().st_size < 25_000]
    paths = [path for path in short if re.search(rb"\.data\b|\bno_grad\b|\.backward\(", path.read_bytes())][::10]
    if not paths:
        pytest.skip("torch, whose code this reads, is not installed")
    found = 0
    for path in paths:
        try:
            expected = findings(path, triggers=False)
        except SourceError:
            continue
        assert findings(path, triggers=True) == expected, path
        found += len(expected)
    assert found > 0, "nothing was found at all: the comparison says nothing"


def test_words_hold_back_code_that_says_nothing_of_torch() -> None:
    paths = list(torch_sources(every=7))
    if not paths:
        pytest.skip("torch, whose code this reads, is not installed")
    by_default = [rule for rule in all_rules() if rule.default]
    held_back = sum(not passes_sieve(path.read_bytes(), by_default) for path in paths)
    # eight in nine of these files say "torch", which is all that a discarded result needs
    assert held_back > 0.1 * len(paths)


@pytest.mark.parametrize(
    "text",
    [
        "import sklearn.datasets\n\niris = sklearn.datasets.load_iris()\nprint(iris.data.cpu())\n",
        "import chainer\nfrom nets.pytorch_backend import length\n\nprint(x.data.cpu())\n",
        "from tensorflow import Variable\n\nVariable(x.data.cpu())\n",
    ],
)
def test_files_about_other_libraries_are_silent(text: str) -> None:
    assert lint(Source(text), all_rules()) == []
    assert not passes_sieve(text.encode(), all_rules())


@pytest.mark.parametrize(
    "text",
    [
        "print(x.data.cpu())\n",
        "import math\n\nx.data.uniform_(-math.pi, math.pi)\n",
        "import pandas\nimport torch\n\nprint(x.data.cpu())\n",
        "import scipy\nfrom .torch_imports import *\n\nprint(x.data.cpu())\n",
        "# the same in tensorflow:\nimport torch\n\nprint(x.data.cpu())\n",
    ],
)
def test_other_libraries_beside_torch_do_not_silence(text: str) -> None:
    assert len(lint(Source(text), all_rules())) == 1


ODD_LAYOUTS = [
    ("TPL001", "w. data.zero_()\n"),
    ("TPL001", "(w.  # the weights\n    data).zero_()\n"),
    ("TPL001", "import torch; w.data.zero_()\n"),
    ("TPL002", "def f(w: torch.Tensor):\n    return w. \\\n        data\n"),
    ("TPL003", "layer.weight. data = torch.ones(3, 3)\n"),
    (
        "TPL004",
        "total=0\nfor x in loader:\n    loss=net(x).mean()\n    loss.backward()\n    total=(total\n    +loss)\nprint(total)\n",
    ),
    ("TPL005", "(p.requires_grad) == False\n"),
    ("TPL005", "(p.requires_grad  # frozen\n) == False\n"),
    ("TPL006", "model = nn.Linear(1, 1)\nmodel. \\\n    requires_grad = False\n"),
    ("TPL006", "model = nn.Linear(1, 1)\nsetattr(\n    model,\n    'requires_grad',\n    False)\n"),
    ("TPL007", "loss = torch.tensor(net(x).mean(), requires_grad = (True))\nloss.backward()\n"),
    ("TPL008", "def f(tensor: torch.Tensor):\n    a = tensor.detach ( ).numpy( )\n    a[a > 1] = 1\n"),
    (
        "TPL009",
        "def f(net: nn.Module, opt):\n    best, least = net.state_dict (), 1\n    loss.backward()\n    opt.step ()\n"
        "    net.load_state_dict (best)\n",
    ),
    (
        "TPL009",
        "class Callback:\n    def end(self, module: nn.Module):\n"
        "        if self.up:\n            self.best = module.state_dict()\n",
    ),
    ("TPL010", "a = torch.ones(2, requires_grad=True)\nb = a * 2\nb.sum().backward()\nprint(b. \\\n    grad)\n"),
    ("TPL010", "a = torch.ones(2, requires_grad=True)\nb = a * 2\nb.sum().backward()\nprint(f'{b.grad = }')\n"),
    ("TPL011", "w = torch.zeros(3, requires_grad=True)\n(w.mul_)(2)\nw.sum().backward()\n"),
    ("TPL011", "w = torch.zeros(3, requires_grad=True)\nw [\n    0] = 2\nw.sum().backward()\n"),
    ("TPL011", "nn.Sequential(nn.Sigmoid(), nn.ReLU(inplace = (True)))\n"),
    (
        "TPL012",
        "w = torch.zeros(3, requires_grad=True)\nfor x in loader:\n    (w * x).sum().backward(retain_graph=(True))\n",
    ),
    ("TPL013", "import torch\nloss = torch.ones(1, requires_grad=True).sum()\nloss.backward \\\n\n"),
    ("TPL013", "import torch\nF.mse_loss(x,\n    target=y).backward\n"),
    ("TPL013", "class Net(nn.Module):\n    def __init__(self):\n        if True: self.reset\n    def reset(self): pass\n"),
    ("TPL014", "import torch\nx = torch.zeros(3)\nx .add(1)\n"),
    ("TPL014", "import torch\nx = torch.zeros(3)\n(x.add)(1)\n"),
    ("TPL014", "import torch\ndef f() -> torch.Tensor: ...\nf().add(1)\n"),
    ("TPL014", "import torch\nmaß = torch.zeros(3)\nmaß.add(1)\n"),
    (
        "TPL015",
        "opt = torch.optim.SGD(net.parameters(), 0.1)\nfor x in loader:\n    net(x).mean().backward()\n    (opt.step)()\n",
    ),
    (
        "TPL016",
        "opt = torch.optim.SGD(net.parameters(), 0.1)\n"
        "for x in loader:\n    net(x).mean().backward()\n    opt.zero_grad()\n    (opt.step)()\n",
    ),
    ("TPL102", "loss = F.mse_loss(x, y)\nloss.backward()\nprint(loss[(0)])\n"),
    ("TPL104", "x. data.cpu().numpy()\n"),
    ("TPL105", "x = (torch.Tensor)(3)\n"),
    ("TPL105", "x = torch.zeros(3)\ny = x.new (3)\n"),
    ("TPL106", "nn.init . normal(w)\n"),
    ("TPL106", "criterion = (nn.MSELoss)(False)\n"),
    ("TPL106", "p = F.softmax(torch.sum(x, dim=1))\n"),
    ("TPL106", "class Summed(nn.NLLLoss):\n    def __init__(self):\n        super().__init__(None, False)\n"),
    ("TPL106", "it = iter(loader)\nit.next ()\n"),
    ("TPL107", "import torchvision\nnet = torchvision.models.resnet18(pretrained  # on ImageNet\n    = True)\n"),
    ("TPL201", "a = np.zeros(3)\nt = torch.from_numpy (a)\na[0] = 1\nprint(t)\n"),
    ("TPL202", "x = torch.arange(12.0).reshape(3, 4)\nsame = id (x.detach()) == id (x)\n"),
    ("TPL202", "def f(p: nn.Parameter):\n    check(\n        p.t() is p,\n    )\n"),
    ("TPL203", "y = torch.zeros(1, 3).expand (2, 3)\ny[0] = 1\n"),
    ("TPL204", "x = torch.zeros(2, 3)\nx.t( ).view (6)\n"),
    (
        "TPL205",
        "class Net(nn.Module):\n    def forward(self, images):\n"
        "        return (images.mean(dim=(2, 3), keepdim=True).squeeze)()\n",
    ),
    ("TPL206", "b, c, h = x.size ()\ny = x.view (c, b, h)\n"),
    ("TPL207", "x = torch.zeros(3)\ny = torch.tensor (x)\n"),
    ("TPL208", "a = np.zeros((1000, 1000))\nt = torch.tensor (a)\n"),
    (
        "TPL301",
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        (self.layers) = {'mean': nn.Linear(1, 1)}\n",
    ),
    (
        "TPL301",
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers \\\n            = {'mean': nn.Linear(1, 1)}\n",
    ),
    ("TPL302", "net = nn.Linear(1, 1)\ny = (net.forward)(x)\n"),
    ("TPL303", "class Net(nn .Linear):\n    def \\\n        __init__ (self):\n        self.fc = nn .Linear(1, 1)\n"),
    (
        "TPL303",
        "class Net(nn.Module):\n    def __init__(self):\n        # super().__init__()\n        self.fc = nn.Linear(1, 1)\n",
    ),
    ("TPL304", "def test(net: nn.Module, loader):\n    net.eval( )\n    for x in loader:\n        print(net(x).argmax())\n"),
    (
        "TPL304",
        "def test(net: nn.Module, loader):\n    net.train (mode = False)\n"
        "    for x in loader:\n        print(net(x).argmax())\n",
    ),
    (
        "TPL305",
        "def f(net, x, y, z):\n    net.train()\n    (F.cross_entropy(net(x), y).backward)()\n"
        "    with torch.no_grad(): score = (net(z).argmax(1) == y).sum()\n",
    ),
    (
        "TPL306",
        "def f(net, opt, loader):\n    for x in loader:\n        net(x).mean().backward()\n        opt.step()\n"
        "        net.eval( )\n        print(net(x).argmax())\n",
    ),
    ("TPL401", "x = torch.zeros(3).\\\n    to(device)\n"),
    ("TPL401", "x = (torch.zeros)(3).cuda ()\n"),
    (
        "TPL402",
        "class Net(pl.LightningModule):\n    def training_step(self, x):\n        loss = F.mse_loss(self(x), x)\n"
        "        log(loss.item ())\n        return loss\n",
    ),
    ("TPL404", "from time import time as now\na = a.to ('cuda')\nt0 = now()\nb = a @ a\nprint(now() - t0)\n"),
    ("TPL501", "net.load_state_dict(torch \\\n    .load(path))\n"),
    ("TPL501", "net.load_state_dict((torch).load(path))\n"),
    ("TPL501", "import os, torch as th\nnet.load_state_dict(th.load(path))\n"),
    ("TPL503", "net = nn.Linear(1, 1)\n(torch).save(net, path)\n"),
    (
        "TPL504",
        "import torchvision\ndef predict(images, state):\n    net = torchvision.models.resnet50()\n"
        "    (net.load_state_dict)(state)\n    return [net(image).argmax(1) for image in images]\n",
    ),
]
"""What Python takes, and what hides a finding from whoever looks for the usual spelling."""


@pytest.mark.parametrize(("code", "text"), ODD_LAYOUTS)
def test_an_odd_layout_hides_nothing(code: str, text: str) -> None:
    rules = [rule for rule in all_rules() if rule.code == code]
    assert lint(Source(text), rules)
