"""TPL403 on scripts that set no flag of cuDNN: what tells that their convolutions see one shape."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules.catalogue import Entry
from torchlint.rules.performance.tpl403_cudnn_benchmark import CudnnBenchmark
from torchlint.text.source import Source

SCRIPT = '''"""Trains a small network."""

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
'''


def is_flagged(text: str) -> bool:
    return bool(lint(Source(text), [Entry.of(CudnnBenchmark)]))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("datasets.CIFAR10(", "datasets.FashionMNIST("),
        (
            'datasets.CIFAR10("data", transform=transforms.ToTensor())',
            'datasets.ImageFolder("data", transforms.RandomResizedCrop(224))',
        ),
        (
            'datasets.CIFAR10("data", transform=transforms.ToTensor())',
            'datasets.ImageFolder("data", transforms.Resize((64, 64)))',
        ),
        ("nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())", "models.resnet18()"),
        (".cuda()", '.to("cuda")'),
    ],
)
def test_a_script_with_inputs_of_one_shape_is_flagged(old: str, new: str) -> None:
    assert is_flagged(SCRIPT.replace(old, new) if old else SCRIPT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nn.Conv2d(3, 8, 3)", "nn.Linear(3, 8)"),
        (".cuda()", ""),
        ("batch_size=64", "batch_size=64, collate_fn=pad"),
        ('datasets.CIFAR10("data", transform=transforms.ToTensor())', 'datasets.ImageFolder("data")'),
        ('datasets.CIFAR10("data", transform=transforms.ToTensor())', 'datasets.ImageFolder("data", transforms.Resize(64))'),
        ("    loss.backward()\n", ""),
        ("data = ", "torch.backends.cudnn.benchmark = False\ndata = "),
        ("data = ", "torch.use_deterministic_algorithms(True)\ndata = "),
    ],
)
def test_other_scripts_are_not(old: str, new: str) -> None:
    assert not is_flagged(SCRIPT.replace(old, new))


def test_the_flag_is_set_below_the_imports() -> None:
    fixed = fix(Source(SCRIPT), [Entry.of(CudnnBenchmark)], Applicability.UNSAFE).text
    lines = fixed.splitlines()
    below = lines.index("from torchvision import datasets, models, transforms") + 1
    assert lines[below : below + 3] == ["", "torch.backends.cudnn.benchmark = True", ""]
    assert not is_flagged(fixed)


@pytest.mark.parametrize(
    ("imports", "setting"),
    [
        ("import torch as t\n", "t.backends.cudnn.benchmark = True"),
        ("import torch\nfrom torch.backends import cudnn\n", "cudnn.benchmark = True"),
        ("import torch.backends.cudnn as dnn\n", "dnn.benchmark = True"),
    ],
)
def test_the_flag_is_spelled_as_the_imports_have_it(imports: str, setting: str) -> None:
    text = SCRIPT.replace("import torch\n", imports)
    assert f"\n\n{setting}\n\n" in fix(Source(text), [Entry.of(CudnnBenchmark)], Applicability.UNSAFE).text


def test_there_is_no_fix_where_the_last_import_shares_its_line() -> None:
    text = SCRIPT.replace("transforms\n", "transforms; batch = 64\n", 1)
    (found,) = lint(Source(text), [Entry.of(CudnnBenchmark)])
    assert found.fix is None
