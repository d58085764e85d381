"""Modules that are made by a name: out of a dict, a module of torchvision's models, or the modules of a project."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.project.files import Files
from torchlint.semantics import Semantics, Type

NETS = """
    from torch import nn

    class Small(nn.Module):
        pass

    class Large(Small):
        pass

    def large(pretrained=False):
        model = Large()
        if pretrained:
            model.load_state_dict({})
        return model

    class Settings:
        pass

    def count(model):
        return sum(p.numel() for p in model.parameters())
"""
HERE = "from torch import nn, optim\nclass A(nn.Module): pass\nclass B: pass\ndef a(): return A()\ndef two(): return 2\n"


def kind_of(folder: Path, text: str, files: dict[str, str]) -> Type:
    """The kind of ``made`` behind a text, among the files of a project."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(content))
    module = ast.parse(dedent(text) + "\nmade\n")
    reading = Files().reading(str(folder / "main.py"), str(folder))
    last = module.body[-1]
    assert isinstance(last, ast.Expr)
    return Semantics(module, reading, reading.file).kind(last.value).type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("made = {'a': A, 'b': nn.Linear}[name](3, 3)", Type.UNKNOWN),  # only what has a name of its own
        ("M = {'a': A, 'b': nn.Linear}\nmade = M[name](3, 3)", Type.MODULE),
        ("M = {'a': A, 'b': a}\nmade = M[name]()", Type.MODULE),
        ("M = {'a': A, 'b': two}\nmade = M[name]()", Type.UNKNOWN),
        ("M = {'a': A, 'b': B}\nmade = M[name]()", Type.UNKNOWN),
        ("M = {'a': A, 'b': other.C}\nmade = M[name]()", Type.UNKNOWN),
        ("M = {'a': optim.SGD, 'b': optim.Adam}\nmade = M[name](rows)", Type.UNKNOWN),
        ("M = {}\nmade = M[name]()", Type.UNKNOWN),
        ("M = {'a': A}\nif large:\n    M = {'a': B}\nmade = M[name]()", Type.UNKNOWN),
        ("import torchvision.models as models\nmade = models.__dict__[name](pretrained=True)", Type.MODULE),
        ("from torchvision import models\nmade = getattr(models, name)()", Type.MODULE),
        ("from torchvision import datasets\nmade = getattr(datasets, name)()", Type.UNKNOWN),
        ("from torchvision import models\nmade = getattr(models, name, None)()", Type.UNKNOWN),
    ],
)
def test_what_is_chosen_in_the_file(tmp_path: Path, text: str, expected: Type) -> None:
    assert kind_of(tmp_path, HERE + text, {}) is expected


PACKAGE = {"models/nets.py": NETS, "models/__init__.py": "from .nets import Small, Large, large\n"}


@pytest.mark.parametrize(
    ("files", "text", "expected"),
    [
        (PACKAGE, "import models\nmade = models.__dict__[name](pretrained=True)", Type.MODULE),
        (PACKAGE, "import models\nmade = getattr(models, name)()", Type.MODULE),
        (PACKAGE, "import models as m\nmade = m.__dict__[name]()", Type.MODULE),
        (
            {**PACKAGE, "models/__init__.py": "from .nets import *\n"},
            "import models\nmade = getattr(models, name)()",
            Type.UNKNOWN,
        ),
        (
            {**PACKAGE, "models/__init__.py": "from .nets import count\n"},
            "import models\nmade = getattr(models, n)()",
            Type.UNKNOWN,
        ),
        ({**PACKAGE, "models/__init__.py": ""}, "import models\nmade = getattr(models, name)()", Type.UNKNOWN),
        (
            {**PACKAGE, "zoo.py": "from models import *\nMODELS = {'small': Small, 'large': large}\n"},
            "from zoo import MODELS\nmade = MODELS[name]()",
            Type.MODULE,
        ),
        (
            {**PACKAGE, "zoo.py": "from models.nets import *\nMODELS = {'small': Small, 'b': Settings}\n"},
            "import zoo\nmade = zoo.MODELS[name]()",
            Type.UNKNOWN,
        ),
        (
            {**PACKAGE, "zoo.py": "from models.nets import *\nMODELS = {'s': Small}\nMODELS['b'] = Settings\n"},
            "from zoo import MODELS\nmade = MODELS[name]()",
            Type.UNKNOWN,
        ),
        (
            {
                **PACKAGE,
                "zoo.py": "import models\nM = {'s': models.Small}\n\ndef build(c):\n    net = M[c.name](c)\n    return net\n",
            },
            "from zoo import build\nmade = build(cfg)",
            Type.MODULE,
        ),
        (
            {**PACKAGE, "zoo.py": "import models\n\ndef build(name):\n    return getattr(models, name)().cuda()\n"},
            "from zoo import build\nmade = build(name)",
            Type.MODULE,
        ),
        (
            {"zoo.py": "import torchvision.models as models\n\ndef build(name):\n    return models.__dict__[name]()\n"},
            "from zoo import build\nmade = build(name)",
            Type.MODULE,
        ),
        (
            {"zoo.py": "import torch\n\ndef build(name):\n    return getattr(torch.optim, name)()\n"},
            "from zoo import build\nmade = build(name)",
            Type.UNKNOWN,
        ),
    ],
)
def test_what_is_chosen_in_a_project(tmp_path: Path, files: dict[str, str], text: str, expected: Type) -> None:
    assert kind_of(tmp_path, text, files) is expected


def test_choices_that_choose_from_themselves_come_to_an_end(tmp_path: Path) -> None:
    functions = "".join(f"def f{number}(n):\n    return M[n](n)\n" for number in range(150))
    zoo = functions + "M = {" + ", ".join(f"'{number}': f{number}" for number in range(150)) + "}\n"
    assert kind_of(tmp_path, "from zoo import M\nmade = M[name](name)", {"zoo.py": zoo}) is Type.UNKNOWN
    files = {f"m{number}.py": "".join(f"from m{other} import *\n" for other in range(40)) for number in range(40)}
    assert kind_of(tmp_path, "import m0\nmade = getattr(m0, name)()", files) is Type.UNKNOWN
