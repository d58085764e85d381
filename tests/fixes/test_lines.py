"""New code over several lines: parentheses where nothing around it holds the lines together, and there alone."""

from __future__ import annotations

import ast

import libcst as cst
import pytest

from torchlint.fact import NOTHING
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.fixes.edits import Editing
from torchlint.model import Model
from torchlint.semantics import Semantics
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source


def replaced(text: str, template: str) -> str:
    """A text with ``x.data`` replaced by new code without parentheses around it, in which ``{x}`` stands for the ``x``."""
    source = Source(text)
    model = Model(source, Semantics(source.tree), Suppressions(source))
    [twin] = [node for node in model.semantics.tree.of_type(ast.Attribute) if node.attr == "data"]
    node = cst.ensure_type(model.concrete(twin), cst.Attribute)
    new = expression(f"({template})", x=node.value).with_changes(lpar=(), rpar=())
    made = Editing(model).fix(fix("Change it", replace(node, new), rests_on=NOTHING))
    assert made is not None
    after = source.edited(made.edits)
    ast.parse(after)
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x.data\n", "y = (a\n+ x)\n"),
        ("x.data\n", "(a\n+ x)\n"),
        ("return_ = lambda: x.data\n", "return_ = lambda: (a\n+ x)\n"),
        ("if x.data: pass\n", "if (a\n+ x): pass\n"),
        ("for i in x.data: pass\n", "for i in (a\n+ x): pass\n"),
        ("assert x.data, 'why'\n", "assert (a\n+ x), 'why'\n"),
        ("y = b, x.data\n", "y = b, (a\n+ x)\n"),
        ("y[0] = x.data\n", "y[0] = (a\n+ x)\n"),
        ("with x.data: pass\n", "with (a\n+ x): pass\n"),
    ],
)
def test_needed(before: str, after: str) -> None:
    assert replaced(before, "a\n+ {x}") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x.data)\n", "f(a\n+ x)\n"),
        ("f(b, c=x.data)\n", "f(b, c=a\n+ x)\n"),
        ("y[x.data]\n", "y[a\n+ x]\n"),
        ("y = [x.data]\n", "y = [a\n+ x]\n"),
        ("y = {x.data}\n", "y = {a\n+ x}\n"),
        ("y = {1: x.data}\n", "y = {1: a\n+ x}\n"),
        ("y = [x.data for _ in z]\n", "y = [a\n+ x for _ in z]\n"),
        ("y = (b, x.data)\n", "y = (b, a\n+ x)\n"),
        ("y = (b or x.data)\n", "y = (b or a\n+ x)\n"),
        ("f(lambda: x.data)\n", "f(lambda: a\n+ x)\n"),
    ],
)
def test_there_already(before: str, after: str) -> None:
    assert replaced(before, "a\n+ {x}") == after


@pytest.mark.parametrize("template", ["f(\n{x})", "[\n{x}]", "y[\n{x}]"])
def test_not_where_the_code_has_brackets_of_its_own(template: str) -> None:
    assert replaced("y = x.data\n", template) == f"y = {template.replace('{x}', 'x')}\n"


def test_not_for_one_line() -> None:
    assert replaced("y = x.data\n", "a + {x}") == "y = a + x\n"


def test_lines_of_a_string_need_none() -> None:
    assert replaced("y = x.data\n", '"""a\nb""" % {x}') == 'y = """a\nb""" % x\n'
