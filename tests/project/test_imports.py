"""How imports are followed from file to file: as Python does it, within the project, and never out of it."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.project.files import Files
from torchlint.project.reading import Reading
from torchlint.semantics import Semantics
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Outside

CLASS = "from torch import nn\n\n\nclass Net(nn.Module):\n    pass\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


def looked_up(folder: Path, file: str, text: str, expression: str = "Net") -> tuple[object, Reading]:
    """What an expression behind ``text`` in ``file`` stands for, and the reading by which that was found."""
    module = ast.parse(dedent(text) + f"\n{expression}\n")
    reading = Files().reading(str(folder / file), str(folder))
    last = module.body[-1]
    assert isinstance(last, ast.Expr)
    return Semantics(module, reading, reading.file).elsewhere.target(last.value), reading


def found(folder: Path, file: str, text: str, expression: str = "Net") -> str:
    """The same in words: the file below ``folder`` and the name in it, or the full name of what is outside."""
    target, _ = looked_up(folder, file, text, expression)
    match target:
        case ClassElsewhere() | FunctionElsewhere():
            return f"{os.path.relpath(target.file, folder)}:{target.name}"
        case Outside(name=name):
            return name
    return ""


@pytest.mark.parametrize(
    ("files", "file", "text", "expected"),
    [
        ({"net.py": CLASS}, "train.py", "from net import Net", "net.py:Net"),
        ({"a/net.py": CLASS}, "a/train.py", "from net import Net", "a/net.py:Net"),
        ({"a/__init__.py": "", "a/net.py": CLASS}, "a/train.py", "from .net import Net", "a/net.py:Net"),
        ({"a/__init__.py": "", "a/net.py": CLASS}, "b/c/train.py", "from a.net import Net", "a/net.py:Net"),
        ({"a/net.py": CLASS}, "train.py", "from a.net import Net", "a/net.py:Net"),  # a namespace package
        ({"src/a/__init__.py": "", "src/a/net.py": CLASS}, "tests/test_a.py", "from a.net import Net", "src/a/net.py:Net"),
        ({"a/__init__.py": "from .net import Net\n", "a/net.py": CLASS}, "t.py", "from a import Net", "a/net.py:Net"),
        ({"a/__init__.py": "from .net import *\n", "a/net.py": CLASS}, "t.py", "from a import Net", "a/net.py:Net"),
        ({"a/__init__.py": "from .net import Net as Net\n", "a/net.py": CLASS}, "t.py", "from a import *", "a/net.py:Net"),
        ({"net.py": CLASS}, "t.py", "try:\n    from .net import Net\nexcept ImportError:\n    Net = None", "net.py:Net"),
        ({"net.py": CLASS + "Best = Net\n"}, "t.py", "from net import Best as Net", "net.py:Net"),
        ({"a/b/__init__.py": "", "a/b/n.py": CLASS, "a/__init__.py": ""}, "a/b/t.py", "from ..b.n import Net", "a/b/n.py:Net"),
        ({"net.py": "from torch.nn import Linear as Net\n"}, "t.py", "from net import Net", "torch.nn.Linear"),
        (
            {"net.py": "if __name__ == '__main__':\n    " + CLASS.replace("\n", "\n    ") + "\n"},
            "t.py",
            "from net import Net",
            "",
        ),
        ({"net.py": CLASS + "__all__ = []\n"}, "t.py", "from net import *", ""),
        ({"net.py": CLASS + "__all__ = ['Net']\n"}, "t.py", "from net import *", "net.py:Net"),
        ({"net.py": CLASS + "Net = make(Net)\n"}, "t.py", "from net import Net", ""),
        ({"net.py": CLASS + "for Net in range(3):\n    pass\n"}, "t.py", "from net import Net", ""),
        # a package comes before a module of the same name, and both before a folder that is neither
        ({"net/__init__.py": CLASS, "net.py": "Net = 1\n"}, "t.py", "from net import Net", "net/__init__.py:Net"),
        ({"net/other.py": "", "src/net.py": CLASS}, "t.py", "from net import Net", "src/net.py:Net"),
        # what `from a.net` names is the submodule, whatever the package binds to that name
        ({"a/__init__.py": "net = 3\n", "a/net.py": CLASS}, "t.py", "from a.net import Net", "a/net.py:Net"),
        # a package finds what is below it by its full name, too
        ({"a/net.py": CLASS}, "a/__init__.py", "from a.net import Net", "a/net.py:Net"),
        ({"a/__init__.py": "", "a/b/net.py": CLASS}, "a/b/__init__.py", "from a.b.net import Net", "a/b/net.py:Net"),
        ({"a/__init__.py": "", "a/b/net.py": CLASS}, "a/b/__init__.py", "from a.b import Net", ""),
        # the project's own folder of that name is not torch
        ({"torch/nn/__init__.py": CLASS}, "t.py", "from torch.nn import Net", ""),
    ],
)
def test_names_lead_to_their_definitions(tmp_path: Path, files: dict[str, str], file: str, text: str, expected: str) -> None:
    write(tmp_path, files)
    assert found(tmp_path, file, text) == expected


@pytest.mark.parametrize(
    "files",
    [
        {"net.py": "from net import Net\n"},
        {"net.py": "from other import Net\n", "other.py": "from net import Net\n"},
        {"net.py": "from other import *\n", "other.py": "from net import *\n"},
        {"net.py": "Net = Other\nOther = Net\n"},
        {"net/__init__.py": "from . import Net\n"},
        {"net.py": "class Net(Net):\n    pass\n"},
        {f"net{i or ''}.py": f"from net{i + 1} import Net\n" for i in range(200)},
        {"net.py": "def ("},
        {"net.py": "x = " + "(" * 300 + ")" * 300},
        {"net.py": "\x00"},
        {"net/net/net/net.py": CLASS},
    ],
    ids=str,
)
def test_what_leads_nowhere_is_unknown(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    target, _ = looked_up(tmp_path, "train.py", "from net import Net")
    if isinstance(target, ClassElsewhere):  # a class of which it is only not known what it derives from
        assert files == {"net.py": "class Net(Net):\n    pass\n"}
    else:
        assert target is None


def test_classes_that_derive_from_one_another_are_no_modules(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "from b import B\nclass A(B): pass\n", "b.py": "from a import A\nclass B(A): pass\n"})
    module = ast.parse("from a import A\nA\n")
    reading = Files().reading(str(tmp_path / "t.py"), str(tmp_path))
    assert Semantics(module, reading, reading.file).elsewhere.module_class(module.body[1].value) is None  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
@pytest.mark.parametrize("name", ["net.py", "net"])
def test_links_that_lead_out_are_not_followed(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"outside/net.py": CLASS, "outside/net/__init__.py": CLASS, "project/pyproject.toml": ""})
    (tmp_path / "project" / name).symlink_to(tmp_path / "outside" / name)
    target, reading = looked_up(tmp_path / "project", "train.py", "from net import Net")
    assert target is None
    assert not any("outside" in asked for asked, _ in reading.answers)


@pytest.mark.parametrize("text", ["from ..outside.net import Net", "from ...outside import Net", "from outside.net import Net"])
def test_nothing_outside_of_the_root_is_read(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"outside/net.py": CLASS, "outside/__init__.py": CLASS, "project/a.py": ""})
    target, reading = looked_up(tmp_path / "project", "a.py", text)
    assert target is None or target == Outside("outside.net.Net")
    assert not any(answer.startswith("=") for _, answer in reading.answers)


def test_the_root_is_the_nearest_folder_with_a_mark_of_one(tmp_path: Path) -> None:
    write(tmp_path, {"net.py": CLASS, "inner/pyproject.toml": "", "inner/a/__init__.py": ""})
    files = Files()
    assert files.reading(str(tmp_path / "inner" / "a" / "b.py")).root == str(tmp_path / "inner")
    (tmp_path / ".git").mkdir()
    assert files.reading(str(tmp_path / "other" / "b.py")).root == str(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_and_a_folder_with_the_name_of_a_module_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "net.py").mkdir()
    assert looked_up(tmp_path, "t.py", "from net import Net")[0] is None
    os.mkfifo(tmp_path / "pipe.py")
    assert looked_up(tmp_path, "t.py", "from pipe import Net")[0] is None


def test_a_file_that_imports_nothing_of_the_project_reads_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"net.py": CLASS})
    _, reading = looked_up(tmp_path, "t.py", "import torch\nimport numpy as np\nfrom net import Net", "torch.nn.Linear")
    assert reading.answers == ()
