"""Which statements have their lines for themselves, and which can be indented."""

from __future__ import annotations

import ast

import pytest

from torchlint.text.layout import can_be_indented, stands_alone
from torchlint.text.source import Source


def statement(text: str) -> tuple[Source, ast.stmt]:
    """The statement of a text that calls ``here``, or whose condition does."""
    source = Source(text)
    found = [node for node in ast.walk(source.tree) if isinstance(node, (ast.Expr, ast.If)) and _calls_here(node)]
    return source, found[-1]


def _calls_here(node: ast.Expr | ast.If) -> bool:
    return ast.unparse(node.test if isinstance(node, ast.If) else node.value).startswith("here(")


@pytest.mark.parametrize(
    "text",
    [
        "here()\n",
        "here()",
        "if a:\n    here()  # why\n",
        "if a:\n\there(\n1)\n",
        "if here():\n    b()\n",
        "if a:\n    b()\nelse:\n    if here():\n        c()\n",
        "a()\r\nhere()\r\nb()",
    ],
)
def test_on_lines_of_its_own(text: str) -> None:
    assert stands_alone(*statement(text))


@pytest.mark.parametrize(
    "text",
    [
        "a(); here()\n",
        "here(); a()\n",
        "here();\n",
        "if a: here()\n",
        "if a: \\\n    here()\n",
        "a(); \\\nhere()\n",
        "if a:\n    b()\nelif here():\n    c()\n",
    ],
)
def test_on_lines_with_other_code(text: str) -> None:
    assert not stands_alone(*statement(text))


@pytest.mark.parametrize(("text", "possible"), [("here()\n", True), ("\fhere()\n", False), ("here(\n\f  1)\n", False)])
def test_a_form_feed_voids_what_is_put_in_front(text: str, possible: bool) -> None:
    assert can_be_indented(*statement(text)) is possible
