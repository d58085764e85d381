"""What a text may bind a name by is told by its words: never less than its summary says, and mostly no more."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from torchlint.project.files import Files, still_hold
from torchlint.project.told.bound import ITSELF, may_bind
from torchlint.project.trees import Trees
from torchlint.semantics import Semantics
from torchlint.semantics.summaries.making import summary_of
from torchlint.semantics.summaries.summary import Summary

NAMES = ("Tensor", "Value")
BINDING = [
    "class Tensor:\n    pass\n",
    "class \\\n  Tensor: pass\n",
    "def Value(x): return x\n",
    "async def Value(x): return x\n",
    "from .engine import Tensor\n",
    "from engine import (\n    Other,\n    Tensor,\n)\n",
    "from engine import Other, \\\n    Tensor\n",
    "from engine import (  # all (of it)\n    Other,  # (this, too)\n    Tensor,\n)\n",
    "try: from engine import (Other,\n    Tensor)\nexcept ImportError: pass\n",
    "from engine import Other as Tensor\n",
    "from torches import Tensor\n",
    "import engine.Other as Tensor\n",
    "import Tensor\n",
    "import os; from engine import Tensor\n",
    "try:\n    from engine import Tensor\nexcept ImportError:\n    Tensor = None\n",
    "try: from engine import Tensor\nexcept ImportError: pass\n",
    "Tensor = Other\n",
    "A = Tensor = Other\n",
    "A = 1; Tensor = Other\n",
    "if A: Tensor = Other\n",
    "if A:\n    pass\nelse: Tensor = Other\n",
    "with A: Tensor = Other\n",
    "Tensor: object = Other\n",
    "Tensor: dict[\n    int, int\n] = Other\n",
    "Tensor \\\n  = Other\n",
]
NOT_BINDING = [
    "",
    "import torch\nx = torch.Tensor(3)\n",
    "from torch import Tensor\n",
    "from torch.autograd import (\n    Tensor,\n    Value,\n)\n",
    "def f(x: Tensor = None, *, y: 'Value' = 1) -> Tensor: ...\n",
    "x = Tensor(3)\n",
    "x: Tensor = y\n",
    'def f():\n    """Gives:\n    Tensor: what it is\n    """\n',
    "assert x == Tensor\n",
    "Tensors = 3\nMyTensor = 4\n",
    "class Net(Tensor): pass\n",
    "from .layers import Other\n",
]


@pytest.mark.parametrize("text", BINDING)
def test_what_binds_a_name_is_seen(text: str) -> None:
    assert not {name for name, _ in summary_of(ast.parse(text)).names}.isdisjoint(NAMES)
    assert ITSELF in may_bind(text.encode(), NAMES)


@pytest.mark.parametrize("text", NOT_BINDING)
def test_what_only_speaks_of_a_name_binds_nothing(text: str) -> None:
    assert may_bind(text.encode(), NAMES) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from .a import *\nfrom b.c import *\nfrom .a import *\n", (".a", "b.c")),
        ("from torch.nn import *\n", ()),
        ("try: from .a import *\nexcept ImportError: pass\n", (".a",)),
        ("import os; from .a import *\n", (".a",)),
        ("from . a import *\n", (ITSELF,)),
        ("from .a \\\n import *\n", (ITSELF,)),
        ("from .a import \\\n *\n", (ITSELF,)),
    ],
)
def test_modules_of_which_everything_is_imported(text: str, expected: tuple[str, ...]) -> None:
    assert may_bind(text.encode(), NAMES) == expected


OWN = """
class Tensor:
    def __mul__(self, other):
        return Tensor()

    def backward(self):
        pass
"""


def are_used(text: str, folder: Path, files: Files) -> bool:
    """Whether a text works with tensors of its project's own."""
    reading = files.reading(str(folder / "main.py"), str(folder))
    return Semantics(ast.parse(text), reading, reading.file).inference.own_autograd.are_used


PACKAGE = {"mini/__init__.py": "from .engine import Tensor\n", "mini/engine.py": OWN, "mini/ops.py": "def total(x): ...\n"}


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"engine.py": OWN}, "from engine import Tensor"),
        ({"engine.py": OWN}, "import engine"),
        ({"engine.py": OWN, "all.py": "from engine import *\n"}, "from all import other"),
        ({"engine.py": OWN, "a.py": "from engine import *\n", "b.py": "from a import *\nfrom b import *\n"}, "import b"),
        (PACKAGE, "from mini.ops import total"),
        (PACKAGE, "from mini.engine import total"),
        ({**PACKAGE, "mini/__init__.py": "from . import engine\n"}, "import mini.engine as engine"),
        ({**PACKAGE, "mini/__init__.py": "from . import engine as other\n"}, "from mini.other import total"),
    ],
)
def test_tensors_of_the_projects_own_are_found_where_they_come_from(tmp_path: Path, files: dict[str, str], text: str) -> None:
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    assert are_used(text, tmp_path, Files())
    for path, content in files.items():
        (tmp_path / path).write_text(content.replace("__mul__", "mul"))
    assert not are_used(text, tmp_path, Files())


def test_files_that_bind_no_such_name_are_not_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summed: list[bytes] = []
    summary = Trees.summary

    def counted(trees: Trees, data: bytes, *, is_stub: bool) -> tuple[Summary, str]:
        summed.append(data)
        return summary(trees, data, is_stub=is_stub)

    monkeypatch.setattr(Trees, "summary", counted)
    (tmp_path / "all.py").write_text("from layers import *\n")
    (tmp_path / "layers.py").write_text("from torch import Tensor\ndef f(x: Tensor) -> Tensor: ...\n")
    files = Files()
    assert not are_used("import all, layers", tmp_path, files)
    assert summed == []
    (tmp_path / "layers.py").write_text(OWN)
    files.look_again()
    assert are_used("import all, layers", tmp_path, files)
    assert OWN.encode() in summed


def test_what_rests_on_no_such_name_is_void_once_there_is_one(tmp_path: Path) -> None:
    names = {"layers.py": "def f(x): ...\n", "all.py": "from layers import *\n"}
    for name, text in names.items():
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (1_000_000_000, 1_000_000_000))
    files = Files()
    reading = files.reading(str(tmp_path / "main.py"), str(tmp_path))
    assert reading.may_bind(str(tmp_path / "layers.py"), NAMES) == ()
    assert reading.may_bind(str(tmp_path / "all.py"), NAMES) == ("layers",)
    kept = reading.answers
    assert still_hold(Files(), reading.file, kept, str(tmp_path))
    (tmp_path / "layers.py").write_text("def f(x, y): return Tensor\n")
    assert still_hold(Files(), reading.file, kept, str(tmp_path))
    (tmp_path / "all.py").write_text("from layers import f\n")
    assert not still_hold(Files(), reading.file, kept, str(tmp_path))
    (tmp_path / "all.py").write_text(names["all.py"])
    (tmp_path / "layers.py").write_text("class Tensor: ...\n")
    assert not still_hold(Files(), reading.file, kept, str(tmp_path))
