"""Layers of classes that are out of sight, in lists that ``forward`` calls: of each snippet, by the marked attribute."""

from __future__ import annotations

import ast
import textwrap

import pytest

from marked import marked
from torchlint.semantics.registration.unregistered import Unregistered, UnregisteredModules


def kept(text: str) -> Unregistered[ast.expr] | None:
    semantics, (node,) = marked(textwrap.dedent(text))
    return semantics.of(UnregisteredModules).kept.get(node)


def in_module(made: str, run: str, base: str = "nn.Module") -> Unregistered[ast.expr] | None:
    """What the marked attribute keeps of a module's constructor, which has a statement for it, and whose forward has one."""
    head = "import functools\nimport numpy as np\nfrom torch import nn\nfrom library.blocks import Block, Whole, BlockLoss\n"
    body = f"class Net({base}):\n  def __init__(self, n, parts: list[nn.Module]):\n    super().__init__()\n    {made}\n"
    return kept(f"{head}{body}  def forward(self, x):\n    {run}\n    return x\n")


BLOCKS = "«self.a» = [Block(i) for i in range(n)]"
RUN = "for a in self.a: x = a(x)"


@pytest.mark.parametrize(
    "run",
    [
        RUN,
        "x = self.a[0](x)",
        "x = [a(x) for a in self.a]",
        "for i, a in enumerate(self.a): x = x + a(x, mask=None)",
        "x = self.steps(x)\n  def steps(self, x):\n    for a in reversed(self.a): x = a(x)",
        "x = [a(x) for a in self.a[1:]]",
    ],
)
def test_forward_calls_what_another_file_made(run: str) -> None:
    found = in_module(BLOCKS, run)
    assert found is not None
    assert (found.called, found.untrained, found.parameters) == (True, False, False)


@pytest.mark.parametrize(
    "run",
    [
        "for a in self.a: a(x)",
        "for a in self.a: x = a('mean')",
        "for a in self.a: x = a(3)",
        "for a in self.a: x = a()",
        "for a in self.a: x = a.transform(x)",
        "x = [x for a in self.a]",
        "pass\n  def other(self, x):\n    for a in self.a: x = a(x)",
    ],
)
def test_what_forward_does_not_call_like_a_layer(run: str) -> None:
    assert in_module(BLOCKS, run) is None


@pytest.mark.parametrize(
    "made",
    [
        "«self.a» = [BlockLoss(i) for i in range(n)]",
        "«self.a» = [np.Polynomial(n), np.Polynomial(n)]",
        "«self.a» = [functools.partial(n), functools.partial(n)]",
        "«self.a» = [Block(n), Block(n)]\n    self.b = Whole(self.a)",
        "«self.a» = [Block(n), Block(n)]\n    self.b = nn.Sequential(*self.a)",
        "«self.a» = []\n    for p in parts: self.a.append(p)\n    self.b = nn.ModuleList(parts)",
        "«self.a» = []\n    for p in parts: self.a.append(p)\n    self.parts = parts",
        "«self.a» = []\n    for p in self.children(): self.a.append(p)",
    ],
)
def test_what_may_be_no_module_or_is_registered(made: str) -> None:
    assert in_module(made, RUN) is None


def test_modules_that_the_constructor_is_given() -> None:
    found = in_module("«self.a» = []\n    for p in parts: self.a.append(p)", RUN)
    assert found is not None
    assert found.called


def test_a_class_of_the_file_with_a_base_from_elsewhere() -> None:
    own = "\nclass Stack(Whole):\n  pass\n"
    head = "from torch import nn\nfrom library import Whole\n"
    net = "class Net(nn.Module):\n  def __init__(self):\n    super().__init__()\n    «self.a» = [Stack(1), Stack(2)]\n"
    run = "  def forward(self, x):\n    return [a(x) for a in self.a]\n"
    assert kept(f"{head}{net}{run}{own}") is not None
    assert kept(f"{head}{net}{run}\nclass Stack:\n  def __call__(self, x): return x\n") is None
    assert kept(f"{head}{net}{run}{own}  def __call__(self, x): return x\n") is None


PAIR = """
    from torch import nn
    from library import Base, Mixin

    class Block({base}):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x):
            return self.inner(x)

    class Stack(Base):
        def __init__(self):
            super().__init__()
            «self.a» = [nn.Linear(2, 2), nn.Linear(2, 2)]

        def forward(self, x):
            return [a(x) for a in self.a]
    """


def test_a_base_from_elsewhere_is_a_module_where_another_class_shows_it() -> None:
    found = kept(PAIR.format(base="Base"))
    assert found is not None
    assert found.untrained
    assert kept(PAIR.format(base="Base, Mixin")) is None
    assert kept(PAIR.format(base="nn.Module")) is None


@pytest.mark.parametrize(
    ("filling", "is_found"),
    [
        ("self.a.append(b)\n      if n: self.c = Whole(part=b)", True),
        ("if n: self.a.append(b)\n      else: self.c = Whole(part=b)", True),
        ("if n: self.c = b\n      else: self.c = Whole(part=b)\n      self.a.append(b)", False),
        ("if n: self.add_module(str(i), b)\n      if n: self.a.append(b)", False),
        ("self.a.append(b)\n      self.add_module(str(i), b)", False),
    ],
)
def test_a_module_that_one_branch_registers(filling: str, is_found: bool) -> None:
    made = f"«self.a» = []\n    for i in range(n):\n      b = Block(i)\n      {filling}"
    assert (in_module(made, RUN) is not None) == is_found


@pytest.mark.parametrize(
    ("use", "is_found"),
    [
        ("for a in net.a: a.cuda()", True),
        ("net.a[0].to('cuda')", True),
        ("for a in net.a: a.cuda().eval()", False),
        ("for a in net.a: a.eval()", False),
        ("apart = torch.optim.SGD(net.a[0].parameters())", False),
        ("net.a[0].cuda()\nnet.b = net.a[0]", False),
    ],
)
def test_moved_from_outside(use: str, is_found: bool) -> None:
    text = (
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n  def __init__(self):\n    super().__init__()\n"
        "    «self.a» = [nn.Linear(2, 2), nn.Linear(2, 2)]\n  def forward(self, x):\n    return self.a[0](x)\n"
        f"net = Net()\n{use}\n"
    )
    assert (kept(f"{text}torch.optim.SGD(net.parameters(), lr=0.1)\n") is not None) == is_found
    assert kept(text) is None
