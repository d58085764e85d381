"""What sequences of layers begin and end with: of each snippet, what is known of the marked expression."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from marked import marked
from torchlint.semantics.sequences.ends import SequenceEnds

HEADER = """\
from collections import OrderedDict
import torch.nn as nn
"""


def ends(snippet: str) -> tuple[list[str], list[str]]:
    semantics, (node,) = marked(HEADER + dedent(snippet))
    assert isinstance(node, ast.expr)
    found = semantics.of(SequenceEnds)
    return [ast.unparse(each) for each in found.first(node)], [ast.unparse(each) for each in found.last(node)]


@pytest.mark.parametrize(
    ("made", "first", "last"),
    [
        ("nn.Sequential(nn.Linear(2, 3), nn.ReLU())", "nn.Linear(2, 3)", "nn.ReLU()"),
        ("nn.Sequential(nn.Flatten(), *layers, nn.Sigmoid())", "nn.Flatten()", "nn.Sigmoid()"),
        ("nn.Sequential(nn.Sequential(nn.Linear(2, 3), nn.Tanh()), nn.ReLU())", "nn.Linear(2, 3)", "nn.ReLU()"),
        ("nn.Sequential(nn.Flatten(), nn.Sequential(nn.Linear(2, 3), nn.Tanh()))", "nn.Flatten()", "nn.Tanh()"),
        ("nn.Sequential(OrderedDict([('a', nn.Flatten()), ('b', nn.ReLU())]))", "nn.Flatten()", "nn.ReLU()"),
    ],
)
def test_ends_of_what_is_written_out(made: str, first: str, last: str) -> None:
    assert ends(f"net = {made}\n«net»(x)") == ([first], [last])


@pytest.mark.parametrize(
    "made",
    [
        "nn.Sequential()",
        "nn.Sequential(*layers)",
        "nn.Sequential(layer)",
        "nn.Sequential(OrderedDict(layers))",
        "nn.Sequential(OrderedDict([*layers]))",
        "nn.Sequential(OrderedDict([pair]))",
        "nn.Sequential(nn.Sequential())",
        "nn.ModuleList([nn.ReLU()])",
        "build()",
        "nn.Sequential(nn.Tanh()) if deep else build()",
    ],
)
def test_what_is_not_written_out(made: str) -> None:
    assert ends(f"net = {made}\n«net»(x)") == ([], [])


def in_class(lines: str, elsewhere: str = "") -> str:
    return (
        "class Block(nn.Module):\n    def __init__(self, deep):\n        super().__init__()\n"
        + indent(lines, " " * 8)
        + "\n    def forward(self, x):\n        return «self.body»(x)\n"
        + elsewhere
    )


def test_an_attribute_may_be_one_of_several() -> None:
    lines = "if deep:\n    self.body = nn.Sequential(nn.Flatten(), nn.ReLU())\nelse:\n    self.body = nn.Sequential(nn.Tanh())"
    assert ends(in_class(lines)) == (["nn.Flatten()", "nn.Tanh()"], ["nn.ReLU()", "nn.Tanh()"])


@pytest.mark.parametrize(
    ("lines", "elsewhere"),
    [
        ("self.body = nn.Sequential(nn.ReLU())\nself.body.append(nn.Flatten())", ""),
        ("self.body = nn.Sequential(nn.ReLU())\nself.body.add_module('last', nn.Flatten())", ""),
        ("self.body = nn.Sequential(nn.ReLU())\nself.body[0] = nn.Flatten()", ""),
        ("self.body = nn.Sequential(nn.ReLU())\nself.body = deep", ""),
        ("self.body, self.head = nn.Sequential(nn.ReLU()), deep", ""),
        ("self.body = nn.Sequential(nn.ReLU())", "block = Block(1)\nblock.body = nn.Identity()\n"),
        (
            "self.body = nn.Sequential(nn.ReLU())",
            "class Other(Block):\n    def __init__(self):\n        super().__init__(1)\n        self.body = nn.Identity()\n",
        ),
        ("pass", ""),
    ],
)
def test_what_gets_other_layers(lines: str, elsewhere: str) -> None:
    assert ends(in_class(lines, elsewhere)) == ([], [])
