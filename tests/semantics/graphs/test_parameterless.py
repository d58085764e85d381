"""What modules without a parameter give: it has a graph only if what they are given has one."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.graphs.likely.graphless import LikelyGraphless

_CLASSES = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision import transforms

class Blur(nn.Module):
    def __init__(self, size, sigma=1.0, trained=False):
        super().__init__()
        self.size, self.pad = size, None
        self.padding = nn.ReflectionPad2d(size // 2).cuda()
        def kernel(scale):
            return np.exp(-scale)
        if trained:
            self.weight = nn.Parameter(torch.ones(3))
        else:
            self.register_buffer("weight", torch.from_numpy(kernel(sigma)))

    def forward(self, x):
        return F.conv2d(self.padding(x), self.weight.expand(x.size(0)))

class Often(nn.Module):
    def __init__(self):
        super().__init__()
        self.blur = Blur(3)

    def forward(self, x):
        again = Blur(5)
        return again(self.blur(x)) if np.random.rand() < 0.5 else x

class Scaled(Blur):
    def __init__(self):
        super().__init__(3)
        self.scale = nn.Parameter(torch.ones(1))

class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU())

    def forward(self, x):
        return self.inner(x)

class Trained(Blur):
    def __init__(self):
        super().__init__(3, trained=True)
        self.own = Blur(3, trained=True)

class Around(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)

class Each(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = parts

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x

class Leaf(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.ones(3, requires_grad=True)

    def forward(self, x):
        return x * self.gain

class Global(nn.Module):
    def forward(self, x):
        return NET(x)

class Times(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, x):
        return x * self.by

NET = nn.Linear(3, 3)
x = torch.rand(2, 3)
"""


def seems_graphless(text: str) -> bool:
    semantics, [node] = marked(_CLASSES + text)
    return semantics.of(LikelyGraphless).is_graphless(node)


@pytest.mark.parametrize(
    "text",
    [
        "blur = Blur(3)\n«blur(x)»",
        "blur = Blur(3, 0.5, False).cuda()\ny = blur(x.cuda())\ny = y.cpu()\n«y»",
        "for size in [3, 5]:\n    y = Blur(size)(x)\n    «y»",
        "often = Often()\n«often(x)»",
        "pool = nn.AvgPool2d(2)\n«pool(x).cpu()»",
        "up = nn.Sequential(nn.Upsample(scale_factor=2), nn.ReLU())\n«up(x)»",
        "times = Times(3.0)\n«times(x)»",
        "times = Times(3.0)\npool = nn.AvgPool2d(2)\n«pool(times(x))»",
        "x = torch.autograd.Variable(torch.stack([transforms.ToTensor()(image)]))\nblur = Blur(3)\ny = blur(x.cuda())\n«y»",
        "blur = Blur(3)\nfor x, _ in loader:\n    y = blur(x)\n    «y»",
        "class Step:\n    def __init__(self):\n        self.pool = nn.AvgPool2d(2)\n    def run(self, loader):\n"
        "        for x in loader:\n            «self.pool(x)»",
    ],
)
def test_nothing_gives_them_a_graph(text: str) -> None:
    assert seems_graphless(text)


@pytest.mark.parametrize(
    "text",
    [
        "blur = Blur(3, trained=True)\n«blur(x)»",
        "blur = Blur(3, 1.0, True)\n«blur(x)»",
        "blur = Blur(3, trained=flag)\n«blur(x)»",
        "blur = Blur(*given)\n«blur(x)»",
        "scaled = Scaled()\n«scaled(x)»",
        "deep = Deep()\n«deep(x)»",
        "trained = Trained()\n«trained(x)»",
        "around = Around(NET)\n«around(x)»",
        "each = Each([NET])\n«each(x)»",
        "each = Each(nn.ModuleList([nn.Linear(3, 3)]))\n«each(x)»",
        "leaf = Leaf()\n«leaf(x)»",
        "one = Global()\n«one(x)»",
        "by = nn.Parameter(torch.ones(3))\ntimes = Times(by)\n«times(x)»",
        "blur = Blur(3)\nx = torch.rand(2, 3, requires_grad=True)\n«blur(x)»",
        "blur = Blur(3)\n«blur(NET(x))»",
        "softmax = nn.Softmax(dim=1)\nout = run(x)\n«softmax(out)»",
        "def f(x):\n    softmax = nn.Softmax(dim=1)\n    return «softmax(x)»",
        "blur = Blur(3)\nif deep:\n    blur = Deep()\n«blur(x)»",
        "blur = nn.Sequential(Blur(3), nn.Conv2d(3, 3, 1))\n«blur(x)»",
        "act = nn.PReLU()\n«act(x)»",
        "norm = nn.BatchNorm2d(3)\n«norm(x)»",
        "layer = nn.TransformerEncoderLayer(8, 2)\n«layer(x)»",
        "class Step:\n    def __init__(self, deep):\n        self.pool = nn.AvgPool2d(2)\n        if deep:\n"
        "            self.pool = Deep()\n    def run(self, loader):\n        for x in loader:\n            «self.pool(x)»",
        "class Step:\n    def __init__(self):\n        self.pool = nn.AvgPool2d(2)\n    def run(self, loader):\n"
        "        for x in loader:\n            «self.pool(x)»\nstep = Step()\nstep.pool = nn.Linear(3, 3)",
    ],
)
def test_they_may_have_one(text: str) -> None:
    assert not seems_graphless(text)
