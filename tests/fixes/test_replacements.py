"""Expressions that others are put in the place of: what stays of the text, and what is written anew."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst
import pytest

from torchlint.fact import NOTHING
from torchlint.fixes.changes import Change, fix, replace, unwrap
from torchlint.fixes.code import expression, in_string, method_call
from torchlint.fixes.edits import Editing
from torchlint.model import Model
from torchlint.semantics import Semantics
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source


def changed(text: str, is_meant: Callable[[cst.CSTNode], bool], change: Callable[[cst.BaseExpression], Change]) -> str:
    """A text with the outermost node that is meant changed."""
    source = Source(text)
    model = Model(source, Semantics(source.tree), Suppressions(source))
    model.concrete(source.tree.body[-1])
    node = next(each for each in model.parsed(source.tree.body[-1]).join.twins if is_meant(each))
    assert isinstance(node, cst.BaseExpression)
    made = Editing(model).fix(fix("", change(node), rests_on=NOTHING))
    assert made is not None
    return source.edited(made.edits)


def is_data(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == "data"


def is_wrapped(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "wrap"


# --- what is kept ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.data", "x"),
        ("(x + 1).data", "(x + 1)"),
        ("(x).data.y", "(x).y"),
        ("é.data.ü", "é.ü"),
        ("x \\\n    .data \\\n    .y", "x \\\n    .y"),
        ("(x\n .data\n .y)", "(x\n .y)"),
        ("(x  # a.b\n .data\n .y)", "(x  # a.b\n .y)"),
        ("f'{x.data!r:>{y}}'", "f'{x!r:>{y}}'"),
    ],
)
def test_an_attribute_goes_with_its_dot(before: str, after: str) -> None:
    assert changed(before, is_data, lambda node: replace(node, cst.ensure_type(node, cst.Attribute).value)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.data", "x.detach()"),
        ("(x  # a.b\n .data\n .y)", "(x  # a.b\n .detach()\n .y)"),
        ("x \\\n  .data", "x \\\n  .detach()"),
        ("f(x).data[0]", "f(x).detach()[0]"),
        ("x . data", "x . detach()"),
    ],
)
def test_an_attribute_keeps_its_place(before: str, after: str) -> None:
    assert (
        changed(before, is_data, lambda node: replace(node, method_call(cst.ensure_type(node, cst.Attribute), "detach")))
        == after
    )


# --- parentheses -----------------------------------------------------------------------------------------------------


def put_in_place(before: str, new: str) -> str:
    """A text with ``new`` in the place of ``wrap(…)``."""
    return changed(before, is_wrapped, lambda node: replace(node, cst.parse_expression(new)))


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("2 * wrap(x)", "a + b", "2 * (a + b)"),
        ("wrap(x).y", "a + b", "(a + b).y"),
        ("-wrap(x)", "-a", "-(-a)"),
        ("[*wrap(x)]", "a or b", "[*(a or b)]"),
        ("f(*wrap(x))", "a or b", "f(*(a or b))"),
        ("x = wrap(x)", "(a := b)", "x = (a := b)"),
        ("[y for y in wrap(x)]", "a if b else c", "[y for y in (a if b else c)]"),
        ("x = wrap(x)", "a.b(\n).c", "x = a.b(\n).c"),
        ("x = wrap(x)", "(a\n  .b)", "x = (a\n  .b)"),
    ],
)
def test_what_needs_parentheses_gets_them(before: str, new: str, after: str) -> None:
    assert put_in_place(before, new) == after


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("2 + wrap(x)", "a * b", "2 + a * b"),
        ("(wrap(x)) * 2", "a + b", "(a + b) * 2"),
        ("f(wrap(x))", "a or b", "f(a or b)"),
        ("x = wrap(x)", "lambda: 0", "x = lambda: 0"),
        ("return_(a, key=wrap(x))", "a if b else c", "return_(a, key=a if b else c)"),
        ("y[wrap(x)]", "a or b", "y[a or b]"),
    ],
)
def test_what_needs_none_gets_none(before: str, new: str, after: str) -> None:
    assert put_in_place(before, new) == after


def unwrapped(before: str) -> str:
    """A text with what ``wrap(…)`` holds in its place."""
    return changed(before, is_wrapped, lambda node: unwrap(node, cst.ensure_type(node, cst.Call).args[0].value))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = wrap(x)", "y = x"),
        ("y = wrap(f(a,\n           b))", "y = f(a,\n      b)"),
        ("y = wrap(x\n         .a())", "y = (x\n     .a())"),
        ("y = f(wrap(x\n           .a()))", "y = f(x\n      .a())"),
        ("y = [wrap(x\n          .a())]", "y = [x\n     .a()]"),
        ("y = wrap((a\n          + b))", "y = (a\n     + b)"),
        ("y = wrap(\n    f(a,\n      b))", "y = f(a,\n      b)"),
        ("y = wrap(f(\n    a,\n))", "y = f(\n    a,\n)"),
        ('y = wrap(f("""a\n          b"""))', 'y = f("""a\n          b""")'),
    ],
)
def test_lines_move_along_with_what_is_unwrapped(before: str, after: str) -> None:
    assert unwrapped(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = (p for p in q)", "y = list(p for p in q)"),
        ("y = ((p for p in q))", "y = list((p for p in q))"),
        ("y = (  # why\n    p\n    for p in q\n)", "y = list(  # why\n    p\n    for p in q\n)"),
        ("y = (p for p in q), 1", "y = list(p for p in q), 1"),
        ("f(p for p in q)", "f(list(p for p in q))"),
        ("f((p for p in q), 1)", "f(list(p for p in q), 1)"),
        ("y = z if(p for p in q) else w", "y = z if list(p for p in q) else w"),
        ("return(p for p in q)", "return list(p for p in q)"),
        ("assert x in(p for p in q)", "assert x in list(p for p in q)"),
    ],
)
def test_the_parentheses_of_a_generator_become_those_of_a_call(before: str, after: str) -> None:
    made = changed(
        before,
        lambda node: isinstance(node, cst.GeneratorExp),
        lambda node: replace(node, expression("list({items})", items=node)),
    )
    assert made == after


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch\nwrap(x)", "import torch\ntorch.relu(x)"),
        ("import torch as t\nwrap(x)", "import torch as t\nt.relu(x)"),
        ("from torch import relu\nwrap(x)", "from torch import relu\nrelu(x)"),
        ("import os\nwrap(x)", "import torch\nimport os\ntorch.relu(x)"),
    ],
)
def test_apis_are_spelled_as_the_file_does(before: str, after: str) -> None:
    made = changed(before, is_wrapped, lambda node: replace(cst.ensure_type(node, cst.Call).func, expression("{torch.relu}")))
    assert made == after


@pytest.mark.parametrize(
    ("imports", "spelled"),
    [
        ("import torch", "torch.nn.init.zeros_"),
        ("import torch.nn as nn", "nn.init.zeros_"),
        ("import torch\nfrom torch import nn as layers", "layers.init.zeros_"),
        ("import torch.nn as nn\nfrom torch.nn import init", "init.zeros_"),
        ("from torch.nn.init import zeros_", "zeros_"),
    ],
)
def test_apis_are_spelled_by_the_nearest_package(imports: str, spelled: str) -> None:
    new = expression("{torch.nn.init.zeros_}")
    made = changed(f"{imports}\nwrap(x)", is_wrapped, lambda node: replace(cst.ensure_type(node, cst.Call).func, new))
    assert made == f"{imports}\n{spelled}(x)"


@pytest.mark.parametrize(("name", "spelled"), [("torch", "torch.Tensor"), ("torch as t", "t.Tensor")])
def test_apis_are_spelled_in_strings_too(name: str, spelled: str) -> None:
    made = changed(
        f"import {name}\nx: 'List[Old]' = y",
        lambda node: isinstance(node, cst.SimpleString),
        lambda node: replace(node, in_string(cst.ensure_type(node, cst.SimpleString), [(5, 8)], "torch.Tensor")),
    )
    assert made == f"import {name}\nx: 'List[{spelled}]' = y"
