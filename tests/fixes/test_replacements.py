"""What becomes of code that is replaced, in texts with an ``x.data``: what stays, and where new code comes to stand."""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst
import pytest

from torchlint.fixes.changes import Change, fix, replace, without_attribute, wrap
from torchlint.fixes.code import after_method, expression, method_call, statement
from torchlint.fixes.copying import copied
from torchlint.fixes.edits import Editing
from torchlint.model import Model
from torchlint.semantics import Semantics
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

Changing = Callable[[Model, cst.Attribute], list[Change]]


def changed(text: str, changing: Changing) -> str:
    """A text after changes that have to do with its ``.data``."""
    source = Source(text)
    model = Model(source, Semantics(source.tree), Suppressions(source))
    [twin] = [node for node in model.semantics.tree.of_type(ast.Attribute) if node.attr == "data"]
    node = cst.ensure_type(model.concrete(twin), cst.Attribute)
    made = Editing(model).fix(fix("Change it", *changing(model, node)))
    assert made is not None
    return source.edited(made.edits)


@pytest.mark.parametrize(
    ("before", "method", "nothing"),
    [
        ("f(x.data)\n", "f(x.detach())\n", "f(x)\n"),
        ("f((x.data).T)\n", "f((x.detach()).T)\n", "f((x).T)\n"),
        ("f((x).data)\n", "f((x).detach())\n", "f((x))\n"),
        ("f(x\n  .data\n  .T)\n", "f(x\n  .detach()\n  .T)\n", "f(x\n  .T)\n"),
        ("f(x  # x\n  .data)\n", "f(x  # x\n  .detach())\n", "f(x  # x\n  )\n"),
        ("f(x.  # why\n  data)\n", "f(x.  # why\n  detach())\n", "f(x  # why\n  )\n"),
        ("f(x\r\n  .data)\r\n", "f(x\r\n  .detach())\r\n", "f(x)\r\n"),
    ],
)
def test_a_method_in_the_place_of_an_attribute_and_nothing_in_its_place(before: str, method: str, nothing: str) -> None:
    assert changed(before, lambda _, node: [replace(node, method_call(node, "detach"))]) == method
    assert changed(before, lambda _, node: [without_attribute(node)]) == nothing


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x.data)\n", "f(x.detach().data)\n"),
        ("f((x).data)\n", "f((x).detach().data)\n"),
        ("f(x\n  .data)\n", "f(x\n  .detach().data)\n"),
        ("f(x  # x\n  .data)\n", "f(x  # x\n  .detach().data)\n"),
    ],
)
def test_another_method_in_front(before: str, after: str) -> None:
    assert changed(before, lambda _, node: [replace(node, after_method(node, "detach"))]) == after


@pytest.mark.parametrize(
    ("before", "methods", "after"),
    [
        ("y = x.data\n", ("detach", "clone"), "y = x.detach().clone()\n"),
        ("y = (x\n     .data)\n", ("detach", "clone"), "y = (x\n     .detach().clone())\n"),
        ("y = x.data.cpu()\n", ("clone",), "y = x.data.cpu().clone()\n"),
        ("y = (x\n     .data.cpu()  # why\n)\n", ("clone",), "y = (x\n     .data.cpu().clone()  # why\n)\n"),
        ("y = x.data or z\n", ("clone",), "y = (x.data or z).clone()\n"),
    ],
)
def test_copies_are_made_within_parentheses(before: str, methods: tuple[str, ...], after: str) -> None:
    def changing(model: Model, node: cst.Attribute) -> list[Change]:
        value = cst.ensure_type(model.statement(node), cst.Assign).value
        return [replace(value, copied(value, methods))]

    assert changed(before, changing) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.data = v\n", "with torch.no_grad():\n    x.copy_(v)\n"),
        ("(x.data) = v\n", "with torch.no_grad():\n    x.copy_(v)\n"),
        ("x.data = (a,\n  b)\n", "with torch.no_grad():\n    x.copy_((a,\n      b))\n"),
        ("x.data = (y := v)\n", "with torch.no_grad():\n    x.copy_(y := v)\n"),
        ("x.data = a, b\n", "with torch.no_grad():\n    x.copy_((a, b))\n"),
        ("x.data = \\\n  v\n", "with torch.no_grad():\n    x.copy_(v)\n"),
        ("import torch as t\nx.data = v\n", "import torch as t\nwith t.no_grad():\n    x.copy_(v)\n"),
        ("from torch import no_grad\nx.data = v\n", "from torch import no_grad\nwith no_grad():\n    x.copy_(v)\n"),
        ("import os\nx.data = v\n", "import torch\nimport os\nwith torch.no_grad():\n    x.copy_(v)\n"),
    ],
)
def test_a_statement_that_is_replaced_in_a_block_of_its_own(before: str, after: str) -> None:
    def changing(model: Model, node: cst.Attribute) -> list[Change]:
        assignment = cst.ensure_type(model.statement(node), cst.Assign)
        call = statement("{tensor}.copy_({value})", tensor=node.value, value=assignment.value)
        return [wrap([assignment], expression("{torch.no_grad}()")), replace(assignment, call)]

    assert changed(before, changing) == after


def test_lines_of_comments_are_indented_with_the_block_they_go_into() -> None:
    def changing(model: Model, node: cst.Attribute) -> list[Change]:
        return [wrap([model.statement(node)], expression("quiet()")), without_attribute(node)]

    before = "f(\n  x  # x\n  .data  # the values\n  .T)\n"
    assert changed(before, changing) == "with quiet():\n    f(\n      x  # x\n        # the values\n      .T)\n"
