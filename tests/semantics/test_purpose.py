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
        ("def test_it():\n    «f()»\nif __name__ == '__main__':\n    test_it()", False),  # it may be all that the file does
        ("def test_it():\n    «f()»\nif __name__ == '__main__':\n    test_it()\n    test_that()", True),
        ("def test_it():\n    «f()»\nif __name__ == '__main__':\n    train()\n    test_it()", False),
        ("def test_it():\n    «f()»\nif __name__ == '__main__':\n    test_it()\n    test_that(args)", False),
        ("def test_it():\n    «f()»\n    assert y.shape == (2, 3)\nif __name__ == '__main__':\n    test_it()", True),
        ("def test_it():\n    «f()»\n    assert path.exists()\nif __name__ == '__main__':\n    test_it()", False),
        ("def test():\n    «f()»", False),
        ("def test_model(model, loader):\n    «f()»", False),
        ("def test_model(model, loader):\n    «f()»\n    assert loader", True),
        ("def test_model(model, loader):\n    «f()»\n    assert_close(model, loader)", True),
        ("def test_model(model, loader):\n    «f()»\n    model(loader).backward()", True),
        ("import pytest\ndef test_model(model, loader):\n    «f()»", True),
        ("def test_model(monkeypatch, loader):\n    «f()»", True),
        ("«f()»", False),
    ],
)
def test_tests_of_the_code_itself(snippet: str, expected: bool) -> None:
    semantics, (call,) = marked(snippet)
    assert semantics.of(Purpose).is_test_case(semantics.control_flow.scope(call)) is expected


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("import pytest\ndef test_it():\n    pass\ndef made():\n    «f()»", True),
        ("import unittest\nclass FTest(unittest.TestCase):\n    def test_it(self):\n        pass\n«f()»", True),
        ("import pytest\ndef made():\n    «f()»", False),  # helps files of tests, or is a plugin
        ("def test_it():\n    pass\ndef made():\n    «f()»", False),
        ("import unittest\nclass Runner:\n    def test_it(self):\n        pass\n«f()»", False),
        ("def test_it():\n    «f()»", True),
    ],
)
def test_files_of_such_tests(snippet: str, expected: bool) -> None:
    semantics, (call,) = marked(snippet)
    assert semantics.of(Purpose).is_in_tests(call) is expected


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


TRIED = "class Net:\n    pass\n"
MAIN = 'if __name__ == "__main__":\n    '


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        (TRIED + MAIN + "net = Net()\n    «f(net)»", True),
        ("def make(): pass\n" + MAIN + "for x in range(3):\n        «f(make())»", True),
        (TRIED + "«f(Net())»", False),  # whoever imports the file runs it
        (TRIED + "def main():\n    «f(Net())»\n" + MAIN + "main()", False),
        (MAIN + "«f(3)»", False),  # a script, which defines nothing
        (TRIED + MAIN + "net = Net()\n    «f(net)».backward()", False),
        (TRIED + MAIN + "net = torch.load(path)\n    «f(net)»", False),
        (TRIED + MAIN + "args = argparse.ArgumentParser()\n    «f(Net())»", False),
        (TRIED + "def fit(net):\n    net.step()\n" + MAIN + "«f(Net())»", False),
        (TRIED + 'if __name__ == "net":\n    «f(Net())»', False),
    ],
)
def test_code_that_tries_out_what_its_file_defines(snippet: str, expected: bool) -> None:
    semantics, (call,) = marked(snippet)
    assert semantics.of(Purpose).is_trial(call) is expected


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("class Net:\n    pass\nif __name__ == '__main__':\n    x = «f()»", True),
        ("class Net:\n    pass\nif __name__ == '__main__':\n    args = ArgumentParser().parse_args()\n    x = «f()»", True),
        ("class Net:\n    pass\nif __name__ == '__main__':\n    for x in y:\n        «f()»", False),
        ("class Net:\n    pass\nif __name__ == '__main__':\n    x = «f()»\n    loss(x).backward()", False),
        ("def net():\n    pass\nif __name__ == '__main__':\n    x = «f()»", False),
        ("class Net:\n    pass\nx = «f()»", False),
    ],
)
def test_what_only_tries_out_what_a_file_defines(snippet: str, expected: bool) -> None:
    semantics, (call,) = marked(snippet)
    assert semantics.of(Purpose).is_try_out(call) is expected


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("def loss(x):\n    pass\nif __name__ == '__main__':\n    x = «f()»", True),
        ("def loss(x):\n    pass\nif __name__ == '__main__':\n    loss(«f()»).backward()", True),
        ("def loss(x):\n    pass\nif __name__ == '__main__':\n    for x in y:\n        loss(«f()»).backward()\n", True),
        ("def loss(x):\n    pass\nif __name__ == '__main__':\n    loss(«f()»).backward()\n    optimizer.step()", False),
        ("def loss(x):\n    «f()»\nif __name__ == '__main__':\n    loss(3)", False),
        ("x = «f()»", False),
    ],
)
def test_what_is_tried_out_where_nothing_is_trained(snippet: str, expected: bool) -> None:
    semantics, (call,) = marked(snippet)
    assert semantics.of(Purpose).is_self_test(call) is expected
