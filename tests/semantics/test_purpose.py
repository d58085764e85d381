"""What code is there for."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from marked import marked

from torchlint.semantics import Semantics
from torchlint.semantics.purpose import Purpose, is_evaluation


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("evaluate", "test", "run_validation", "predict_all", "val_epoch")),
        *((name, False) for name in ("train", "latest", "contest", "value", "run")),
    ],
)
def test_what_functions_that_evaluate_are_called(name: str, expected: bool) -> None:
    assert is_evaluation(name) is expected


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("def test_it():\n    «f()»", True),
        ("class Tests(unittest.TestCase):\n    def check(self):\n        «f()»", True),
        ("def test_it():\n    def inner():\n        «f()»", True),
        ("def test_it():\n    «f()»\ntest_it()", False),  # which pytest need not run
        ("def test():\n    «f()»", False),
        ("«f()»", False),
    ],
)
def test_tests_of_the_code_itself(snippet: str, expected: bool) -> None:
    semantics, (call,) = marked(snippet)
    assert semantics.of(Purpose).is_test_case(semantics.control_flow.scope(call)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import gymnasium as gym", True),
        ("state = env.reset()", True),
        ("state = self.envs.step(action)", True),
        ("memory = ReplayBuffer(9)", True),
        ("rollouts.append(1)", True),
        ("# rollouts of the policy", False),
        ("from gymnastics import bar", False),
        ("optimizer.step()", False),
        ("path = env.home", False),
    ],
)
def test_reinforcement_learning(text: str, expected: bool) -> None:
    assert Semantics(ast.parse(dedent(text))).of(Purpose).is_reinforcement_learning is expected
