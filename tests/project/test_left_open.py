"""What one file leaves to another one to tell: values that pass through several files, templates, factories, mixins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint
from torchlint.project.files import Files, still_hold
from torchlint.project.questions import is_about

NETS = """
    import torch
    from torch import nn

    def logits_of(x):
        return torch.sqrt(x)

    def pages_of(x):
        return x.pages

    class Net(nn.Module):
        def forward(self, x):
            return torch.sqrt(x)

        def hidden(self, x):
            return torch.sqrt(x)

    class Other(nn.Module):
        def forward(self, x):
            return torch.sqrt(x)

    class Pages:
        def hidden(self, x):
            return x.pages

    class Raw:
        def hidden(self, x):
            return torch.sqrt(x)
"""

MAKING = """
    import torch
    from typing import Type
    from .nets import Net, Other, Pages, logits_of, pages_of
    from .nets import Net as Renamed
    from . import here_and_back
    from . import nets

    def logits(x):
        return logits_of(x)

    def pages(x):
        return pages_of(x)

    def pair(x):
        found = logits_of(x)
        return found, pages_of(x)

    def round_about(x):
        return here_and_back.round_about(x)

    def either(x, flag):
        return logits_of(x) if flag else pages_of(x)

    def both(x, flag):
        if flag:
            return logits_of(x)
        return nets.logits_of(x)

    def local(x):
        logits_of = x.pages
        return logits_of(x)

    def net() -> Net:
        return make_it()

    def moved(x, device=None, *rest):
        if device is not None:
            x = x.to(device)
        return x

    def both_moved(x, y):
        return x.cuda(), y.cuda()

    def changed(x):
        if x:
            x = x.pages
        return x

    def declared(name) -> torch.nn.Module:
        return unknown(name)

    def chosen(name):
        table = {"one": Net, "two": nets.Other}
        if name not in table:
            raise ValueError(name)
        kind = table[name]
        return kind(3)

    def gotten(name):
        table = {"one": Net, "two": nets.Other}
        return table.get(name)(3)

    def mixed(name):
        table = {"one": Net, "two": Pages}
        return table[name](3)

    class Base:
        policy_class: Type[Net]

        def __init__(self, kind: Type[Net], other: Net, options):
            self.kind = kind
            self.net = None
            self.net = self.kind(2)
            self.other = other
            self.either = Net()
            if options:
                self.either = Pages()

        def build(self, name):
            if name == "one":
                return self.build_one()
            if name == "two":
                return self.build_two()
            raise ValueError(name)

        def build_one(self):
            raise NotImplementedError

        def build_two(self):
            raise NotImplementedError

        def run(self, x):
            return self.net.hidden(x)

        def help(self, x):
            return self.helped(x)

        def helped(self, x):
            return logits_of(x)

    class Factory(Base):
        def build_one(self):
            return Renamed()

        def build_two(self):
            return Other()

    class Half(Base):
        def build_one(self):
            return Net()

        def build_two(self):
            return unknown()

    class Above(Net):
        def hidden(self, x):
            return super().hidden(x)

    class Above2(Pages):
        def hidden(self, x):
            return super().hidden(x)

    def factory(name):
        found = Factory(1, 2, 3)
        return found.build(name)
"""

BACK = """
    import torch
    from . import making

    def round_about(x):
        return making.round_about(x)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    package = tmp_path / "net"
    package.mkdir()
    write(package, {"__init__": "", "nets": NETS, "making": MAKING, "here_and_back": BACK})
    return package


def write(package: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (package / f"{name}.py").write_text(dedent(text))


def found(project: Path, body: str, *, rule: str) -> int:
    """How often a rule reports something in a file that imports from another one."""
    text = f"import torch\nfrom . import making\nfrom .nets import Pages, Raw\n\n{dedent(body)}\n"
    file = project / "here.py"
    file.write_text(text)
    return len(lint(text, filename=str(file), select=[rule], project_root=str(project.parent)))


@pytest.mark.parametrize(
    "value",
    [
        "making.logits(x)",
        "making.pair(x)[0]",
        "making.both(x, x)",
        "making.Base(1, 2, 3).run(x)",
        "making.Base(1, 2, 3).help(x)",
        "making.Above().hidden(x)",
        "making.Base(1, 2, 3).net.hidden(x)",
        "making.moved(torch.zeros(2), x)",
        "making.moved(device=x, x=torch.zeros(2))",
        "making.both_moved(x, torch.zeros(2))[1]",
        "making.moved(making.Net())(x)",
    ],
)
def test_tensor_comes_through_several_files(project: Path, value: str) -> None:
    assert found(project, f"def f(x):\n    return {value}.data", rule="TPL002") == 1


@pytest.mark.parametrize(
    "value",
    [
        "making.pages(x)",
        "making.pair(x)[1]",
        "making.round_about(x)",
        "making.either(x, x)",
        "making.local(x)",
        "making.Above2().hidden(x)",
        "making.Base(1, 2, 3).either.hidden(x)",
        "making.Base(1, 2, 3).kind",
        "making.Base(1, 2, 3).missing(x)",
        "making.moved(x, torch.zeros(2))",
        "making.moved(*[torch.zeros(2)])",
        "making.both_moved(x, torch.zeros(2))[0]",
        "making.changed(torch.zeros(2))",
    ],
)
def test_what_none_of_the_files_knows_tells_nothing(project: Path, value: str) -> None:
    assert found(project, f"def f(x):\n    return {value}.data", rule="TPL002") == 0


@pytest.mark.parametrize(
    ("value", "times"),
    [
        ("making.factory('one')", 1),
        ("making.Factory(1, 2, 3).build('one')", 1),
        ("making.Half(1, 2, 3).build('one')", 0),
        ("making.Base(1, 2, 3).build('one')", 0),
        ("making.net()", 1),
        ("making.declared('one')", 1),
        ("making.chosen('one')", 1),
        ("making.gotten('one')", 1),
        ("making.mixed('one')", 0),
        ("making.moved(making.Net())", 1),
        ("making.Base(1, 2, 3).other", 1),
        ("making.Base(1, 2, 3).either", 0),
    ],
)
def test_module_is_made_by_a_template_that_others_fill_in(project: Path, value: str, times: int) -> None:
    assert found(project, f"def f(x):\n    net = {value}\n    return net.forward(x)", rule="TPL302") == times


@pytest.mark.parametrize(
    ("body", "times"),
    [
        ("def f(self, x):\n        return self.net.forward(x)", 1),
        ("def g(self, x):\n        return self.kind(3).forward(x)", 1),
        ("def g(self, x):\n        made = self.policy_class(3)\n        return made.forward(x)", 1),
        ("def f(self, x):\n        self.kind = Pages\n        return self.kind(3).forward(x)", 0),
        ("def build_one(self):\n        return Pages()\n\n    def f(self, x):\n        return self.build('one').forward(x)", 0),
        (
            "def build_one(self):\n        return torch.nn.Linear(2, 2)\n\n"
            "    def build_two(self):\n        return making.Other()\n\n"
            "    def f(self, x):\n        return self.build('one').forward(x)",
            1,
        ),
    ],
)
def test_class_of_the_file_fills_in_what_its_base_leaves_open(project: Path, body: str, times: int) -> None:
    assert found(project, f"class Mine(making.Base):\n    {body}", rule="TPL302") == times


def test_helper_that_the_file_overrides_is_the_one_that_runs(project: Path) -> None:
    body = (
        "class Mine(making.Base):\n    def helped(self, x):\n        return {}\n\n"
        "    def f(self, x):\n        return self.help(x).data"
    )
    assert found(project, body.format("x.pages"), rule="TPL002") == 0
    assert found(project, body.format("torch.exp(x)"), rule="TPL002") == 1


NN = "from torch import nn\nfrom .here import {}\n"
MIXIN = "class Steps:\n    def step(self, batch):\n        return self.forward(batch)\n"


@pytest.mark.parametrize(
    ("mixin", "heirs", "times"),
    [
        (MIXIN, NN.format("Steps") + "class Net(Steps, nn.Module):\n    pass\n", 1),
        (MIXIN, "from torch import nn\nfrom . import here\nclass Net(here.Steps, nn.Module):\n    pass\n", 1),
        (MIXIN, "from .here import Steps\nclass Net(Steps):\n    def forward(self, x):\n        return x\n", 0),
        (MIXIN, "class Net:\n    pass\n", 0),
        (
            MIXIN,
            NN.format("Steps") + "class Net(Steps, nn.Module):\n    pass\nclass Plain(Steps):\n    pass\n",
            0,
        ),
        (MIXIN, "from torch import nn\nfrom .nets import Pages as Steps\nclass Net(Steps, nn.Module):\n    pass\n", 0),
        (
            MIXIN + "class More(Steps):\n    pass\n",
            "from torch import nn\nfrom .here import More\nclass Net(More, nn.Module):\n    pass\n",
            1,
        ),
        (
            MIXIN + "class Others:\n    def step(self, batch):\n        return self.forward(batch)\n",
            NN.format("Steps") + "class Net(Steps, nn.Module):\n    pass\n",
            2,
        ),
        (
            MIXIN + "    def forward(self, batch):\n        return batch\n",
            NN.format("Steps") + "class Net(Steps, nn.Module):\n    pass\n",
            0,
        ),
        (
            MIXIN,
            NN.format("Steps") + "class Between(Steps):\n    pass\nclass Net(Between, nn.Module):\n    pass\n",
            0,  # in one file
        ),
        (
            MIXIN,
            NN.format("Steps") + "class Net(Steps, nn.Module):\n    def __call__(self, x):\n        return x\n",
            0,
        ),
    ],
)
def test_class_is_mixed_into_the_modules_of_other_files(project: Path, mixin: str, heirs: str, times: int) -> None:
    write(project, {"heirs": heirs})
    assert found(project, mixin, rule="TPL302") == times


def test_what_names_a_class_holds_until_another_file_does(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    write(tmp_path, {"here": MIXIN, "heirs": "from here import Steps\n", "others": "import os\n"})
    files, main = Files(), str(tmp_path / "here.py")
    reading = files.reading(main)
    assert [Path(each).stem for each in reading.naming("Steps", ("here", "Steps"))] == ["heirs"]
    assert [is_about(asked) for asked, _ in reading.answers] == ["", ""]
    write(tmp_path, {"heirs": "from here import Steps\nclass Net(Steps):\n    pass\n"})
    files.look_again()
    assert still_hold(files, main, reading.answers)
    write(tmp_path, {"others": "import here\nclass Other(here.Steps):\n    pass\n"})
    files.look_again()
    assert not still_hold(files, main, reading.answers)


def test_what_something_gives_is_a_question_about_its_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    write(tmp_path, {"here": "", "nets": NETS})
    reading = Files().reading(str(tmp_path / "here.py"))
    reading.given(str(tmp_path / "nets.py"), "logits_of")
    assert [is_about(asked) for asked, _ in reading.answers] == ["", "nets.py"]
