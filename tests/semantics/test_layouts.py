"""What is said of the axes of tensors, compared with what torch makes of the same code."""

from __future__ import annotations

import ast
import random
import textwrap

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.shapes.layout import Contiguity, view_must_copy
from torchlint.semantics.shapes.layouts import Layouts
from torchlint.text.source import Source

torch = pytest.importorskip("torch")

SIZES = {"a": 2, "b": 3, "c": 5, "d": 7}


def program(dice: random.Random) -> str:
    """A few transpositions of a tensor whose sizes are known by names, or asked, and a view of the result."""
    rank = dice.randint(2, 4)
    names = list(SIZES)[:rank]
    opening = (
        [f"{', '.join(names)} = x.shape"] if dice.random() < 0.6 else [f"{name} = x.size({i})" for i, name in enumerate(names)]
    )
    chain = "x"
    for _ in range(dice.randint(1, 3)):
        one, other = dice.sample(range(rank), 2)
        kind = dice.choice(["transpose", "transpose", "permute", "back", "contiguous", "relu"])
        if kind == "transpose":
            chain += f".transpose({one}, {other})"
        elif kind == "back":
            chain += f".transpose({dice.randint(0, min(1, rank - 2))}, -1)" if dice.random() < 0.3 else ".transpose(-1, -2)"
        elif kind == "permute":
            chain += f".permute({', '.join(map(str, dice.sample(range(rank), rank)))})"
        else:
            chain += f".{kind}()"
    order = dice.sample(names, rank) if dice.random() < 0.5 else names
    groups, rest = [], list(order)
    while rest:
        count = dice.randint(1, len(rest))
        groups.append(" * ".join(rest[:count]))
        rest = rest[count:]
    if dice.random() < 0.4:
        groups[dice.randrange(len(groups))] = "-1"
    if dice.random() < 0.2:
        groups.insert(dice.randint(0, len(groups)), "1")
    return "\n".join([*opening, f"y = {chain}", f"z = y.view({', '.join(groups)})"])


@pytest.mark.parametrize("seed", range(30))
def test_views_that_must_copy_raise(seed: int) -> None:
    dice = random.Random(seed)
    foretold = 0
    for _ in range(25):
        text = program(dice)
        rank = text.count("= x.size(") or text.split(" = ")[0].count(",") + 1
        raised = False
        try:
            exec(text, {"x": torch.zeros(list(SIZES.values())[:rank])})
        except RuntimeError as error:
            raised = "view size is not compatible" in str(error)
        view = ast.parse(text).body[-1]
        assert isinstance(view, ast.Assign)
        source = Source("def f(x):\n" + textwrap.indent(text, "    "))
        layouts = Layouts(Semantics(source.tree))
        call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and ".view(" in ast.unparse(node))
        assert isinstance(call.func, ast.Attribute)
        layout, shape = layouts.view(call, layouts.of(call.func.value))
        if shape is not None and layout.contiguity is not Contiguity.UNKNOWN and view_must_copy(layout, shape):
            foretold += 1
            assert raised, text
    assert foretold


def test_symbols_are_the_same_for_the_same_axis() -> None:
    lines = ["n, c, h, w = x.shape", "y = x.relu().transpose(1, 2)", "return y.view(n, x.size(2), y.shape[2], y.size(-1))"]
    source = Source("def f(x):\n" + textwrap.indent("\n".join(lines), "    "))
    layouts = Layouts(Semantics(source.tree))
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and ".view(" in ast.unparse(node))
    assert isinstance(call.func, ast.Attribute)
    assert layouts.shape(call.args) == [axis.size for axis in layouts.of(call.func.value).front]
