"""What a file asks of cuDNN."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.devices.cudnn import Cudnn

SCRIPT = """\
import torch
from torch import nn, optim
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

data = datasets.CIFAR10("data", transform=transforms.ToTensor())
loader = DataLoader(data, batch_size=64)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()).cuda()
optimizer = optim.SGD(model.parameters(), lr=0.1)
for images, labels in loader:
    loss = nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
DATA = 'datasets.CIFAR10("data", transform=transforms.ToTensor())'


def cudnn(text: str) -> Cudnn:
    return Semantics(ast.parse(text)).of(Cudnn)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("torch.backends.cudnn.deterministic = True\ntorch.backends.cudnn.benchmark = True", [3]),
        ("torch.backends.cudnn.benchmark = True\ntorch.backends.cudnn.deterministic = True", [2]),
        ("from torch.backends import cudnn as c\nc.deterministic = True\nc.benchmark = (True)", [4]),
        ("cudnn.deterministic = cudnn.benchmark = True", []),
        ("cudnn.deterministic = True\ncudnn.benchmark = True", [3]),
        ("cudnn.deterministic = True\ncudnn.benchmark = False", []),
        ("cudnn.deterministic = False\ncudnn.benchmark = True", []),
        ("cudnn.deterministic = flag\ncudnn.benchmark = True", []),
        ("cudnn.benchmark = True", []),
        ("if flag:\n    cudnn.deterministic = True\nelse:\n    cudnn.benchmark = True", []),
        ("cudnn.deterministic = True\ncudnn.deterministic = False\ncudnn.benchmark = True", []),
        ("def f():\n    cudnn.deterministic = True\ndef g():\n    cudnn.benchmark = True", []),
        ("settings.deterministic = True\nsettings.benchmark = True", []),
    ],
)
def test_benchmarks_next_to_determinism(text: str, rows: list[int]) -> None:
    assert [node.lineno for node in cudnn(f"import torch\n{text}\n").uneven_benchmarks] == rows


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("datasets.CIFAR10(", "datasets.FashionMNIST("),
        (DATA, 'datasets.ImageFolder("data", transforms.RandomResizedCrop(224))'),
        (DATA, 'datasets.ImageFolder("data", transforms.Resize((64, 64)))'),
        ("nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())", "models.resnet18()"),
        (".cuda()", '.to("cuda")'),
    ],
)
def test_a_script_that_convolves_inputs_of_one_shape(old: str, new: str) -> None:
    assert [loop.lineno for loop in cudnn(SCRIPT.replace(old, new) if old else SCRIPT).unset_for] == [10]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nn.Conv2d(3, 8, 3)", "nn.Linear(3, 8)"),
        (".cuda()", ""),
        (".cuda()", '.to("cpu")'),
        ("batch_size=64", "batch_size=64, collate_fn=pad"),
        ("batch_size=64", "**options"),
        (DATA, 'datasets.ImageFolder("data")'),
        (DATA, 'datasets.ImageFolder("data", transforms.Resize(64))'),
        ("    loss.backward()\n", ""),
        ("data = ", "torch.backends.cudnn.enabled = False\ndata = "),
        ("data = ", "torch.use_deterministic_algorithms(True)\ndata = "),
        ("data = ", "torch.backends.cudnn.set_flags(True)\ndata = "),
        ("data = ", "trainer = Trainer(benchmark=True)\ndata = "),
    ],
)
def test_other_scripts(old: str, new: str) -> None:
    assert not cudnn(SCRIPT.replace(old, new)).unset_for
