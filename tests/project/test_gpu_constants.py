"""Devices that are constants of other files of the project (TPL501)."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

LOADING = """
import torch
from settings import *
net = torch.nn.Linear(2, 1).to(DEV)
net.load_state_dict(torch.load("net.pt", weights_only=True))
"""
CHOOSING = "use_cuda = torch.cuda.is_available()"


def codes(folder: Path, text: str, settings: str, other: str = CHOOSING, *, alone: bool = False) -> list[str]:
    (folder / "settings.py").write_text(settings)
    (folder / "other.py").write_text(other)
    found = lint(text, filename=str(folder / "main.py"), project_root=None if alone else str(folder))
    return [each.code for each in found if each.code == "TPL501"]


@pytest.mark.parametrize(
    "text",
    [
        LOADING,
        LOADING.replace("import *", "import DEV"),
        LOADING.replace("from settings import *", "import settings").replace("DEV", "settings.DEV"),
        LOADING.replace(".to(DEV)", "").replace("net.load", "def place(x):\n    return x.to(device=DEV)\nnet.load"),
    ],
)
@pytest.mark.parametrize(
    "settings", ['DEV = "cuda:0"', "DEV = 'cuda'  # the GPU", 'import torch\nDEV: str = "cuda"', 'DEV = torch.device("cuda:0")']
)
def test_the_first_gpu_is_one_gpu_in_any_case(tmp_path: Path, text: str, settings: str) -> None:
    assert codes(tmp_path, text, settings) == []


@pytest.mark.parametrize(
    ("settings", "other"),
    [
        ('DEV = "cuda:1"', ""),
        ('DEV = "cpu"', ""),
        ('DEV = "cuda" if torch.cuda.is_available() else "cpu"', ""),
        ('DEV = "cuda"\nif not torch.cuda.is_available():\n    DEV = "cpu"', ""),
        ('if found:\n    DEV = "cuda"', ""),
        ('DEV = "cuda"', "import settings\nsettings.DEV = args.device"),
        ('DEV = "cuda"', 'DEV = os.environ["DEV"]'),
        ('DEV = "cuda" + number', ""),
        ("from more import place as DEV", 'DEV = "cuda"'),
        ('# DEV = "cuda"', ""),
    ],
)
def test_what_is_chosen_is_not(tmp_path: Path, settings: str, other: str) -> None:
    assert codes(tmp_path, LOADING, settings, f"{CHOOSING}\n{other}") == ["TPL501"]


def test_names_of_the_file_itself_are_its_own(tmp_path: Path) -> None:
    text = LOADING.replace("net = ", "DEV = choose()\nnet = ")
    assert codes(tmp_path, text, 'DEV = "cuda"') == ["TPL501"]
    assert codes(tmp_path, LOADING, 'DEV = "cuda"', alone=True) == ["TPL501"]


CURRENT = """
import torch
def resume(net, path):
    if torch.cuda.is_available():
        net.cuda(torch.cuda.current_device())
    else:
        raise RuntimeError("a GPU is needed")
    net.load_state_dict(torch.load(path, weights_only=True))
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CURRENT, []),
        (CURRENT.replace("torch.cuda.current_device()", ""), []),
        (CURRENT.replace('raise RuntimeError("a GPU is needed")', 'sys.exit("no GPU")'), []),
        (CURRENT.replace('raise RuntimeError("a GPU is needed")', 'print("slow")'), ["TPL501"]),
        (CURRENT.replace("    if torch", "    torch.cuda.set_device(path.gpu)\n    if torch"), ["TPL501"]),
        (CURRENT.replace("torch.cuda.current_device()", "path.gpu"), ["TPL501"]),
    ],
)
def test_a_program_that_ends_without_a_gpu_runs_on_the_current_one(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert codes(tmp_path, text, "") == expected
