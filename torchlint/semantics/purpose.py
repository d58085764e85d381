"""What code is there for, as far as its names tell: an evaluation, a test of the code itself, reinforcement learning."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Function, last_name

_EVALUATING = re.compile(
    r"(^|_)(eval\w*|val|valid\w*|test|tests|testing|predict\w*|infer\w*|score\w*|acc|accuracy|metrics?|sampl\w*|generat\w*|gen|"
    r"benchmark\w*|visuali\w*|decode|translate|demo|confusion\w*|error_rate|encode)(_|$)",
    re.IGNORECASE,
)
"""What functions that evaluate a model are called."""
_OF_REINFORCEMENT_LEARNING = re.compile(r"^(gym(nasium)?|rollouts?)$|replay_?(buffer|memory)", re.IGNORECASE)
"""Words of code that samples from its policy and trains on that."""


_OF_TESTS = re.compile(r"^(pytest|unittest|nose|absl_?test\w*|hypothesis|parameterized|mocker|monkeypatch|tmp_?path|capsys)$")
"""Words of files that test code."""
_CHECKS = re.compile(r"_*(self_)?(assert|check|verify|compare)|backward$", re.IGNORECASE)
"""What functions are called that check what code does, or that no evaluation calls."""


_EVALUATION_DATA = re.compile(
    r"(^|_|\.)(val|valid|validation|test|tests|testing|eval|evaluation|dev)([_\d.]|$|[a-z]*(load|data|set|dl))", re.I
)
"""What data are called that a model is not trained on."""


def speaks_of_evaluation_data(node: ast.AST) -> bool:
    """Whether code has a name that data are called by which a model is not trained on."""
    return any(
        _EVALUATION_DATA.search(part.id if isinstance(part, ast.Name) else part.attr)
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute))
    )


def is_evaluation(name: str) -> bool:
    """Whether a function is called like one that evaluates a model."""
    return _EVALUATING.search(name) is not None


_RUNS = frozenset(
    {
        "backward",
        "step",
        "fit",
        "ArgumentParser",
        "add_argument",
        "load",
        "load_state_dict",
        "from_pretrained",
        "DataLoader",
        "save",
    }
)
"""What a program calls that does more than to try out what its file defines."""


_OF_TRAININGS = re.compile(r"^(optim(i[sz]ers?)?|train(er|_\w+)?|fit\w*|learn(er)?)$", re.IGNORECASE)
"""Words of files that train, or have others train."""


class Purpose:
    """Tells what the code of a file is there for."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_called_at_most_once(self, function: Function) -> bool:
        """Whether at most one call of the file is of what is called like a function: it is there for what that is there for."""
        return len(self._semantics.facts.calls.get(function.name, ())) < 2

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

    def is_in_tests(self, node: ast.AST) -> bool:
        """Whether code stands in a test of the code itself, or in a file of such tests."""
        return self._is_of_tests or self.is_test_case(self._semantics.control_flow.scope(node))

    @cached_property
    def _is_of_tests(self) -> bool:
        """Whether a file is one of tests: it speaks of what runs them, and has some."""
        if not self._semantics.words.match(_OF_TESTS):
            return False
        body = self._semantics.tree.module.body
        methods = (each for part in body if isinstance(part, ast.ClassDef) and "Test" in part.name for each in part.body)
        return any(isinstance(each, FUNCTIONS) and each.name.startswith("test_") for each in (*body, *methods))

    def is_in_evaluation(self, node: ast.AST) -> bool:
        """Whether code stands in a function that is called like one that evaluates a model, and back-propagates nothing."""
        function = self._semantics.tree.function(node)
        if not isinstance(function, FUNCTIONS) or not is_evaluation(function.name):
            return False
        return not any(isinstance(part, ast.Attribute) and part.attr == "backward" for part in ast.walk(function))

    def is_trial(self, node: ast.AST) -> bool:
        """Whether code tries out what the file defines: it stands under ``if __name__ == "__main__":``, and nothing is read,
        trained or saved there or elsewhere in the file."""
        outer = self._semantics.tree.ancestors(node)
        return any(_is_for_program(each) for each in outer) and self._defines and not self._does_more

    def is_try_out(self, node: ast.AST) -> bool:
        """Whether code runs once, under ``if __name__ == "__main__":`` itself, in a file that defines classes and trains
        nothing: it tries them out, whatever else it reads."""
        outer = list(self._semantics.tree.ancestors(node))
        is_once = any(map(_is_for_program, outer)) and not any(isinstance(each, (*LOOPS, *FUNCTIONS)) for each in outer)
        calls = self._semantics.facts.calls
        return is_once and self._has_classes and not any(calls.get(name) for name in ("backward", "step", "fit"))

    def is_test_of_classes(self, node: ast.AST) -> bool:
        """Whether code runs once, under ``if __name__ == "__main__":`` itself, in a file that defines classes and in which no
        optimizer takes a step: it tries them out, if only with a backward pass."""
        return self.is_self_test(node) and self._has_classes and not any(self._semantics.tree.loops(node))

    def is_self_test(self, node: ast.AST) -> bool:
        """Whether code stands under ``if __name__ == "__main__":`` itself, in a file in which no optimizer takes a step."""
        outer = list(self._semantics.tree.ancestors(node))
        is_once = any(map(_is_for_program, outer)) and not any(isinstance(each, FUNCTIONS) for each in outer)
        calls = self._semantics.facts.calls
        return is_once and not any(calls.get(name) for name in ("step", "fit"))

    def is_comparison(self, node: ast.AST) -> bool:
        """Whether code tries out, as a self-test does, what classes of the file compute, and nothing of it is kept: the file
        reads, writes and trains nothing, and speaks of no optimizer."""
        calls = self._semantics.facts.calls
        return (
            self.is_self_test(node)
            and self._has_classes
            and not any(calls.get(name) for name in _RUNS - {"backward"})
            and not self._semantics.words.match(_OF_TRAININGS)
        )

    @cached_property
    def _has_classes(self) -> bool:
        return any(isinstance(each, ast.ClassDef) for each in self._semantics.tree.module.body)

    @cached_property
    def _defines(self) -> bool:
        return any(isinstance(each, (ast.ClassDef, *FUNCTIONS)) for each in self._semantics.tree.module.body)

    @cached_property
    def _does_more(self) -> bool:
        return any(self._semantics.facts.calls.get(name) for name in _RUNS)

    def _is_collected(self, function: ast.FunctionDef) -> bool:
        """Whether a function is run as a test: nothing but a list of tests calls it, and it checks something, trains, or is
        given nothing; or it is given nothing, and asserts what has which shape.

        ``def test_model(model, loader)`` of a file that speaks of no tests evaluates a model for another file.
        """
        given = function.args
        is_given = bool(given.posonlyargs or given.args or given.kwonlyargs)
        if not is_given and any(isinstance(part, ast.Assert) and _is_about_shape(part.test) for part in ast.walk(function)):
            return True
        if not all(map(self._is_listed, self._semantics.facts.calls.get(function.name, ()))):
            return False
        if not is_given or self._semantics.words.match(_OF_TESTS):
            return True
        return any(
            isinstance(part, ast.Assert) or (isinstance(part, ast.Call) and _CHECKS.match(last_name(part.func)))
            for part in ast.walk(function)
        )

    def _is_listed(self, call: ast.Call) -> bool:
        """Whether a call is one of several tests that ``if __name__ == "__main__":`` runs, and nothing else."""
        statement = self._semantics.tree.statement(call)
        guard = self._semantics.tree.parent(statement)
        if not isinstance(guard, ast.If) or not _is_for_program(guard):
            return False
        return len(guard.body) > 1 and all(map(_is_call_of_test, guard.body))

    @cached_property
    def is_reinforcement_learning(self) -> bool:
        """Whether the file samples from its policy, without autograd and in training mode, and trains on what comes of it."""
        if self._semantics.words.match(_OF_REINFORCEMENT_LEARNING):
            return True
        return any(
            attribute.attr.lower() in ("step", "reset") and last_name(attribute.value).lower() in ("env", "envs")
            for attribute in self._semantics.tree.of_type(ast.Attribute)
        )


def _is_about_shape(test: ast.expr) -> bool:
    """Whether code asks for the shape of a tensor, or compares its values with others."""
    return any(
        isinstance(part, (ast.Attribute, ast.Name)) and last_name(part) in ("shape", "size", "allclose", "isclose", "equal")
        for part in ast.walk(test)
    )


def _is_call_of_test(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[], keywords=[])):
            return name.startswith("test_")
    return False


def _is_for_program(node: ast.AST) -> bool:
    match node:
        case ast.If(
            test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")])
        ):
            return True
    return False
