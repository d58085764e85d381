"""Files that train or save and have no say in where they run, in a project that needs a GPU somewhere (TPL501)."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

SAVING = """
import torch
def resume(net, path, other):
    torch.save(net.state_dict(), other)
    net.load_state_dict(torch.load(path, weights_only=True))
"""
TRAINING = SAVING.replace("torch.save(net.state_dict(), other)", "net(other).sum().backward()")
MODELS = SAVING.replace("    torch.save(net.state_dict(), other)\n", "")
CHOOSING = "import torch\nuse = torch.cuda.is_available()\ndef place(x, device):\n    x = x.to(device)\n"


def codes(folder: Path, text: str, other: str, *, alone: bool = False) -> list[str]:
    (folder / "other.py").write_text(CHOOSING + other)
    found = lint(text, filename=str(folder / "main.py"), project_root=None if alone else str(folder))
    return [each.code for each in found if each.code == "TPL501"]


@pytest.mark.parametrize("text", [SAVING, TRAINING])
@pytest.mark.parametrize(
    "other",
    [
        "def loss(x, y):\n    return x - y.cuda()",
        "def run(net):\n    device = torch.device('cuda')\n    net.to(device)",
        "net.cuda()",
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x + torch.ones(3, device='cuda')",
    ],
)
def test_it_is_strict_where_another_file_needs_a_gpu(tmp_path: Path, text: str, other: str) -> None:
    assert codes(tmp_path, text, other) == []


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (SAVING, "def run(net):\n    if torch.cuda.is_available():\n        net.cuda()"),
        (SAVING, "def run(net, args):\n    if args.cuda:\n        net.cuda()\n    else:\n        net.cpu()"),
        (SAVING, "def to_gpu(x):\n    return x.cuda()"),
        (SAVING, "# net.cuda()"),
        (SAVING, "def run(net):\n    try:\n        net.cuda()\n    except RuntimeError:\n        pass"),
        (SAVING, "net.cuda( # not Python"),
        # weights that come from elsewhere, whoever runs the model
        (MODELS, "net.cuda()"),
        # a say in where it runs
        (SAVING + "    net.to(other)", "net.cuda()"),
        (SAVING + "    if torch.cuda.is_available(): print(1)", "net.cuda()"),
        (SAVING + "    if rank: torch.distributed.init_process_group('nccl')", "net.cuda()"),
    ],
)
def test_it_is_not_where_something_chooses(tmp_path: Path, text: str, other: str) -> None:
    assert codes(tmp_path, text, other) == ["TPL501"]


def test_a_file_alone_is_of_no_project(tmp_path: Path) -> None:
    assert codes(tmp_path, SAVING, "net.cuda()", alone=True) == ["TPL501"]
