"""Names that are imported in several branches, and modules of which there is a stub: beside their Python, or in its place."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.project.files import Files, still_hold
from torchlint.semantics import Semantics
from torchlint.semantics.modules.modes_elsewhere import ModesElsewhere
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Outside

CLASS = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
STUB = "from torch import nn, Tensor\n\n\nclass Net(nn.Module):\n    def forward(self, x: Tensor) -> Tensor: ...\n"
TYPES = "from typing import TYPE_CHECKING\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


def target(folder: Path, text: str, files: Files | None = None) -> tuple[object, Semantics]:
    """What ``Net`` stands for behind a text in ``t.py``."""
    module = ast.parse(text + "\nNet\n")
    reading = (files or Files()).reading(str(folder / "t.py"), str(folder))
    semantics = Semantics(module, reading, reading.file)
    assert isinstance(module.body[-1], ast.Expr)
    return semantics.elsewhere.target(module.body[-1].value), semantics


def named(found: object) -> str:
    match found:
        case ClassElsewhere() | FunctionElsewhere():
            return f"{Path(found.file).name}:{found.name}"
        case Outside(name=name):
            return name
    return ""


BRANCHES = [
    ("try:\n    from .net import Net\nexcept ImportError:\n    from net import Net", "net.py:Net"),
    ("try:\n    from fast import Net\nexcept ImportError:\n    from net import Net", ""),
    ("if fast:\n    from other import Net\nelse:\n    from net import Net", ""),
    ("if fast:\n    from again import Net\nelse:\n    from net import Net", "net.py:Net"),
    ("try:\n    from fast_package import Net\nexcept ImportError:\n    from net import Net", ""),
    (TYPES + "if TYPE_CHECKING:\n    from net import Net", "net.py:Net"),
    (TYPES + "if TYPE_CHECKING:\n    from net import Net\nelse:\n    Net = None", "net.py:Net"),
]
OTHERS = {
    "net.py": CLASS,
    "other.py": CLASS,
    "again.py": "from net import Net\n",
    "fast.py": "from torch.nn import Linear as Net\n",
}


@pytest.mark.parametrize(("text", "expected"), BRANCHES)
def test_what_branches_import_is_known_where_they_agree(tmp_path: Path, text: str, expected: str) -> None:
    write(tmp_path, OTHERS)
    assert named(target(tmp_path, text)[0]) == expected


@pytest.mark.parametrize(("text", "expected"), BRANCHES)
def test_so_it_is_where_another_file_has_the_branches(tmp_path: Path, text: str, expected: str) -> None:
    write(tmp_path, {**OTHERS, "chosen.py": text + "\n"})
    assert named(target(tmp_path, "from chosen import Net")[0]) == expected


def test_modules_that_branches_import_are_compared_by_what_is_asked_of_them(tmp_path: Path) -> None:
    write(tmp_path, OTHERS)
    for other, expected in (("other", ""), ("again", "net.py:Net")):
        module = ast.parse(f"try:\n    import net\nexcept ImportError:\n    import {other} as net\nnet.Net\n")
        reading = Files().reading(str(tmp_path / "t.py"), str(tmp_path))
        assert isinstance(module.body[-1], ast.Expr)
        assert named(Semantics(module, reading, reading.file).elsewhere.target(module.body[-1].value)) == expected


def test_files_that_import_each_name_of_two_others_come_to_an_end(tmp_path: Path) -> None:
    both = "try:\n    from n{0} import Net\nexcept ImportError:\n    from m{0} import Net\n"
    files = {f"{letter}{number}.py": both.format(number + 1) for letter in "nm" for number in range(30)}
    write(tmp_path, {**files, "n30.py": CLASS, "m30.py": CLASS})
    asked: list[str] = []
    read = Files.summed_up

    class Counting(Files):
        def summed_up(self, file: str) -> tuple[object, str]:  # type: ignore[override]
            asked.append(file)
            return read(self, file)

    assert target(tmp_path, "from n0 import Net", Counting())[0] is None
    assert len(asked) < 300


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"net.pyi": STUB}, "net.pyi:Net"),
        ({"net.pyi": STUB, "net.py": CLASS}, "net.py:Net"),
        ({"net/__init__.pyi": STUB}, "__init__.pyi:Net"),
        ({"net/__init__.pyi": STUB, "net.py": CLASS}, "net.py:Net"),
        ({"net.pyi": STUB, "net/other.py": ""}, "net.pyi:Net"),  # a folder that is no package comes last
    ],
)
def test_a_stub_stands_in_where_there_is_no_python(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    write(tmp_path, files)
    assert named(target(tmp_path, "from net import Net")[0]) == expected


def test_a_stub_tells_what_there_is_and_not_what_it_does(tmp_path: Path) -> None:
    stub = STUB + "def prepare(model): ...\ndef build() -> Net: ...\n"
    write(tmp_path, {"net.pyi": stub})
    found, semantics = target(tmp_path, "from net import Net")
    lookup = semantics.elsewhere.lookup
    assert isinstance(found, ClassElsewhere)
    assert lookup.is_module(found)
    assert semantics.of(ModesElsewhere).matters(found) is None  # its layers are not told
    assert not lookup.has_state(found)
    prepare, _ = target(tmp_path, "from net import prepare as Net")
    assert isinstance(prepare, FunctionElsewhere)
    assert lookup.acts(prepare, "0") is None  # it may do anything


def test_python_that_comes_to_a_stub_is_noticed(tmp_path: Path) -> None:
    write(tmp_path, {"net.pyi": STUB})
    module = ast.parse("from net import Net\nNet\n")
    files = Files()
    reading = files.reading(str(tmp_path / "t.py"), str(tmp_path))
    assert named(Semantics(module, reading, reading.file).elsewhere.target(module.body[-1].value))  # type: ignore[attr-defined]
    files.look_again()
    assert still_hold(files, reading.file, reading.answers, str(tmp_path))
    write(tmp_path, {"net.py": CLASS})
    files.look_again()
    assert not still_hold(files, reading.file, reading.answers, str(tmp_path))
