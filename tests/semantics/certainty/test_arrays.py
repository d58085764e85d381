"""Which values are arrays of one's own, whatever path led to them."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.certainty.arrays import Arrays
from torchlint.text.source import Source

HEADER = "import numpy as np\nimport torch\n"


def asked(text: str) -> tuple[Arrays, ast.expr]:
    """The arrays of a program, and the argument of its call ``ask(…)``."""
    source = Source(HEADER + text)
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "ask")
    return Arrays(Semantics(source.tree)), call.args[0]


@pytest.mark.parametrize(
    ("text", "is_array", "is_new"),
    [
        ("ask(np.zeros(3))", True, True),
        ("x = np.zeros(3) * 2\nask(x.reshape(-1, 1))", True, True),
        ("x = np.zeros(3)\nx /= 2\nask(x)", True, True),
        ("ask(torch.zeros(3).numpy())", True, False),
        ("def f(x: np.ndarray):\n    ask(x)", True, False),
        ("def f(x: np.ndarray):\n    ask(x.T)", True, False),
        ("def f(x: np.ndarray):\n    ask(x[:, None] / 2)", True, True),
        ("def f(x):\n    ask(np.asarray(x))", True, False),
        ("x = np.zeros(3)\ny = x\nask(y)", True, False),
        ("ask(np.mean([1, 2]))", False, False),
        ("ask(np.random.rand())", False, False),
        ("x = np.zeros(3)\nask(x[0])", False, False),
    ],
)
def test_arrays_and_whose_memory_they_have(text: str, is_array: bool, is_new: bool) -> None:
    arrays, node = asked(text)
    assert (arrays.is_array(node), arrays.is_new_array(node)) == (is_array, is_new)
