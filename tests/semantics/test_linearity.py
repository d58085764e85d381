"""The work on a file grows as the file does, and depth is no harm: counted in calls of functions, not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from torchlint.linter import lint
from torchlint.rules import all_rules
from torchlint.source import Source, SourceError


def many_functions(n: int) -> str:
    function = "def f{0}(model, x):\n    loss = model(x).sum()\n    loss.backward()\n    return f{1}(model, loss.data)\n"
    return "import torch\n" + "".join(function.format(i, max(i - 1, 0)) for i in range(n))


def many_methods(n: int) -> str:
    module = (
        "class A{0}(torch.nn.Module):\n    def __init__(self):\n        self.register_buffer('b{0}', torch.zeros(1))\n"
        "        self.fc = torch.nn.Linear(1, 1)\n    def step(self, x):\n        return x.data\n"
        "    def forward(self, x):\n        return self.step(self.fc(x)) + self.b{0}.data\n"
    )
    return "import torch\n" + "".join(module.format(i) for i in range(n))


def branches(n: int) -> str:
    return "import torch\ndef f(w, c):\n" + "".join(
        f"    x{i} = w * {i}\n    if c[{i}]:\n        x{i} = x{i // 2}.data\n        w = w + x{i}\n" for i in range(n)
    )


def elifs(n: int) -> str:
    return "import torch\ndef f(w, c):\n    x = w\n    if c: pass\n" + "".join(
        f"    elif c == {i}:\n        x{i} = w.data\n        x = x{i}\n" for i in range(n)
    )


def breaks(n: int) -> str:
    return "import torch\ndef f(w, c):\n    while True:\n" + "".join(
        f"        x{i} = w.data\n        if c[{i}]: break\n        if not c: continue\n" for i in range(n)
    )


def loops(n: int) -> str:
    return "import torch\ntotal = 0\n" + "".join(
        f"for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss\n    z{i} = y.data\n"
        for i in range(n)
    )


def tries(n: int) -> str:
    return (
        "import torch\ndef f(w):\n    try:\n"
        + "".join(f"        x = w[{i}].data\n        y{i} = x\n" for i in range(n))
        + "    except E: pass\n"
    )


def straight(n: int) -> str:
    return "import torch\nx = torch.zeros(1, requires_grad=True)\n" + "x = x + 1\n" * n + "y = x.data\n"


def layers(n: int) -> str:
    return (
        "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n"
        + "".join(f"        x = self.l{i}(torch.relu(x))\n" for i in range(n))
        + "        return x.data\n"
    )


def augmented(n: int) -> str:
    return (
        "import torch\nloss = 0\n"
        + "".join(f"a{i} = m(x).sum()\nloss += a{i}\n" for i in range(n))
        + "loss.backward()\nloss.data\n"
    )


def tuples(n: int) -> str:
    return "import torch\nx = torch.zeros(1)\n" + "x = (x, 1)\n" * n + "y = x[0].data\n"


def long_list(n: int) -> str:
    return "import torch\nw = torch.zeros(1)\nx = [" + "w.data, " * n + "]\n"


def inner_functions(n: int) -> str:
    return "import torch\ndef f(w):\n    x = w\n" + "".join(
        f"    def g{i}():\n        nonlocal x\n        x = w.data\n    g{i}()\n    y = x.data\n" for i in range(n)
    )


GROWING = [
    many_functions,
    many_methods,
    branches,
    elifs,
    breaks,
    loops,
    tries,
    straight,
    layers,
    augmented,
    tuples,
    long_list,
    inner_functions,
]


def total_of(n: int) -> str:
    return "import torch\nw = torch.zeros(1)\nx = " + " + ".join(["w"] * n) + "\ny = x.data\n"


def chain_of(n: int) -> str:
    return "import torch\nw = torch.zeros(1)\nx = w" + ".add(1)" * n + "\ny = x.data\n"


def lambdas_of(n: int) -> str:
    return "import torch\nx = w" + ".a(lambda v: v)" * n + "\ny = x.data\n"


def calls(text: str) -> int:
    """How many functions of Python are called, and generators resumed, to lint a text."""
    source = Source(text)
    assert source.tree
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    rules = all_rules()
    sys.setprofile(profile)
    try:
        lint(source, rules)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("generate", GROWING, ids=lambda generate: generate.__name__)
def test_twice_the_lines_are_twice_the_work(generate: Callable[[int], str]) -> None:
    small, large = calls(generate(150)), calls(generate(300))
    assert large <= 2.2 * small


@pytest.mark.parametrize("generate", [total_of, chain_of, lambdas_of], ids=lambda generate: generate.__name__)
def test_twice_the_length_of_an_expression_is_twice_the_work(generate: Callable[[int], str]) -> None:
    small, large = calls(generate(400)), calls(generate(800))
    assert large <= 2.2 * small


@pytest.mark.parametrize(
    "text",
    [straight(2000), layers(1000), augmented(1000), tuples(500), elifs(400), total_of(2000), chain_of(1000), lambdas_of(500)],
    ids=["straight", "layers", "augmented", "tuples", "elifs", "total", "chain", "lambdas"],
)
def test_long_code_is_linted(text: str) -> None:
    assert lint(Source(text), all_rules(), suppress=False) is not None


def nested_ifs(n: int) -> str:
    return "".join("    " * i + "if x.data:\n" for i in range(n)) + "    " * n + "pass\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 3000 + "w.data" + ")" * 3000,
        "x = w.data" + ".T" * 3000,
        "x = w.data" + "[0]" * 3000,
        "x = w.data" + "()" * 3000,
        "x = " + "w.data + " * 3000 + "1",
        "x = " + "w.data ** " * 3000 + "1",
        "x = " + "w.data and " * 3000 + "1",
        "x = " + "not " * 3000 + "w.data",
        "x = " + "-" * 3000 + "w.data",
        "x = " + "w.data if a else " * 3000 + "1",
        "x = " + "lambda: " * 3000 + "w.data",
        "x = " + "[" * 3000 + "w.data" + "]" * 3000,
        "x = " + "f(" * 3000 + "w.data" + ")" * 3000,
        "x = " + "w.data < " * 3000 + "1",
        nested_ifs(3000),
        nested_ifs(90),
        "if a: pass\n" + "elif w.data: pass\n" * 3000,
        "".join(f"def f{i}(x): return f{i + 1}(x.data)\n" for i in range(3000)),
        "".join(f"class A{i + 1}(A{i}):\n    def f(self, x): return self.x.data\n" for i in range(300)),
        "x = 1\n" + "".join(f"def f{i}(x=x): return x.data\nx = f{i}()\n" for i in range(2000)),
    ],
    ids=lambda text: text[:30].replace("\n", " "),
)
def test_depth_is_told_in_one_line_if_at_all(text: str) -> None:
    told: list[str] = []
    try:
        lint(Source("import torch\n" + text), all_rules())
    except SourceError as error:
        told.append(error.error.message)
    assert all("nested" in message or "cannot parse" in message for message in told)
