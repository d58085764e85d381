"""What programs that know the CPU alone have saved, in a project of which other programs know more."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint
from torchlint.project.topics.cpu_programs import CpuPrograms

READER = """
import torch
from models import Net
net = Net()
net.load_state_dict(torch.load(f"out/{round}/net_best.pt", weights_only=True))
"""
TRAINING = """
import torch
from models import Net
net = Net()
net(torch.ones(3)).sum().backward()
torch.save(net.state_dict(), f"out/{last}" + "/net_best.pt")
"""
BESIDE = "import torch\nx = torch.ones(3).cuda()\ny = torch.ones(3).to(args.device)\n"


def found(folder: Path, files: dict[str, str], reader: str = READER) -> list[str]:
    """The default findings in a file of a project that knows the GPU, too."""
    for name, text in {"other.py": BESIDE, "models.py": "class Net: pass\n", **files}.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    return [each.code for each in lint(reader, filename=str(folder / "show.py"), project_root=str(folder))]


@pytest.mark.parametrize(
    "files",
    [
        {"show.py": READER, "train.py": TRAINING},
        {"show.py": READER, "deep/train.py": TRAINING},
        {"show.py": READER, "train.py": TRAINING, "again.py": TRAINING},
        {"show.py": READER, "train.py": TRAINING, "also.py": READER.replace("torch", "other") + "import other\n"},
    ],
)
def test_what_a_program_of_the_cpu_has_saved(tmp_path: Path, files: dict[str, str]) -> None:
    assert found(tmp_path, files) == []


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": TRAINING + "x = x.cuda()\n"},
        {"train.py": TRAINING, "faster.py": TRAINING + "x = x.cuda()\n"},
        {"train.py": TRAINING + "from other import x\n"},
        {"train.py": TRAINING + "from . import other\n"},
        {"train.py": TRAINING + "from deep.parts import (\n    one,\n    other,\n)\n"},
        {"train.py": TRAINING, "main.py": "import train\nx = x.cuda()\n"},
        {"train.py": TRAINING, "main.py": "import train, deep.part\n", "deep/part/__init__.py": "x = x.cuda()\n"},
        {"train.py": TRAINING + "import importlib\n"},
        {"train.py": TRAINING, "main.py": "import show\nx = x.cuda()\n"},
        {"train.py": TRAINING, "models.py": "class Net: device = torch.device('cuda')\n"},
        {"train.py": TRAINING.replace(".backward()", "")},  # it may hand on what others have trained
        {"train.py": TRAINING.replace("torch.save(", "keep(")},
        {"train.py": TRAINING.replace("net_best", "net_last")},
        {"train.py": TRAINING.replace("net_best", "net_last") + "torch.load('net_best.pt')\n"},
        {},
    ],
)
def test_what_may_have_been_saved_elsewhere(tmp_path: Path, files: dict[str, str]) -> None:
    assert found(tmp_path, {"show.py": READER, **files}) == ["TPL501"]


@pytest.mark.parametrize("name", ["args.path", 'f"{round}.pt"', '"out/net_best.pt/" + name', '"x.pt"'])
def test_a_name_that_is_not_written_out_may_be_of_any_file(tmp_path: Path, name: str) -> None:
    reader = READER.replace('f"out/{round}/net_best.pt"', name)
    assert found(tmp_path, {"show.py": reader, "train.py": TRAINING}, reader) == ["TPL501"]


def test_each_file_of_a_project_is_looked_through_once() -> None:
    """So much is read of chains of files twice as long, each of which saves and imports the next one."""

    def reads(length: int) -> int:
        texts = {f"/p/m{n}.py": b"import m%d\nloss.backward()\ntorch.save(x, 'net_best')\n" % (n + 1) for n in range(length)}
        asked: list[str] = []

        def code(path: str) -> bytes:
            asked.append(path)
            return texts[path]

        programs = CpuPrograms(code, lambda _: iter(texts), lambda _: False)
        assert programs.have_saved("net_best", "/p/m0.py", "/p")
        return len(asked)

    assert reads(200) == 2 * reads(100)


def test_a_project_of_too_many_files_is_not_told_of() -> None:
    texts = {f"/p/m{n}.py": b"loss.backward()\ntorch.save(x, 'net_best')\n" for n in range(401)}
    assert not CpuPrograms(texts.get, lambda _: iter(texts), lambda _: False).have_saved("net_best", "/p/m0.py", "/p")
