"""What functions, methods and attributes of other files give: tensors, modules, tuples and dicts of these, by their code."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint

THERE = """
    import functools
    import torch
    import torch.nn.functional as F
    from torch import nn

    def mask_of(lengths, like=None):
        mask = torch.arange(lengths.max()) >= lengths.unsqueeze(-1)
        if like is not None:
            mask = mask.to(like.device)
        return mask

    def same(x):
        return x

    def used_as_given():
        return same(torch.zeros(2))

    def either(x, flag):
        if flag:
            return [1, 2]
        return torch.sum(x)

    def unknown_or(x, flag):
        if flag:
            return x.pages
        return torch.sum(x)

    def rebound(x):
        found = torch.sum(x)
        for part in x:
            found = part.pages
        return found

    def perhaps(x):
        if x is None:
            return None
        return torch.sum(x)

    def each(x):
        yield torch.sum(x)

    @functools.partial(print)
    def decorated(x):
        return torch.sum(x)

    async def awaited(x):
        return torch.sum(x)

    def twice(x):
        return torch.sum(x)

    if same:
        def twice(x):
            return [x]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.scales = nn.ParameterDict()
            self.register_parameter(name="bias", parameter=nn.Parameter(torch.zeros(2)))
            self.register_buffer("counts", torch.zeros(2))
            self.either = torch.zeros(2)
            if len(self.scales):
                self.either = []

        def forward(self, x):
            hidden = self.fc(x)
            return {"hidden": hidden, "mask": None}

        def parts(self, x):
            return torch.sqrt(x), [x]

        def helped(self, x):
            return self.help(x)

        def help(self, x):
            return torch.sqrt(x)

        @property
        def scale(self):
            return torch.exp(self.bias)

        def plain(self):
            return torch.exp(self.bias)

    class Other(Net):
        def help(self, x):
            return [x]

    class Odd(Net):
        def __call__(self, x):
            return [x]

    class Reader:
        def read(self, path):
            return torch.load(path)["x"].pages

        def tensor(self, path):
            return torch.zeros(3)

        def close(self):
            return 1

    class Trainer:
        def __init__(self, options):
            self.net = self.make_net()
            if options.parallel:
                self.net = nn.DataParallel(self.net)
            self.loss = self.make_loss()
            self.loss = options.loss

        def make_net(self):
            raise NotImplementedError

        def make_loss(self):
            raise NotImplementedError
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    package = tmp_path / "net"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "there.py").write_text(dedent(THERE))
    return package


def found(project: Path, body: str, *, rule: str = "TPL002") -> int:
    """How often a rule reports something in a file that imports from another one."""
    text = f"import torch\nfrom torch import nn\nfrom . import there\nfrom .there import *\n\n{dedent(body)}\n"
    file = project / "here.py"
    file.write_text(text)
    return len(lint(text, filename=str(file), select=[rule], project_root=str(project.parent)))


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    return there.mask_of(x).data",
        "from .there import mask_of\ndef f(x):\n    masks = 1 - mask_of(x)\n    return masks.data",
        "def f(x):\n    net = there.Net()\n    return net(x)['hidden'].data",
        "def f(x):\n    root, rest = there.Net().parts(x)\n    return root.data",
        "def f(x):\n    return there.Net().helped(x).data",
        "def f():\n    net = there.Net()\n    return net.scale.data",
        "def f():\n    return there.Net().plain().data",
        "def f():\n    return there.Odd().bias.data",
        "def f():\n    return there.Net().counts.data",
        "def f(path):\n    reader = there.Reader()\n    reader.close()\n    return reader.tensor(path).data",
        "class Mine(there.Net):\n    def f(self, x):\n        return self.helped(x).data",
        "class Mine(there.Net):\n    def f(self, x):\n        return self.parts(x)[0].data",
        "class Mine(there.Net):\n    def f(self):\n        return self.fc(torch.zeros(2)).data",
        "def f(net: there.Net):\n    return net.plain().data",
    ],
)
def test_tensor_that_another_file_makes_is_known(project: Path, body: str) -> None:
    assert found(project, body) == 1


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    return there.same(x).data",
        "def f(x):\n    return there.used_as_given().data",
        "def f(x):\n    return there.either(x, True).data",
        "def f(x):\n    return there.unknown_or(x, True).data",
        "def f(x):\n    return there.rebound(x).data",
        "def f(x):\n    return there.perhaps(x).data",
        "def f(x):\n    return there.each(x).data",
        "def f(x):\n    return there.decorated(x).data",
        "def f(x):\n    return there.awaited(x).data",
        "def f(x):\n    return there.twice(x).data",
        "def f(x):\n    return there.Net()(x)['mask'].data",
        "def f(x):\n    return there.Net()(x)['other'].data",
        "def f(x):\n    return there.Net().parts(x)[1].data",
        "def f(x):\n    return there.Other().helped(x).data",
        "def f(x):\n    return there.Odd()(x)['hidden'].data",
        "def f():\n    return there.Net().plain.data",
        "def f():\n    return there.Net().scale().data",
        "def f():\n    return there.Net().either.data",
        "def f(path):\n    return there.Reader().read(path).data",
        "def f(path):\n    reader = there.Reader()\n    reader.tensor = path.read\n    return reader.tensor(path).data",
        "def f(path, flag):\n    value = there.Reader().tensor(path) if flag else path.page\n    return value.data",
        "class Mine(there.Net):\n    def help(self, x):\n        return [x]\n\n"
        "    def f(self, x):\n        return self.helped(x).data",
        "class Mine(there.Net):\n    def parts(self, x):\n        return x\n\n"
        "    def f(self, x):\n        return self.parts(x)[0].data",
        "there.mask_of = lambda x: x\ndef f(x):\n    mask_of = x.page\n    return mask_of(x).data",
    ],
)
def test_what_may_be_anything_else_tells_nothing(project: Path, body: str) -> None:
    assert found(project, body) == 0


def test_model_that_a_base_keeps_is_what_the_method_makes(project: Path) -> None:
    method = "    def run(self, x):\n        return self.{name}.forward(x)\n"
    made = "    def make_{name}(self):\n        return nn.Linear(2, 2)\n"
    assert found(project, "class Mine(there.Trainer):\n" + (made + method).format(name="net"), rule="TPL302") == 1
    assert found(project, "class Mine(there.Trainer):\n" + (made + method).format(name="loss"), rule="TPL302") == 0
    other = "    def make_net(self):\n        return unknown.make()\n"
    assert found(project, "class Mine(there.Trainer):\n" + other + method.format(name="net"), rule="TPL302") == 0
    stored = "    def __init__(self, net):\n        self.net = net\n"
    body = "class Mine(there.Trainer):\n" + stored + (made + method).format(name="net")
    assert found(project, body, rule="TPL302") == 0


def test_module_of_another_file_is_saved_whole_by_its_annotation(project: Path) -> None:
    body = "class Result:\n    net: {}\n    def save(self, path):\n        torch.save(self.net, path)\n"
    assert found(project, body.format("there.Net"), rule="TPL503") == 1
    assert found(project, body.format("there.Odd"), rule="TPL503") == 1
    assert found(project, body.format("there.Reader"), rule="TPL503") == 0


def test_torch_is_known_that_another_file_hands_on(project: Path) -> None:
    (project / "torch_core.py").write_text("from torch import FloatTensor\nfrom .own import *\n")
    (project / "own.py").write_text("class LongTensor:\n    pass\n")
    text = "from .torch_core import *\n\na = FloatTensor(3, 4)\nb = LongTensor(3, 4)\n\n"
    text += "def f(x: FloatTensor):\n    return x.data\n"
    file = project / "here.py"
    file.write_text(text)
    every = lint(text, filename=str(file), select=["TPL105", "TPL002"], project_root=str(project.parent))
    assert [(each.code, each.location.row) for each in every] == [("TPL105", 3)]
