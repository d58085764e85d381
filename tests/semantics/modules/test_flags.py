"""Whether `requires_grad` means nothing to what it is set on: of each snippet, the marked owner and value."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.modules.flags import ModuleFlags

BEFORE = """
import torch
import torch.nn as nn
from lib import build, unknown
"""


def means_nothing(text: str) -> bool:
    semantics, (owner, value) = marked(BEFORE + text)
    return semantics.of(ModuleFlags).mean_nothing(owner, value)


def within(methods: str, bases: str = "nn.Module") -> str:
    """A class with a layer, and some more in its body."""
    constructor = "    def __init__(self):\n        super().__init__()\n        self.layer = nn.Linear(2, 2)\n"
    return f"class Net({bases}):\n{constructor}{methods}\n"


@pytest.mark.parametrize(
    "text",
    [
        "net = nn.Linear(2, 2)\n«net».requires_grad = «False»",
        "net = nn.Sequential(nn.Linear(2, 2))\nsetattr(«net[0]», 'requires_grad', «flag»)",
        "net = build()\nnet.eval()\n«net».requires_grad = «False»",
        "for child in nn.Linear(2, 2).children():\n    «child».requires_grad = «True»",
        within("    def freeze(self):\n        «self».requires_grad = «False»"),
        within("    def freeze(self):\n        «self.layer».requires_grad = «False»"),
        "def f(x):\n    x.eval()\n    if isinstance(x, nn.Linear):\n        «x».requires_grad = «False»",
    ],
)
def test_modules_have_no_such_flag(text: str) -> None:
    assert means_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "w = torch.zeros(3)\n«w».requires_grad = «True»",
        "net = nn.Linear(2, 2)\n«net.weight».requires_grad = «False»",
        "for p in nn.Linear(2, 2).parameters():\n    «p».requires_grad = «False»",
        # the flag is the author's own
        "net = nn.Linear(2, 2)\n«net».requires_grad = «False»\nprint(net.requires_grad)",
        within("    requires_grad = True\n    def freeze(self):\n        «self».requires_grad = «False»"),
        within("    def __setattr__(self, name, value): ...\n    def freeze(self):\n        «self».requires_grad = «False»"),
        "class Net(nn.Linear):\n    def __init__(self, grad):\n        «self».requires_grad = «grad»",
        "class Empty(nn.Module):\n    def freeze(self):\n        «self».requires_grad = «False»",
        # the code asks what it is
        "def f(x):\n    x.eval()\n    if isinstance(x, nn.Module): pass\n    else: «x».requires_grad = «False»",
        "def f(x):\n    x.eval()\n    if isinstance(x, torch.Tensor):\n        «x».requires_grad = «False»",
        "net = nn.Linear(2, 2)\ntry:\n    pass\nexcept ValueError:\n    «net».requires_grad = «False»",
    ],
)
def test_other_things_may_have_one(text: str) -> None:
    assert not means_nothing(text)


@pytest.mark.parametrize("text", ["«unknown».requires_grad = «False»", "x = build()\n«x».requires_grad = «False»"])
def test_what_is_unknown_may_have_one(text: str) -> None:
    assert not means_nothing(text)


@pytest.mark.parametrize(
    ("text", "is_beside"),
    [
        ("for p in net.parameters():\n    p.requires_grad = False\n«net».requires_grad = «False»", True),
        ("«net.body».requires_grad = «True»\nfor w in net.body.parameters(): w.requires_grad = True", True),
        ("for p in net.parameters():\n    p.requires_grad = True\n«net».requires_grad = «False»", False),
        ("for p in net.head.parameters():\n    p.requires_grad = False\n«net».requires_grad = «False»", False),
        ("for p in net.parameters():\n    if p.dim() > 1: p.requires_grad = False\n«net».requires_grad = «False»", False),
        ("def f(net):\n    for p in net.parameters(): p.requires_grad = False\n«net».requires_grad = «False»", False),
        ("for p in net.parameters():\n    p.requires_grad = flag\n«net».requires_grad = «flag»", False),
    ],
)
def test_a_loop_beside_sets_the_flag_of_the_parameters(text: str, is_beside: bool) -> None:
    semantics, (owner, value) = marked(BEFORE + "net = build()\n" + text)
    assert semantics.of(ModuleFlags).is_set_beside(owner, value) is is_beside
