"""What does not run under assumptions: of each snippet, whether the last marked expression is excluded where the first runs."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.conditions.assumptions import Assumption, Assumptions

TEXT = """
def run(train, optimizer, mode, config):
    if {test}:
        «first()»
    {between}
    if {other}:
        «last()»
"""


def excluded(test: str, other: str, between: str = "pass") -> bool:
    semantics, (first, last) = marked(TEXT.format(test=test, other=other, between=between))
    assumptions = semantics.of(Assumptions)
    return assumptions.excludes(assumptions.at(first), last)


@pytest.mark.parametrize(
    ("test", "other"),
    [
        ("train", "not train"),
        ("not train", "train"),
        ("optimizer is None", "optimizer is not None"),
        ("optimizer is None", "optimizer"),
        ("optimizer", "optimizer is None"),
        ("mode == 'train'", "mode == 'test'"),
        ("mode == 'train'", "mode != 'train'"),
        ("mode == 'train'", "mode in ('val', 'test')"),
        ("mode == 'train' and config", "mode == 'test' or not config"),
        ("config['a'] == 'x'", "config['a'] == 'y'"),
    ],
)
def test_what_excludes_another(test: str, other: str) -> None:
    assert excluded(test, other)
    assert not excluded(test, test)


@pytest.mark.parametrize(
    ("test", "other", "between"),
    [
        ("train", "mode", "pass"),
        ("train or mode", "not train", "pass"),
        ("mode != 'train'", "mode == 'test'", "pass"),
        ("not train", "train", "train = mode"),
        ("mode == 'train'", "mode in config", "pass"),
        ("config['a'] == 'x'", "config['b'] == 'y'", "pass"),
    ],
)
def test_what_does_not(test: str, other: str, between: str) -> None:
    assert not excluded(test, other, between)


def test_a_name_for_a_test_and_a_statement_that_leaves() -> None:
    assert excluded("not flag", "optimizer", "pass") is False
    text = "def run(optimizer):\n    flag = optimizer is not None\n    if not flag:\n        return «first()»\n    «last()»\n"
    semantics, (first, last) = marked(text)
    assumptions = semantics.of(Assumptions)
    assert assumptions.excludes(assumptions.at(first), last)


@pytest.mark.parametrize(
    ("call", "expected"),
    [("f(1)", True), ("f(1, None)", True), ("f(1, g)", False), ("f(1, optimizer=g)", False), ("f(*g)", False)],
)
def test_the_arguments_of_a_call(call: str, expected: bool) -> None:
    semantics, (last, site) = marked(f"def f(x, optimizer=None):\n    if optimizer is not None:\n        «last()»\n«{call}»\n")
    assumptions = semantics.of(Assumptions)
    function = semantics.tree.function(last)
    assert isinstance(function, ast.FunctionDef) and isinstance(site, ast.Call)
    assert assumptions.excludes(assumptions.within(function, site, Assumption()), last) is expected


def test_a_function_is_back_propagated_for_those_calls_whose_results_are() -> None:
    text = "def f(x):\n    return «net(x)»\nloss = «f(1)»\nloss.backward()\nprint(«f(2)».item())\n"
    semantics, (inner, trained, printed) = marked(text)
    assert isinstance(inner, ast.Call) and isinstance(trained, ast.Call) and isinstance(printed, ast.Call)
    found = semantics.of(Backpropagated)
    assert found.call(inner)
    assert found.call_within(inner, trained)
    assert not found.call_within(inner, printed)
