"""What references to Variable are for."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.apis.unused_imports import UnusedImports
from torchlint.semantics.variables.names import VariableNames


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x: «Variable»): ...",
        "def f(*x: Optional[«Variable»]) -> None: ...",
        "def f() -> Dict[str, List[«Variable»]]: ...",
        "x: Union[«Variable», None] = y",
        "isinstance(x, «Variable»)",
        "isinstance(x, (list, «Variable»))",
        "type(x) == «Variable»",
        "type(x) in (list, «Variable»)",
        "check(type(x), «Variable»)",
    ],
)
def test_knows_where_a_class_is_wanted(snippet: str) -> None:
    semantics, [node] = marked(snippet)
    assert semantics.of(VariableNames).is_class_wanted(node)


@pytest.mark.parametrize(
    "snippet",
    ["f(«Variable»)", "x = [«Variable»]", "x = «Variable»", "x == «Variable»", "f(x, «Variable»)", "def f(x=«Variable»): ..."],
)
def test_knows_where_none_is(snippet: str) -> None:
    semantics, [node] = marked(snippet)
    assert not semantics.of(VariableNames).is_class_wanted(node)


@pytest.mark.parametrize(
    ("snippet", "places"),
    [
        ("from torch.autograd import Variable\nx: «'Variable'» = y", [(0, 8)]),
        ("from torch.autograd import Variable\nx: Optional[«'Dict[str, Variable]'»] = y", [(10, 18)]),
        ("from torch import autograd\nx: «'autograd.Variable'» = y", [(0, 17)]),
        ("from torch.autograd import Variable as V\nx: «'V or Variable'» = y", [(0, 1)]),
        ("x: «'Variable'» = y", []),
        ("from .other import Variable\nx: «'Variable'» = y", []),
        ("from torch.autograd import Variable\nx = «'Variable'»", []),
        ("from torch.autograd import Variable\nx: «'a Variable'» = y", []),
    ],
)
def test_reads_quoted_annotations(snippet: str, places: list[tuple[int, int]]) -> None:
    semantics, [node] = marked(snippet)
    assert isinstance(node, ast.Constant)
    assert semantics.of(VariableNames).quoted.get(node, []) == places


@pytest.mark.parametrize(
    ("snippet", "unused"),
    [
        ("from torch.autograd import Variable", True),
        ("from torch.autograd import Variable as V\nVariable(x)", True),
        ("from torch.autograd.variable import Variable", True),
        ("from torch.autograd import Variable\nVariable(x)", False),
        ("from torch.autograd import Variable\n__all__ = ['Variable']", False),
        ("from torch.autograd import Variable\nx: 'Variable' = y", False),
        ("from torch.autograd import Variable\n'''About a Variable: see there.'''", True),
        ("try:\n    from torch.autograd import Variable\nexcept ImportError:\n    pass", False),
        ("from .autograd import Variable", False),
        ("import a, b, c, d\nfrom torch.autograd import Variable", False),
        ("import a, b, c, d\nfrom torch.autograd import Variable\ndef f(): ...", True),
    ],
)
def test_finds_imports_that_nothing_uses(snippet: str, unused: bool) -> None:
    semantics, _ = marked(snippet)
    assert bool(semantics.of(VariableNames).imports) == unused


@pytest.mark.parametrize(("use", "unused"), [("", True), ("V(x)", False), ("x: 'V or Variable' = y", False)])
def test_finds_names_that_nothing_uses(use: str, unused: bool) -> None:
    semantics, _ = marked(f"import torch\nV = torch.autograd.Variable\n{use}")
    [name] = [node for node in semantics.tree.of_type(ast.Name) if node.id == "V" and isinstance(node.ctx, ast.Store)]
    assert semantics.of(UnusedImports).is_unused(name) == unused


MANY = "import os, re, sys, math, time\nfrom torch.autograd import Variable\n"


@pytest.mark.parametrize(
    ("rest", "unused"),
    [
        ("", 0),  # others import everything from it
        ("def f(): ...", 1),  # so few can be left over
        ("torch.set_num_threads(1)", 0),
        ("for epoch in range(3):\n    print(epoch)", 1),
        ("import argparse\noptions = argparse.ArgumentParser().parse_args()", 1),
        ("if __name__ == '__main__':\n    main()", 1),
        ("if ready:\n    for epoch in range(3):\n        print(epoch)", 0),
    ],
)
def test_programs_are_not_there_for_their_imports(rest: str, unused: int) -> None:
    semantics, _ = marked(MANY + rest)
    assert len(semantics.of(UnusedImports).of("torch.autograd.Variable")) == unused
