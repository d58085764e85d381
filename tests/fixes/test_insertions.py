"""Statements that are inserted beside others or into functions, and decorators: where they come to stand, if anywhere."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
import pytest

from torchlint.fact import NOTHING
from torchlint.fixes.changes import Change, decorate, fix, insert_before, insert_behind, insert_first, insert_last, wrap
from torchlint.fixes.code import expression, statement
from torchlint.fixes.edits import Editing
from torchlint.model import Model
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

NEW = statement("new()")


def changed(text: str, change: Callable[[cst.CSTNode], Change], *, function: bool) -> str | None:
    """A text after the change of its first function, or of the statement ``here()``."""
    source = Source(text)
    model = Model(source, Semantics(source.tree), Suppressions(source))
    tree = model.semantics.tree
    node = tree.of_type(*FUNCTIONS)[0] if function else tree.statement(model.semantics.facts.calls["here"][0])
    made = Editing(model).fix(fix("Change it", change(model.concrete(node)), rests_on=NOTHING))
    return source.edited(made.edits) if made is not None else None


@pytest.mark.parametrize(
    ("before", "first", "last"),
    [
        ("def f():\n    a()\n", "def f():\n    new()\n    a()\n", "def f():\n    a()\n    new()\n"),
        ('def f():\n    """Does."""\n    a()\n', 'def f():\n    """Does."""\n    new()\n    a()\n', None),
        ('def f():\n    """Does."""\n', 'def f():\n    """Does."""\n    new()\n', 'def f():\n    """Does."""\n    new()\n'),
        ("def f():\n    return a()  # why\n", "def f():\n    new()\n    return a()  # why\n", None),
        ("def f():\n\ta()\n\treturn 1\n", None, "def f():\n\ta()\n\tnew()\n\treturn 1\n"),
        ("async def f():\r\n  if a: return 1\r\n", None, "async def f():\r\n  if a: return 1\r\n  new()\r\n"),
        ("class A:\n    def f(self):\n        a()", None, "class A:\n    def f(self):\n        a()\n        new()"),
    ],
)
def test_the_first_and_the_last_statement_of_a_function(before: str, first: str | None, last: str | None) -> None:
    if first is not None:
        assert changed(before, lambda node: insert_first(node, NEW), function=True) == first
    if last is not None:
        assert changed(before, lambda node: insert_last(node, NEW), function=True) == last


@pytest.mark.parametrize(
    ("before", "first", "last"),
    [
        ("def f(): a()\n", "def f(): new(); a()\n", "def f(): a(); new()\n"),
        ('def f(): "Does."; a()\n', 'def f(): "Does."; new(); a()\n', 'def f(): "Does."; a(); new()\n'),
        ("def f():\n    a(); b()\n", "def f():\n    new()\n    a(); b()\n", "def f():\n    a(); b(); new()\n"),
    ],
)
def test_in_functions_whose_statements_share_lines(before: str, first: str, last: str) -> None:
    assert changed(before, lambda node: insert_first(node, NEW), function=True) == first
    assert changed(before, lambda node: insert_last(node, NEW), function=True) == last
    assert changed(before, lambda node: insert_first(node, NEW, alone=True), function=True) is None
    assert changed(before, lambda node: insert_last(node, NEW, alone=True), function=True) is None


def test_in_the_place_of_a_lone_pass() -> None:
    before = "def f():\n    pass  # so far\n"
    assert changed(before, lambda node: insert_first(node, NEW), function=True) == "def f():\n    new()  # so far\n"
    assert changed(before, lambda node: insert_last(node, NEW), function=True) == "def f():\n    new()  # so far\n"


@pytest.mark.parametrize(
    ("before", "sharing", "alone"),
    [
        ("here()  # why\n", "new()\nhere()  # why\n", "new()\nhere()  # why\n"),
        ("a(); here()\n", "a(); new(); here()\n", None),
        ("if a: here()\n", "if a: new(); here()\n", None),
        ("a(); \\\nhere()\n", "a(); \\\nnew(); here()\n", None),
    ],
)
def test_in_front_of_a_statement(before: str, sharing: str, alone: str | None) -> None:
    assert changed(before, lambda node: insert_before(node, NEW), function=False) == sharing
    assert changed(before, lambda node: insert_before(node, NEW, alone=True), function=False) == alone


@pytest.mark.parametrize(
    ("before", "sharing", "alone"),
    [
        ("here()  # why\n", "here()  # why\nnew()\n", "here()  # why\nnew()\n"),
        ("here(); a()\n", "here(); new(); a()\n", None),
    ],
)
def test_behind_a_statement(before: str, sharing: str, alone: str | None) -> None:
    assert changed(before, lambda node: insert_behind(node, NEW), function=False) == sharing
    assert changed(before, lambda node: insert_behind(node, NEW, alone=True), function=False) == alone


def test_what_goes_beside_a_statement_that_is_wrapped_goes_into_the_block() -> None:
    source = Source("for x in xs:\n  here()  # why\n")
    model = Model(source, Semantics(source.tree), Suppressions(source))
    node = model.concrete(model.semantics.tree.statement(model.semantics.facts.calls["here"][0]))
    made = Editing(model).fix(fix("Change it", wrap([node], expression("quiet()")), insert_behind(node, NEW), rests_on=NOTHING))
    assert made is not None
    assert source.edited(made.edits) == "for x in xs:\n  with quiet():\n    here()  # why\n    new()\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch as t\ndef f(): pass\n", "import torch as t\n@t.no_grad()\ndef f(): pass\n"),
        ("from torch import no_grad\ndef f(): pass\n", "from torch import no_grad\n@no_grad()\ndef f(): pass\n"),
        ("def f(): pass\n", "@torch.no_grad()\ndef f(): pass\n"),
        (
            "import os\n\nclass A:\n    @property  # is\n    def f(self): pass\n",
            "import torch\nimport os\n\nclass A:\n    @property  # is\n    @torch.no_grad()\n    def f(self): pass\n",
        ),
    ],
)
def test_a_decorator_is_the_innermost_and_spelt_as_in_the_file(before: str, after: str) -> None:
    assert changed(before, lambda node: decorate(node, expression("{torch.no_grad}()")), function=True) == after
