"""Fixes that are safe because all callers in the project are in sight; and every way to call that must keep them unsafe."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from torchlint import fix, lint
from torchlint.engine import runner
from torchlint.engine.cache import Cache, settings_key
from torchlint.engine.examination import Task
from torchlint.rules import all_rules
from torchlint.rules.selection import select_rules

ENGINE = """
import torch


def warm_up(device):
    return torch.zeros(2).to(device)


def run():
    return warm_up("cpu")
"""
MAIN = "import engine\n\nprint(engine.run())\n"


def notebook(*cells: str) -> str:
    made: list[dict[str, object]] = [
        {"cell_type": "code", "source": cell, "metadata": {}, "outputs": [], "execution_count": None} for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def applicability(folder: Path, files: Mapping[str, str], file: str = "engine.py", code: str = "TPL401") -> str:
    write(folder, files)
    found = lint(files[file], filename=str(folder / file), project_root=str(folder), select=[code])
    assert [each.code for each in found] == [code]
    assert found[0].fix is not None
    return found[0].fix.applicability.value


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"main.py": MAIN},
        {"main.py": "from engine import run\nrun()\n"},
        {"other.py": "def warm_up(x):\n    return x\n\n\nwarm_up(2.5)\n"},
        {"main.py": "import engine\n\n\ndef warm_up(x):\n    return x\n\n\nwarm_up(2.5), engine.run()\n"},
        {"main.py": "import engine\n\n\ndef train(model):\n    model.warm_up(engine.run())\n"},
        {"main.py": "import engine  # and not warm_up\n\nprint('warm_up', engine.run())\n"},
        {"pyproject.toml": "[tool.ruff]\nline-length = 100\n", "main.py": MAIN},
        {"setup.cfg": "[flake8]\nmax-line-length = 100\n", "main.py": MAIN},
        {"run.ipynb": notebook("import engine", "engine.run()")},
        {"run.ipynb": notebook("%load_ext autoreload\n%matplotlib inline\nfrom engine import run", "run()")},
    ],
    ids=range(11),
)
def test_it_is_safe_where_nobody_else_calls(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert applicability(tmp_path, {"engine.py": ENGINE, **files}) == "safe"


CALLERS: dict[str, dict[str, str]] = {
    "import": {"main.py": "from engine import warm_up\n\nwarm_up(2.5)\n"},
    "module": {"main.py": "import engine\n\nengine.warm_up(2.5)\n"},
    "module by another name": {"main.py": "import engine as e\n\ne.warm_up(2.5)\n"},
    "another name": {"main.py": "from engine import warm_up as w\n\nw(2.5)\n"},
    "another name, handed on by a file": {
        "api.py": "from engine import warm_up as w\n",
        "main.py": "from api import w\nw(2.5)\n",
    },
    "in a function": {"main.py": "def main():\n    from engine import warm_up\n    warm_up(2.5)\n"},
    "conditional": {
        "main.py": "try:\n    from engine import warm_up\nexcept ImportError:\n    warm_up = print\nwarm_up(2.5)\n"
    },
    "in one line": {"main.py": "import sys; sys.path.append('.'); from engine import warm_up; warm_up(2.5)\n"},
    "in one clause": {"main.py": "if True: import engine\nengine.warm_up(2.5)\n"},
    "in several lines": {"main.py": "from engine import (\n    run,\n    warm_up,\n)\n\nwarm_up(2.5), run()\n"},
    "with a backslash": {"main.py": "from engine import run, \\\n    warm_up\n\nwarm_up(2.5), run()\n"},
    "star": {"main.py": "from engine import *\n\nwarm_up(2.5)\n"},
    "star by way of another file": {"api.py": "from engine import *\n", "main.py": "import api\n\napi.warm_up(2.5)\n"},
    "star, by text": {"main.py": "from engine import *\n\neval('warm' + '_up')(2.5)\n"},
    "star, in a table": {"main.py": "from engine import *\n\nglobals()[input()](2.5)\n"},
    "getattr": {"main.py": "import engine\n\ngetattr(engine, input())(2.5)\n"},
    "getattr of another file": {"api.py": "from engine import *\n", "main.py": "import api\n\ngetattr(api, input())(2.5)\n"},
    "vars": {"main.py": "import engine\n\nvars(engine)[input()](2.5)\n"},
    "importlib": {"main.py": "import importlib\n\nimportlib.import_module(input()).warm_up(2.5)\n"},
    "importlib, elsewhere": {
        "main.py": MAIN,
        "load.py": "from importlib import import_module as load\n\nload(input()).run()\n",
    },
    "__import__": {"main.py": "__import__('engine').warm_up(2.5)\n"},
    "runpy": {"main.py": "import runpy\n\nrunpy.run_path('engine.py')['warm_up'](2.5)\n"},
    "exec": {"main.py": "exec(open('engine.py').read())\nwarm_up(2.5)\n"},
    "sys.modules": {"main.py": "import engine, sys\n\nsys.modules['engine'].warm_up(2.5)\n"},
    "hydra": {"main.py": "from hydra.utils import instantiate\n\ninstantiate({'_target_': 'engine.warm_up', 'device': 2.5})\n"},
    "timeit": {"main.py": "import timeit\n\ntimeit.timeit('warm_up(2.5)', setup='from engine import warm_up')\n"},
    "timeit of a long text": {"main.py": "SETUP = '''\nimport engine\nwarm_up = engine.warm_up\n'''\nprint(SETUP)\n"},
    "continued": {"main.py": "from engine \\\n    import warm_up\n\nwarm_up(2.5)\n"},
    "continued twice": {"main.py": "from \\\n    engine \\\n    import warm_up\n\nwarm_up(2.5)\n"},
    "magic": {"run.ipynb": notebook("import engine", "%timeit engine.warm_up(2.5)")},
    "magic of a cell": {"run.ipynb": notebook("from engine import *", "%%time\nwarm_up(2.5)")},
    "command": {"run.ipynb": notebook("import engine", "x = !python main.py\nprint(engine.warm_up(x))")},
    "trainer": {"main.py": "from engine import warm_up\nfrom trainer import Trainer\n\nTrainer(step=warm_up).fit()\n"},
    "table": {"main.py": "import engine\n\nSTEPS = {'warm': engine.warm_up}\nSTEPS['warm'](2.5)\n"},
    "decorated": {"main.py": "import engine\nfrom functools import wraps\n\nwrapped = wraps(engine.warm_up)(print)\n"},
    "module handed on": {
        "main.py": "import engine\nfrom other import use\n\nuse(engine)\n",
        "other.py": "def use(m):\n    m.warm_up(2.5)\n",
    },
    "module in a table": {"main.py": "import engine\n\nfor each in [engine]:\n    each.warm_up(2.5)\n"},
    "replaced": {"main.py": "import engine\n\nengine.warm_up = lambda device: device\nengine.run()\n"},
    "test": {"tests/test_engine.py": "from engine import *\n\n\ndef test():\n    warm_up(torch.ones(2, requires_grad=True))\n"},
    "notebook": {
        "notebooks/run.ipynb": notebook("import sys\nsys.path.append('..')", "from engine import warm_up\nwarm_up(2.5)")
    },
    "notebook that runs it": {"run.ipynb": notebook("%run engine.py", "warm_up(2.5)")},
    "notebook that runs it, with nothing else": {"run.ipynb": notebook("%run engine")},
    "notebook that is broken": {"run.ipynb": '{"cells": [{"source": "from engine import warm_up"'},
    "text that is broken": {"main.py": "from engine import warm_up\nwarm_up(2.5\n"},
    "project": {"pyproject.toml": '[project]\nname = "engine"\nversion = "1"\n'},
    "poetry": {"pyproject.toml": '[tool.poetry]\nname = "engine"\n'},
    "build system": {"pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n'},
    "setup.py": {"setup.py": "from setuptools import setup\n\nsetup(name='engine', py_modules=['engine'])\n"},
    "setup.cfg": {"setup.cfg": "[metadata]\nname = engine\n"},
    "folder of its own environment": {"env/main.py": "from engine import warm_up\n\nwarm_up(2.5)\n"},
    "cython": {"fast.pyx": "from engine import warm_up\n\nwarm_up(2.5)\n"},
}


@pytest.mark.parametrize("files", CALLERS.values(), ids=CALLERS)
def test_it_is_unsafe_where_another_file_may_call(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert applicability(tmp_path, {"engine.py": ENGINE, **files}) == "unsafe"


PACKAGED: dict[str, dict[str, str]] = {
    "relative, without a space": {"pkg/main.py": "from.engine import warm_up\n\nwarm_up(2.5)\n"},
    "all of its own package, in a clause": {
        "pkg/__init__.py": "from .engine import *\n",
        "pkg/main.py": "if True: from . import *\nwarm_up(2.5)\n",
    },
    "relative": {"pkg/main.py": "from .engine import warm_up\n\nwarm_up(2.5)\n"},
    "relative module": {"pkg/main.py": "from . import engine\n\nengine.warm_up(2.5)\n"},
    "package": {"main.py": "import pkg.engine\n\npkg.engine.warm_up(2.5)\n"},
    "package that has it": {"pkg/__init__.py": "from .engine import warm_up\n", "main.py": "import pkg\n\npkg.warm_up(2.5)\n"},
    "package that has all": {"pkg/__init__.py": "from .engine import *\n", "main.py": "from pkg import *\n\nwarm_up(2.5)\n"},
    "all of its own package": {
        "pkg/__init__.py": "from .engine import *\n",
        "pkg/main.py": "from . import *\n\nwarm_up(2.5)\n",
    },
    "package handed on": {"main.py": "import pkg.engine\n\nprint(pkg)\nvars(pkg)['engine'].warm_up(2.5)\n"},
    "part of a package, handed on": {"main.py": "import pkg.engine\n\nprint(pkg.engine)\n"},
    "another of its name": {
        "lib/engine.py": "def warm_up(x):\n    return x\n",
        "main.py": "from lib.engine import warm_up\n\nwarm_up(2.5)\n",
    },
}


@pytest.mark.parametrize("files", PACKAGED.values(), ids=PACKAGED)
def test_it_is_unsafe_where_another_file_may_call_it_in_a_package(tmp_path: Path, files: Mapping[str, str]) -> None:
    every = {"pkg/__init__.py": "", "pkg/engine.py": ENGINE, **files}
    assert applicability(tmp_path, every, "pkg/engine.py") == "unsafe"


@pytest.mark.parametrize(
    "text",
    [
        ENGINE.replace('warm_up("cpu")', "warm_up(**options)"),
        ENGINE.replace('warm_up("cpu")', "warm_up(*options)"),
        ENGINE.replace('warm_up("cpu")', "warm_up(2.5)"),
        ENGINE.replace('return warm_up("cpu")', 'call(warm_up)\n    return warm_up("cpu")'),
        ENGINE.replace("def warm_up", "@register\ndef warm_up"),
        ENGINE + "\n\nglobals()[input()](2.5)\n",
        ENGINE + "\n\nimport sys\ngetattr(sys.modules[__name__], input())(2.5)\n",
        ENGINE + "\n\nimport fire\nfire.Fire()\n",
        ENGINE.replace("warm_up", "predict_fn"),
        ENGINE + '\n\ndef more():\n    """Shows it.\n\n    >>> warm_up(2.5)\n    """\n',
        ENGINE.replace('"cpu"', "torch.ones(1, requires_grad=True)"),
    ],
    ids=range(11),
)
def test_it_is_unsafe_where_the_file_itself_calls_otherwise(tmp_path: Path, text: str) -> None:
    assert applicability(tmp_path, {"engine.py": text, "main.py": MAIN}) == "unsafe"


@pytest.mark.parametrize("name", ["hubconf.py", "conftest.py", "test_engine.py", "build/engine.py", ".hidden/engine.py"])
def test_it_is_unsafe_where_others_find_the_function_by_its_file(tmp_path: Path, name: str) -> None:
    text = ENGINE.replace("warm_up", "test_it")
    assert applicability(tmp_path, {name: text}, name) == "unsafe"


NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device

    def forward(self, x):
        return x + torch.zeros(2).to(self.device)


def build():
    return Net("cpu")
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"main.py": "from net import build\n\nbuild()\n"}, "safe"),
        ({"main.py": "from net import Net\n\nNet(2.5)\n"}, "unsafe"),
        ({"main.py": "from net import Net\n\n\nclass More(Net):\n    pass\n\n\nMore(2.5)\n"}, "unsafe"),
        (
            {"main.py": "from net import *\n\n\nclass More(Net):\n    def __init__(self):\n        super().__init__(2.5)\n"},
            "unsafe",
        ),
        ({"main.py": "from net import build\n\ntype(build())(2.5)\n"}, "unsafe"),
        ({"main.py": "from net import build\n\nbuild().__class__(2.5)\n"}, "unsafe"),
        (
            {
                "main.py": "import net\nfrom other import twice\n\ntwice(net.build())\n",
                "other.py": "def twice(m):\n    return type(m)(2.5)\n",
            },
            "unsafe",
        ),
    ],
    ids=range(7),
)
def test_constructors_are_called_where_their_class_is(tmp_path: Path, files: Mapping[str, str], expected: str) -> None:
    assert applicability(tmp_path, {"net.py": NET, **files}, "net.py") == expected


@pytest.mark.parametrize("more", ["cls(2.5)", "type(self)(2.5)", "self.__class__(2.5)"])
def test_a_class_that_makes_objects_of_itself_is_not_in_sight(tmp_path: Path, more: str) -> None:
    text = NET.replace("def forward", f"def again(self, cls):\n        return {more}\n\n    def forward")
    assert applicability(tmp_path, {"net.py": text}, "net.py") == "unsafe"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("src/engine.py", "unsafe"),
        ("engine.py", "safe"),
        ("scripts/engine.py", "safe"),
        ("tests/helpers.py", "safe"),
        ("lib/engine.py", "unsafe"),
    ],
)
def test_what_stands_beside_the_sources_of_a_package_is_not_installed(tmp_path: Path, file: str, expected: str) -> None:
    files = {"pyproject.toml": '[project]\nname = "pkg"\n', "src/pkg/__init__.py": "", file: ENGINE}
    assert applicability(tmp_path, files, file) == expected


def test_what_is_installed_beside_the_sources_is_public(tmp_path: Path) -> None:
    files = {"pyproject.toml": '[project]\nname = "pkg"\n[tool.setuptools]\npy-modules = ["engine"]\n', "src/pkg.py": ""}
    assert applicability(tmp_path, {**files, "engine.py": ENGINE}) == "unsafe"


UNUSED = "import torch\nfrom torch.autograd import Variable\n\n\ndef run(x):\n    return torch.relu(x)\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"main.py": "from net import run\n"}, "safe"),
        ({"main.py": "from net import run\nfrom torch.autograd import Variable\n\nrun(Variable(2))\n"}, "safe"),
        ({"main.py": "from net import *\nfrom torch.autograd import Variable\n\nrun(Variable(2))\n"}, "unsafe"),
        ({"main.py": "from net import *\n\nrun(2)\n"}, "safe"),
        ({"main.py": "import net\n\nnet.Variable(2)\n"}, "unsafe"),
    ],
    ids=range(5),
)
def test_an_import_goes_where_no_other_file_has_the_name_from_here(
    tmp_path: Path, files: Mapping[str, str], expected: str
) -> None:
    assert applicability(tmp_path, {"net.py": UNUSED, **files}, "net.py", "TPL101") == expected


def test_an_import_that_another_file_has_from_here_is_used(tmp_path: Path) -> None:
    write(tmp_path, {"net.py": UNUSED, "main.py": "from net import run, Variable\n"})
    assert lint(UNUSED, filename=str(tmp_path / "net.py"), project_root=str(tmp_path), select=["TPL101"]) == []


def test_what_is_private_is_so_until_another_file_calls_it(tmp_path: Path) -> None:
    text = ENGINE.replace("warm_up", "_warm_up")
    assert applicability(tmp_path / "a", {"engine.py": text, "main.py": MAIN}) == "safe"
    assert applicability(tmp_path / "b", {"engine.py": text, "main.py": "import engine\n\nengine._warm_up(2.5)\n"}) == "unsafe"


def test_links_that_lead_out_leave_it_open(tmp_path: Path) -> None:
    write(tmp_path, {"out/main.py": "from engine import warm_up\n\nwarm_up(2.5)\n"})
    (tmp_path / "in").mkdir()
    os.symlink(tmp_path / "out", tmp_path / "in/tools")
    assert applicability(tmp_path / "in", {"engine.py": ENGINE}) == "unsafe"


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ({}, "unsafe"),
        ({"pyproject.toml": ""}, "safe"),
        ({"pyproject.toml": "", "../setup.cfg": ""}, "unsafe"),
        ({"pyproject.toml": "", "../.git/config": ""}, "unsafe"),
        ({".git/config": "", "../.git/config": ""}, "safe"),
        ({".git": "gitdir: ../.git/modules/in", "../.git/config": ""}, "unsafe"),
    ],
    ids=range(6),
)
def test_something_has_to_show_where_the_project_ends(tmp_path: Path, marks: Mapping[str, str], expected: str) -> None:
    write(tmp_path / "above/in", {"engine.py": ENGINE, "main.py": MAIN, **marks})
    task = Task(select_rules(["TPL401"], among=all_rules()), project_root="")
    [outcome] = runner.run([str(tmp_path / "above/in/engine.py")], task, jobs=1, cache=None)
    assert [each.fix.applicability.value for each in outcome.diagnostics if each.fix] == [expected]


def test_without_a_project_nothing_is_known(tmp_path: Path) -> None:
    write(tmp_path, {"engine.py": ENGINE})
    for name in ("<string>", str(tmp_path / "engine.py")):
        [found] = lint(ENGINE, filename=name, select=["TPL401"])
        assert found.fix is not None
        assert found.fix.applicability.value == "unsafe"
    outside = lint(ENGINE, filename=str(tmp_path / "engine.py"), select=["TPL401"], project_root=str(tmp_path / "other"))
    assert [each.fix.applicability.value for each in outside if each.fix] == ["unsafe"]


def test_the_reason_names_the_file_that_calls(tmp_path: Path) -> None:
    files = {
        "engine.py": "import torch\nfrom torch.autograd import Variable\n",
        "lib/main.py": "import engine\nengine.Variable(2)\n",
    }
    write(tmp_path, files)
    [found] = lint(files["engine.py"], filename=str(tmp_path / "engine.py"), project_root=str(tmp_path), select=["TPL101"])
    assert found.fix is not None
    assert found.fix.reason == "`Variable` may be used elsewhere: `lib/main.py` uses it"


@pytest.mark.parametrize(
    ("user", "verb"),
    [
        ("import engine\n\nx = engine.Variable(y)\n", "uses"),
        ("from engine import *\nfrom torch.autograd import Variable\n\nx = Variable(y)\n", "may use"),
        ("from engine import __dict__ as parts\n\nx = parts[name]\nVariable = vars()\n", "may use"),
        ("from other import Variable\n", "may use"),
    ],
)
def test_a_file_is_said_to_use_a_name_only_where_it_has_it_from_there(tmp_path: Path, user: str, verb: str) -> None:
    text = "import torch\nfrom torch.autograd import Variable\n"
    write(tmp_path, {"engine.py": text, "other.py": "import engine\n", "main.py": user})
    [found] = lint(text, filename=str(tmp_path / "engine.py"), project_root=str(tmp_path), select=["TPL101"])
    assert found.fix is not None
    assert found.fix.reason == f"`Variable` may be used elsewhere: `main.py` {verb} it"


def test_what_is_fixed_stays_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, {"engine.py": ENGINE, "main.py": MAIN})
    name = str(tmp_path / "engine.py")
    fixed = fix(ENGINE, filename=name, project_root=str(tmp_path)).text
    assert "torch.zeros(2, device=device)" in fixed
    assert fix(fixed, filename=name, project_root=str(tmp_path)).text == fixed
    assert fix(ENGINE, filename=name).text == ENGINE


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("main.py", "from engine import warm_up\n\nwarm_up(2.5)\n"),
        ("further.py", "import importlib\n\nimportlib.import_module(input())\n"),
        ("run.ipynb", notebook("%run engine.py")),
        ("pyproject.toml", '[project]\nname = "engine"\n'),
        ("sub/env/main.py", "import engine\n"),
    ],
)
def test_a_cached_fix_is_void_when_another_file_calls(tmp_path: Path, file: str, text: str) -> None:
    write(tmp_path, {"pyproject.toml": "", "engine.py": ENGINE, "main.py": MAIN})
    task = Task(select_rules(["TPL401"], among=all_rules()), project_root="")
    cache = tmp_path / ".cache"

    def found() -> list[str]:
        paths = [str(tmp_path / "engine.py"), str(tmp_path / "main.py")]
        outcomes = runner.run(paths, task, jobs=1, cache=Cache(str(cache), settings_key(("TPL401",))))
        return [each.fix.applicability.value for outcome in outcomes for each in outcome.diagnostics if each.fix]

    assert found() == found() == ["safe"]
    before = (tmp_path / file).read_text() if (tmp_path / file).exists() else None
    write(tmp_path, {file: text})
    assert found() == found() == ["unsafe"]
    (tmp_path / file).unlink() if before is None else (tmp_path / file).write_text(before)
    if file.startswith("sub/"):
        (tmp_path / "sub/env").rmdir()
    assert found() == found() == ["safe"]
