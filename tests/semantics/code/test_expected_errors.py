"""Statements that are there for the error they cause."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchlint.semantics.code.expected_errors import is_tried
from torchlint.semantics.code.tree import Tree


@pytest.mark.parametrize(
    ("text", "tried"),
    [
        ("try:\n    x.step\nexcept AttributeError:\n    pass", True),
        ("try:\n    x.step\n    y()\nexcept AttributeError:\n    pass", False),
        ("try:\n    y()\nfinally:\n    x.step", False),
        ("with pytest.raises(TypeError):\n    x.step", True),
        ("with self.assertRaises(TypeError):\n    x.step", True),
        ("with suppress(AttributeError):\n    y()\n    x.step", True),
        ("with torch.no_grad():\n    x.step", False),
        ("with pytest.raises(TypeError):\n    def f():\n        x.step", False),
        ("x.step", False),
    ],
)
def test_statements_that_await_an_error(text: str, tried: bool) -> None:
    tree = Tree(ast.parse(textwrap.dedent(text)))
    statement = next(node for node in tree.nodes if isinstance(node, ast.Expr) and ast.unparse(node) == "x.step")
    assert is_tried(tree, statement) is tried
