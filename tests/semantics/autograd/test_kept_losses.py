"""Lists of which each round back-propagates the last item: whether the graphs of the others are kept for nothing."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.accumulation import Accumulations, Leak


def leaks(body: str, behind: str = "pass") -> list[Leak[ast.expr]]:
    """What a loop leaks that puts ``f(x)`` into a list and has ``body`` behind that, with a statement behind the loop."""
    loop = f"    for i in range(999):\n        xs.append(f(x))\n        {body}\n"
    text = f"import torch\ndef g(f, x, opt):\n    xs = []\n{loop}    {behind}\n"
    return list(Semantics(ast.parse(text)).of(Accumulations).leaks.values())


@pytest.mark.parametrize(
    "body",
    [
        "xs[-1].backward()",
        "xs[-1].backward(retain_graph=True)\n        opt.step()",
        "if i and xs[-1] > xs[-2]: break\n        xs[-1].backward()",
        "xs[-1].backward()\n        gain = xs[-1] - xs[0]\n        print(gain, len(xs), xs[-1].item())",
    ],
)
def test_only_the_last_one_is_needed(body: str) -> None:
    (leak,) = leaks(body)
    assert leak.propagated_there
    assert leak.kept
    assert not leak.mendable


@pytest.mark.parametrize(
    ("body", "behind"),
    [
        ("xs[0].backward()", "pass"),
        ("xs[i].backward()", "pass"),
        ("(xs[-1] - xs[0]).backward()", "pass"),
        ("xs[-1].backward()\n        d = xs[-1] - xs[-2]\n        d.backward()", "pass"),
        ("xs[-1].backward()", "sum(xs).backward()"),
        ("xs[-1].backward()", "return xs"),
        ("xs[-1].backward()", "h(xs)"),
        ("xs[-1].backward()\n        xs.pop()", "pass"),
        ("xs[-1].backward()\n        xs[-1] = xs[-1].detach()", "pass"),
        ("xs[-1].backward()\n        xs = []", "pass"),
        ("xs[-1].backward()\n        h(xs[-3:])", "pass"),
        ("pass", "xs[-1].backward()"),
    ],
)
def test_others_may_be_wanted_or_are_gone(body: str, behind: str) -> None:
    assert leaks(body, behind) == []
