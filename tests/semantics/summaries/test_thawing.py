"""Which names code thaws, or gives new parts: of functions their parameters, of calls what they hand on."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics.summaries.calls import calls_of
from torchlint.semantics.summaries.functions import summed_up
from torchlint.semantics.summaries.summary import RESULT


@pytest.mark.parametrize(
    ("body", "thaws"),
    [
        ("net.requires_grad_()", ("net",)),
        ("net.fc.weight.requires_grad = True", ("net",)),
        ("for p in net.parameters():\n    p.requires_grad = flag", ("net",)),
        ("for name, p in other.named_parameters():\n    if name in flag:\n        p.requires_grad_(True)", ("other",)),
        ("net.fc = nn.Linear(3, 2).cuda()", ("net",)),
        ("net.layers[-1] = torch.nn.Linear(3, 2)", ("net",)),
        ("built = Net()\nbuilt.fc = nn.Linear(3, 2)\nreturn built", (RESULT,)),
        ("net.requires_grad_()\nreturn net", ("net", RESULT)),
        ("other.requires_grad_()\nreturn net", ("other",)),
        ("net.requires_grad_(False)", ()),
        ("for p in net.parameters():\n    p.requires_grad = False", ()),
        ("net.width = max(3, flag)", ()),
        ("return net(other)", ()),
    ],
)
def test_what_functions_thaw(body: str, thaws: tuple[str, ...]) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    [function] = ast.parse(f"def f(net, other, *, flag=True):\n{lines}\n").body
    assert isinstance(function, ast.FunctionDef)
    assert summed_up(function).thaws == thaws


@pytest.mark.parametrize(
    ("between", "thawed"),
    [
        ("pass", ()),
        ("for p in other.parameters():\n    p.requires_grad = True", ()),
        ("for p in net.fc.parameters():\n    p.requires_grad = True", ("1", "best")),
        ("net.fc = nn.Linear(3, 2)", ("1", "best")),
        ("net.requires_grad_(False)", ()),
    ],
)
def test_what_calls_hand_on_may_be_thawed(between: str, thawed: tuple[str, ...]) -> None:
    module = ast.parse(f"from lib import Net, run\nnet = Net()\n{between}\nrun(3, net, best=net)\n")
    [call] = calls_of(module, "run")
    assert call.thawed == thawed
