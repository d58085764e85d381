"""Frozen parts that normalise by batches: each marked call puts one into training mode, or there is none."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.training.frozen_running import FrozenRunningParts

HEAD = """\
import torch, torchvision
from torch import nn
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(2)
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.plain = Plain()
        self.ema = Encoder()
net = Net()
"""
FREEZE = "for p in net.encoder.parameters():\n    p.requires_grad = False\n"


def running(snippet: str) -> list[tuple[tuple[str, ...], ...]]:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(FrozenRunningParts).found
    assert list(found) == nodes
    return [each.paths for each in found.values()]


@pytest.mark.parametrize(
    "snippet",
    [
        FREEZE + "«net.train()»",
        FREEZE + "net.eval()\n«net.train(True)»",
        "net.encoder.requires_grad_(False)\n«net.train()»",
        "net.encoder.bn.bias.requires_grad_(False)\nnet.encoder.requires_grad_(False)\n«net.train()»",
        "def freeze(m):\n    for p in m.parameters():\n        p.requires_grad = False\nfreeze(net.encoder)\n«net.train()»",
        FREEZE + "def train(model):\n    «model.train()»\ntrain(net)",
        FREEZE + "net = nn.DataParallel(net).cuda()\n«net.train()»",
    ],
)
def test_what_goes_on(snippet: str) -> None:
    assert running(snippet) == [(("encoder",),)]


@pytest.mark.parametrize(
    "snippet",
    [
        FREEZE + "net.train()\nnet.encoder.eval()",
        "net.encoder.bn.bias.requires_grad_(False)\nnet.train()",
        "net.encoder.bn.weight.requires_grad = False\nnet.train()",
        FREEZE + "net.train()\nnet.encoder.bn.eval()",
        FREEZE + "net.train()\nfor m in net.modules():\n    m.eval()",
        FREEZE + "net.eval()",
        FREEZE + "net.plain.train()",
        FREEZE + "net.train()\nnet.encoder.requires_grad_(True)",
        FREEZE + "net.train()\nfor p in net.parameters():\n    p.requires_grad = True",
        "net.encoder.requires_grad_(flag)\nnet.train()",
        "net.plain.requires_grad_(False)\nnet.train()",
        "net.ema.requires_grad_(False)\nnet.train()",
        "for n, p in net.encoder.named_parameters():\n    if 'bn' in n:\n        p.requires_grad = False\nnet.train()",
        "unknown.requires_grad_(False)\nunknown.train()",
        FREEZE + "other = Net()\nother.eval()",
    ],
)
def test_what_is_still(snippet: str) -> None:
    assert not running(snippet)


@pytest.mark.parametrize(
    ("made", "normalises"),
    [
        ("torchvision.models.resnet18()", True),
        ("torchvision.models.vgg16_bn()", True),
        ("torch.hub.load('pytorch/vision', 'densenet121')", True),
        ("nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))", True),
        ("nn.Sequential(*list(torchvision.models.resnet18().children())[:-1])", True),
        ("Encoder().cuda()", True),
        ("torchvision.models.vgg16()", False),
        ("torchvision.models.vit_b_16()", False),
        ("torchvision.models.detection.fasterrcnn_resnet50_fpn()", False),
        ("nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, track_running_stats=False))", False),
        ("nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))", False),
        ("make()", False),
    ],
)
def test_what_normalises_by_batches(made: str, normalises: bool) -> None:
    call = "«m.train()»" if normalises else "m.train()"
    found = running(f"m = {made}\nm.requires_grad_(False)\nm.fc = nn.Linear(2, 2)\n{call}")
    assert found == ([()] if normalises else [])


BOTH = """\
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Encoder()
        self.b = Encoder()
        self.a.requires_grad_(False)
        self.b.requires_grad_(False)
"""


def test_several_parts_and_a_class_that_freezes_its_own() -> None:
    assert running(BOTH + "both = Both()\n«both.train()»") == [(("a",), ("b",))]
    assert not running(BOTH + "    def train(self, mode=True):\n        pass\nboth = Both()\nboth.train()")


def test_frozen_in_one_way_of_training_and_run_in_another() -> None:
    frozen = "def main(args):\n    if args.weights == 'freeze':\n        net.encoder.requires_grad_(False)\n"
    other = (
        "    if args.weights == 'tune':\n        net.train()\n    elif args.weights == 'freeze':\n        net.train(False)\n"
    )
    assert running(frozen + other) == []
    assert running(frozen + "    if args.weights == 'freeze':\n        «net.train()»\n") == [(("encoder",),)]
