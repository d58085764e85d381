"""Who may read annotations and names."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.variables.readers import Readers

IMPORTS = "import torch\nimport torch.nn as nn\nfrom dataclasses import dataclass\nfrom torch.autograd import Variable\n"


def doubt(text: str) -> str:
    semantics, [node] = marked(IMPORTS + text)
    return semantics.of(Readers).is_inert(node).doubt


@pytest.mark.parametrize(
    "text",
    [
        "def f(x: «Variable»): pass",
        "def f(x) -> «Variable»: pass",
        "def f(*, x: Optional[«Variable»] = None): pass",
        "x: «Variable» = y",
        "class A(nn.Module):\n    def forward(self, x: «Variable»): pass",
        "class A(nn.Module): pass\nclass B(A):\n    @torch.no_grad()\n    def f(self, x: «Variable»): pass",
        "@dataclass\nclass A:\n    x: «Variable»",
        "class A:\n    @property\n    def x(self) -> «Variable»: pass\n    @x.setter\n    def x(self, value): pass",
    ],
)
def test_nobody_reads_it(text: str) -> None:
    assert doubt(text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@own\ndef f(x: «Variable»): pass", "`@own` may read the annotations"),
        ("@own.register(int)\ndef f(x: «Variable»): pass", "`@own.register` may read the annotations"),
        ("from typing import get_type_hints\ndef f(x: «Variable»): pass", "the program may read the annotations"),
        ("print(f.__annotations__)\ndef f(x: «Variable»): pass", "the program may read the annotations"),
        ("class A(Own):\n    def f(self, x: «Variable»): pass", "what `A` is made of may read its annotations"),
        ("class A(metaclass=Own):\n    x: «Variable»", "what `A` is made of may read its annotations"),
        ("@own\nclass A:\n    x: «Variable»", "what `A` is made of may read its annotations"),
        ("print(«Variable»)", "the program may look at the class"),
    ],
)
def test_somebody_may_read_it(text: str, expected: str) -> None:
    assert doubt(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from torch.autograd import Variable", "another file may import the name from this one"),
        ("def f():\n    from torch.autograd import Variable", ""),
        ("from torch.autograd import Variable\nloss.backward()", ""),
        (
            "def f():\n    from torch.autograd import Variable\n    exec(x)",
            "code that is executed from a string may use the name",
        ),
        ("class A:\n    from torch.autograd import Variable", "another file may import the name from this one"),
    ],
)
def test_names(text: str, expected: str) -> None:
    semantics, _ = marked(text)
    assert semantics.of(Readers).is_nobodys(semantics.tree.of_type(ast.alias)[0]).doubt == expected
