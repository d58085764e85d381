"""What functions hand out with its graph: whether the marked call's result is in it."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.autograd.handed_out import HandedOut
from torchlint.semantics.code.tree import FUNCTIONS


def is_handed_out(body: str) -> bool:
    semantics, (call,) = marked(f"def f(self, x, given):\n    {body}\n")
    function = semantics.tree.function(call)
    assert isinstance(function, FUNCTIONS) and isinstance(call, ast.Call)
    return call in semantics.of(HandedOut).calls(function)


@pytest.mark.parametrize(
    "body",
    [
        "return «net(x)»",
        "y = «net(x)»; return y * 2",
        "y = «net(x)»; z = y[0]; return z, 1",
        "ys = []; ys.append(«net(x)»); return ys",
        "ys = {}; ys[0] = «net(x)»; return ys",
        "total = 0; total += «net(x)»; return total",
        "a, b = «net(x)», 1; return a",
        "values, indices = «net(x)».max(1); return values",
        "self.last = «net(x)»",
        "given.append(«net(x)»)",
        "given.outputs.extend(«net(x)»)",
    ],
)
def test_what_is_handed_out(body: str) -> None:
    assert is_handed_out(body)


@pytest.mark.parametrize(
    "body",
    [
        "print(«net(x)»)",
        "return «net(x)».item()",
        "y = «net(x)»; return y.detach()",
        "y = «net(x)»; return y.argmax(1) == x",
        "a, b = «net(x)», 1; return b",
        "values, indices = «net(x)».max(1); return indices",
        "ys = []; ys.append(«net(x)»)",
        "given.append(«net(x)».shape)",
        "import torch; y = «torch.relu(x)»; z = given.step(y.detach().numpy()); return z",
    ],
)
def test_what_is_not(body: str) -> None:
    assert not is_handed_out(body)
