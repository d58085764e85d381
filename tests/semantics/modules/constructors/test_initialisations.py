"""Constructors of modules: what is known of the marked node."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from marked import marked
from torchlint.semantics import Semantics
from torchlint.semantics.modules.constructors.initialisations import (
    Initialisations,
    InitialisedLate,
    MentionedInit,
    NeverInitialised,
)

Found = InitialisedLate[ast.stmt] | NeverInitialised[ast.stmt] | MentionedInit | None


def module(constructor: str, bases: str = "nn.Module", more: str = "") -> str:
    """A file with a module that is made so."""
    return f"from torch import nn\n{more}class Net({bases}):\n    def __init__(self, size, layer=None):\n" + indent(
        constructor, " " * 8
    )


def found(snippet: str) -> Found:
    """What is known of the marked expression; the analysis finds nothing else."""
    semantics, (node,) = marked(snippet)
    wrong = semantics.of(Initialisations).wrong
    assert set(wrong) <= {node}
    return wrong.get(node)


SUPER = "super().__init__()"
MADE = "«self.fc» = nn.Linear(size, 2)"


@pytest.mark.parametrize(
    ("constructor", "moves"),
    [
        (f"{MADE}\n{SUPER}", f"{SUPER} < self.fc = nn.Linear(size, 2)"),
        (f"size = 2\n{MADE}\nnn.Module.__init__(self)", "nn.Module.__init__(self) < self.fc = nn.Linear(size, 2)"),
        (f"if size:\n    {MADE}\n{SUPER}", f"{SUPER} < if size:"),
        (f"«self.register_buffer('mean', size)»\n{SUPER}", f"{SUPER} < self.register_buffer('mean', size)"),
        (f"«self.w» = nn.Parameter(size)\nself.fc = nn.Linear(2, 2)\n{SUPER}", f"{SUPER} < self.w = nn.Parameter(size)"),
        (f"{MADE}\nif size:\n    {SUPER}", None),  # which is not called in any case
        (f"{MADE}\nwidth = size\nsuper().__init__(width)", None),
        (f"{MADE}\nsuper().__init__(self.fc)", None),
        (f"if size:\n    {MADE}\n    {SUPER}\nelse:\n    {SUPER}", None),
    ],
)
def test_what_is_used_before_the_base_class_is_initialised(constructor: str, moves: str | None) -> None:
    late = found(module(constructor))
    assert isinstance(late, InitialisedLate)
    assert late.owner == "Net"
    if moves is None:
        assert (late.initialising, late.before) == (None, None)
    else:
        assert late.initialising is not None and late.before is not None
        assert moves == f"{ast.unparse(late.initialising)} < {ast.unparse(late.before).splitlines()[0]}"


PARENT = "class Parent(nn.Module):\n    def __init__(self, size{default}):\n        super().__init__()\n"


@pytest.mark.parametrize(
    ("bases", "more", "takes_arguments"),
    [
        ("nn.Module", "", False),
        ("nn.Sequential", "", False),
        ("pl.LightningModule", "import pytorch_lightning as pl\n", False),
        ("nn.Linear", "", True),
        ("Parent", PARENT.format(default=""), True),
        ("Parent", PARENT.format(default="=1"), False),
    ],
)
def test_what_is_used_where_it_never_is(bases: str, more: str, takes_arguments: bool) -> None:
    never = found(module(f"self.size = size\n{MADE}", bases, more))
    assert isinstance(never, NeverInitialised)
    assert never.takes_arguments is takes_arguments
    assert isinstance(never.constructor, ast.FunctionDef)


def test_a_module_that_uses_nothing_can_still_not_be_called() -> None:
    text = "from torch import nn\nclass Loss(nn.Module):\n    def __init__(self, margin):\n        self.margin = margin\n"
    assert Semantics(ast.parse(text)).of(Initialisations).wrong == {}
    called = Semantics(ast.parse(text + "    def forward(self, x):\n        return x\n")).of(Initialisations).wrong
    assert [node.arg for node in called if isinstance(node, ast.arg)] == ["self"]
    to_be_written = Semantics(ast.parse(text + "    def forward(self, x):\n        pass\n")).of(Initialisations).wrong
    assert to_be_written == {}


def test_the_call_without_its_parentheses() -> None:
    assert isinstance(found(module("«super().__init__»\nself.fc = nn.Linear(2, 2)")), MentionedInit)


@pytest.mark.parametrize(
    "snippet",
    [
        module(f"{SUPER}\n{MADE}"),
        module(f"if layer is None:\n    {SUPER}\nelse:\n    {SUPER}\n{MADE}"),
        module(f"self.prepare()\n{MADE}\ndef prepare(self):\n    {SUPER}").replace("        def", "    def"),
        module(f"«self.size» = size\n{SUPER}"),
        module(f"«self.layer» = layer\n{SUPER}"),  # may be None
        module(f"self.__dict__['a'] = size\n{MADE}"),
        module(MADE, "Base", "from elsewhere import Base\n"),
        module(MADE, "nn.Module, metaclass=Meta", "from elsewhere import Meta\n"),
        module(MADE, "object"),
        module(MADE).replace("class Net", "@dataclass\nclass Net"),
        module(MADE) + "\nnet = Other()\nNet.__init__(net, 2)\n",
    ],
)
def test_what_is_made_in_time_or_in_a_way_that_is_not_known(snippet: str) -> None:
    assert found(snippet) is None
