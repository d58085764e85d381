"""Methods that a project calls only where autograd is off: steps that a base class in another file calls for its heirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

BASE = """
import torch

class Base:
    def extract(self):
        pass

    def test(self):
        with torch.no_grad():
            self.extract()
"""
MODEL = """
import torch
from base import Base

class Model(Base):
    def extract(self):
        f = self.net(self.img)
        self.kept = torch.cat((self.kept, f.data.cpu()), 0)
"""
OUTSIDE = MODEL.replace("from base", "from somewhere")
SCRIPT = "from model import Model\nmodel = make()\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"base.py": BASE}, []),
        ({"base.py": BASE.replace("        with torch.no_grad():\n", "        if True:\n")}, ["TPL002"]),
        (
            {
                "base.py": BASE.replace("    def test", "    @torch.no_grad()\n    def test").replace(
                    "with torch.no_grad()", "if 1"
                )
            },
            [],
        ),
        ({"base.py": BASE, "other.py": MODEL.replace("extract(self)", "step(self)")}, []),
        ({"base.py": BASE, "run.py": SCRIPT + "model.extract()\n"}, ["TPL002"]),
        ({"base.py": BASE, "run.py": SCRIPT + "with torch.no_grad():\n    model.extract()\n"}, []),
        (
            {
                "base.py": BASE,
                "run.py": SCRIPT + "with torch.no_grad():\n    with torch.enable_grad():\n        model.extract()\n",
            },
            ["TPL002"],
        ),
        ({"base.py": BASE, "run.py": SCRIPT + "with torch.no_grad():\n    later(lambda: model.extract())\n"}, ["TPL002"]),
        ({"base.py": BASE, "run.py": SCRIPT + "with torch.no_grad():\n    later(model.extract)\n"}, ["TPL002"]),
        ({"base.py": BASE, "run.py": SCRIPT + "with torch.no_grad():\n    def f():\n        model.extract()\n"}, ["TPL002"]),
        ({"base.py": BASE, "run.py": SCRIPT + "getattr(model, 'extract')()\n"}, ["TPL002"]),
        ({"base.py": BASE, "run.py": SCRIPT + "model.extract() if\n"}, ["TPL002"]),
        (
            {
                "base.py": BASE,
                "heir.py": "from model import Model\nclass Heir(Model):\n    def go(self):\n        self.extract()\n",
            },
            ["TPL002"],
        ),
        (
            {
                "base.py": BASE,
                "heir.py": "from model import Model\nclass Heir(Model):\n    def extract(self):\n        super().extract()\n",
            },
            [],
        ),
        ({"base.py": BASE.replace("self.extract()", "self.other()")}, ["TPL002"]),
    ],
)
def test_a_step_of_a_base_class(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert codes(tmp_path, files, MODEL) == expected


def test_of_a_base_of_another_library_nobody_knows_who_calls(tmp_path: Path) -> None:
    assert codes(tmp_path, {"base.py": BASE}, OUTSIDE) == ["TPL002"]


def codes(folder: Path, files: dict[str, str], text: str) -> list[str]:
    for name, each in {**files, "model.py": text}.items():
        (folder / name).write_text(each)
    found = lint(text, filename=str(folder / "model.py"), project_root=str(folder))
    return [each.code for each in found if each.code == "TPL002"]
