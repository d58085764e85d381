"""Programs that need a GPU in any case, as code of another file does which they call (TPL501)."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

PARTS = """
import torch

class Loss(torch.nn.Module):
    def forward(self, x, y):
        return (x - y.cuda()).abs().mean()

class Around(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = Loss()

class Plain(torch.nn.Module):
    def forward(self, x):
        return x

class Trainer:
    def __init__(self, net):
        self.net = net.cuda()

def place(net):
    net.encoder.to(0)
    net.decoder.to(1)

def place_where(net, device):
    net.to(device)
"""
LOADING = """
import torch
import parts
from parts import Around, Loss, Plain, Trainer, place, place_where

def run(net, args, device):
    if args.cuda:
        net.cuda()
    net.load_state_dict(torch.load(args.path))
    {}
"""


def found(folder: Path, text: str) -> list[str]:
    (folder / "parts.py").write_text(PARTS)
    (folder / "other.py").write_text("use_cuda = torch.cuda.is_available()")  # not all of the project knows the GPU alone
    return codes(text, str(folder / "run.py"), str(folder))


def codes(text: str, name: str = "run.py", root: str | None = None) -> list[str]:
    return [each.code for each in lint(text, filename=name, project_root=root) if each.code == "TPL501"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("loss = Loss()", []),
        ("loss = parts.Loss()", []),
        ("loss = Around()", []),
        ("place(net)", []),
        ("Trainer(net).train()", []),
        ("build(net, placing=place)", []),
        ("build(net, placing=place_where)", ["TPL501"]),
        ("print(isinstance(net, Loss))", ["TPL501"]),
        ("pass", ["TPL501"]),
        ("plain = Plain()", ["TPL501"]),
        ("place_where(net, device)", ["TPL501"]),
        ("loss = Loss() if args.cuda else None", ["TPL501"]),
        ("if args.cuda:\n        loss = Loss()", ["TPL501"]),
        ("loss = Loss", ["TPL501"]),
        # the file speaks of another GPU, or of a device that is chosen
        ("loss = Loss()\n    x = x.to(args.device)", ["TPL501"]),
        ("loss = Loss()\n    torch.cuda.set_device(args.rank)", ["TPL501"]),
    ],
)
def test_what_a_function_calls_of_another_file(tmp_path: Path, line: str, expected: list[str]) -> None:
    assert found(tmp_path, LOADING.format(line)) == expected


def test_the_file_alone_is_no_project() -> None:
    assert codes(LOADING.format("loss = Loss()")) == ["TPL501"]


DERIVED = """
import torch
from parts import {base}

class Own({base}):
    def restore(self, path):
        self.net.load_state_dict(torch.load(path))
"""


@pytest.mark.parametrize(("base", "expected"), [("Trainer", []), ("Plain", ["TPL501"])])
def test_a_class_needs_what_it_derives_from_does(tmp_path: Path, base: str, expected: list[str]) -> None:
    assert found(tmp_path, DERIVED.format(base=base)) == expected


WRAPPED = """
import torch

def make(net, path, gpu_ids=(0,)):
    {}
    net.load_state_dict(torch.load(path))
    return net
"""


@pytest.mark.parametrize(
    ("wrapped", "expected"),
    [
        ("net = torch.nn.DataParallel(net, device_ids=gpu_ids).cuda()", []),
        ("net = torch.nn.DataParallel(net.cuda(), gpu_ids)", []),
        ("net = torch.nn.DataParallel(net, device_ids=gpu_ids).cuda(gpu_ids[0])", ["TPL501"]),
        ("net = torch.nn.DataParallel(net, device_ids=gpu_ids).to(f'cuda:{gpu_ids[0]}')", ["TPL501"]),
        ("net = net.cuda() if gpu_ids else net", ["TPL501"]),
        ("net = net.cuda()\n    torch.cuda.set_device(gpu_ids[0])", ["TPL501"]),
        ("net = torch.nn.DataParallel(net, device_ids=gpu_ids)", ["TPL501"]),
    ],
)
def test_a_list_that_only_a_wrapper_is_given(wrapped: str, expected: list[str]) -> None:
    assert codes(WRAPPED.format(wrapped)) == expected
