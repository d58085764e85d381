"""What code is there for, as far as its names tell: an evaluation, a test of the code itself, reinforcement learning."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import last_name

_EVALUATING = re.compile(
    r"(^|_)(eval\w*|val|valid\w*|test|tests|testing|predict\w*|infer\w*|score\w*|acc|accuracy|metrics?|sampl\w*|generat\w*|gen|"
    r"benchmark\w*|visuali\w*|decode|translate|demo|confusion\w*|error_rate|encode)(_|$)",
    re.IGNORECASE,
)
"""What functions that evaluate a model are called."""
_OF_REINFORCEMENT_LEARNING = re.compile(r"^(gym(nasium)?|rollouts?)$|replay_?(buffer|memory)", re.IGNORECASE)
"""Words of code that samples from its policy and trains on that."""


def is_evaluation(name: str) -> bool:
    """Whether a function is called like one that evaluates a model."""
    return _EVALUATING.search(name) is not None


class Purpose:
    """Tells what the code of a file is there for."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_test_case(self, scope: FlowScope) -> bool:
        """Whether code is a test of the code itself: a ``test_…`` function, or a method of a test case."""
        for node in (scope, *self._semantics.tree.ancestors(scope)):
            match node:
                case ast.FunctionDef(name=name) if name.startswith("test_") and self._is_collected(node):
                    return True
                case ast.ClassDef(bases=bases) if any(
                    last_name(base).endswith(("TestCase", "Tester", "Test")) for base in bases
                ):
                    return True
        return False

    def _is_collected(self, function: ast.FunctionDef) -> bool:
        """Whether pytest would run a function: nothing in the file calls it."""
        return not self._semantics.facts.calls.get(function.name)

    @cached_property
    def is_reinforcement_learning(self) -> bool:
        """Whether the file samples from its policy, without autograd and in training mode, and trains on what comes of it."""
        if self._semantics.words.match(_OF_REINFORCEMENT_LEARNING):
            return True
        return any(
            attribute.attr.lower() in ("step", "reset") and last_name(attribute.value).lower() in ("env", "envs")
            for attribute in self._semantics.tree.of_type(ast.Attribute)
        )
