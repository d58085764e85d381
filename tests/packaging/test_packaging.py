"""What is installed: the wheel's files and metadata, and the command in an environment that has nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import torchlint
from torchlint.rules import all_rules

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of a new environment that the wheel, and what it requires, was installed into."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([commands / "python", "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    return commands


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode("utf-8"))


def test_wheel_holds_the_package_and_what_it_reads(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert wheel.name == f"torchlint-{torchlint.__version__}-py3-none-any.whl"
    assert {"torchlint/py.typed", "torchlint/_evidence/cpu.json", "torchlint/rules/autograd/tpl001_data_mutation.py"} <= names
    for rule in all_rules():
        folder = f"torchlint/_fixtures/{rule.code}_{rule.name}".lower().replace("-", "_")
        files = ("bad", "fixed", "good", *(["hazard"] if rule.proven else []))
        assert {f"{folder}/{name}.py" for name in files} <= names
    assert {name.split("/")[0] for name in names} == {"torchlint", f"torchlint-{torchlint.__version__}.dist-info"}
    assert [name for name in names if "cache" in name.lower() and not name.endswith(".py")] == []


def test_little_is_required_and_no_torch(wheel: Path) -> None:
    given = metadata(wheel)
    required = [each for each in given.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert sorted(re.split(r"[<>=; ]", each)[0] for each in required) == ["libcst", "pathspec", "rich", "shtab"]
    assert given["Requires-Python"] == ">=3.11"
    assert given["License-Expression"] == "MIT"


def test_an_index_can_show_the_readme(wheel: Path) -> None:
    """What is beside the README in a checkout is not beside it there."""
    shown = metadata(wheel).get_payload()
    assert isinstance(shown, str)
    links = re.findall(r"\]\(([^)]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", shown)
    assert f"https://github.com/torchlint/torchlint/blob/v{torchlint.__version__}/docs/usage.md" in {link for link, _ in links}
    assert [link or picture for link, picture in links if not (link or picture).startswith(("https://", "#"))] == []


def test_command_by_itself(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n\nw = torch.zeros(3)\nw.requres_grad = True\n")

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [installed / "torchlint", *arguments], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
        )
        return done.returncode, done.stdout + done.stderr

    assert run("--version") == (0, f"torchlint {torchlint.__version__}\n")
    assert run("--output-format", "concise", "train.py")[0] == 1
    assert run("--fix", "train.py")[0] == 0
    assert (tmp_path / "train.py").read_text() == "import torch\n\nw = torch.zeros(3)\nw.requires_grad = True\n"
    code, page = run("rule", "TPL005")
    assert code == 0
    assert "\n## More examples\n" in page
    assert "\n## Proof\n" in page
    code, refusal = run("prove")
    assert code == 2
    assert "pip install torch" in refusal
