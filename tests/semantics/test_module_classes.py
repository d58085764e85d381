"""Which classes are modules for sure, whether all of their bases are known, and what initialises them."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.modules.classes import ModuleClasses


def classes(snippet: str) -> tuple[ModuleClasses, list[ast.ClassDef]]:
    semantics = Semantics(ast.parse(dedent(snippet)))
    return ModuleClasses(semantics), [node for node in semantics.tree.nodes if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize(
    "snippet",
    [
        "class A(nn.Module): pass",
        "import lightning as L\nclass A(L.LightningModule): pass",
        "class B(nn.Linear): pass\nclass A(B): pass",
        "class A(Base):\n def forward(self, x): return self.training",
        "class A(Base):\n def forward(self, x): return x\n def all(self): return list(self.parameters())",
        "class A(Base):\n def __init__(self):\n  super().__init__()\n  self.fc = nn.Linear(2, 2)\n def forward(self, x): pass",
    ],
)
def test_is_a_module_for_sure(snippet: str) -> None:
    found, definitions = classes(snippet)
    assert found.is_sure(definitions[-1])


@pytest.mark.parametrize(
    "snippet",
    [
        "class A: pass",
        "class A(Base):\n def forward(self, x): return x",
        "class A(Base):\n def __init__(self):\n  self.fc = nn.Linear(2, 2)\n def forward(self, x): pass",
        "class A(Base):\n def forward(self, x): return self.parameters()\n def parameters(self): return []",
        "class A(Base):\n def __init__(self): self.training = True\n def forward(self, x): return self.training",
    ],
)
def test_may_be_something_else(snippet: str) -> None:
    found, definitions = classes(snippet)
    assert not found.is_sure(definitions[-1])


@pytest.mark.parametrize(
    ("snippet", "known"),
    [
        ("class A(nn.Module): pass", True),
        ("import abc\nclass A(nn.Module, abc.ABC): pass", True),
        ("from typing import Generic, TypeVar\nT = TypeVar('T')\nclass A(nn.Module, Generic[T]): pass", True),
        ("import pytorch_lightning as pl\nclass A(pl.LightningModule): pass", True),
        ("class A(nn.Module, Mixin): pass", False),
        ("class A(nn.Module, metaclass=Meta): pass", False),
        ("class B(nn.Module, metaclass=Meta): pass\nclass A(B): pass", False),
        ("class A(nn.Module):\n def __new__(cls): pass", False),
        ("class A(nn.Module):\n def __setattr__(self, name, value): pass", False),
    ],
)
def test_has_known_bases(snippet: str, known: bool) -> None:
    found, definitions = classes(snippet)
    assert found.has_known_bases(definitions[-1]) is known


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("super().__init__()", ["super().__init__()"]),
        ("super(A, self).__init__(1)", ["super(A, self).__init__(1)"]),
        ("nn.Module.__init__(self)", ["nn.Module.__init__(self)"]),
        ("self.prepare()", ["self.prepare()"]),
        ("self.other()", []),
        ("super().__init__", []),
        ("self.fc = nn.Linear(1, 1)", []),
    ],
)
def test_calls_that_initialise(body: str, calls: list[str]) -> None:
    found, (definition,) = classes(
        f"""
        class A(nn.Module):
            def __init__(self):
                {body}

            def prepare(self):
                super().__init__()

            def other(self):
                pass
        """
    )
    constructor = definition.body[0]
    assert isinstance(constructor, ast.FunctionDef)
    assert [ast.unparse(call) for call in found.initialising(constructor)] == calls
