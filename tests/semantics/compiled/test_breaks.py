"""What ends the graphs of compiled code: of each body of a forward the marked places, or none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.compiled.breaks import Breaks, Cause

HEAD = """\
import torch
from torch import nn

class Part(nn.Module):
    def forward(self, x: torch.Tensor):
        {part}
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.calls = {start}
        self.flag = True

    def forward(self, x: torch.Tensor, rate, flag=False):
        {body}
        return self.part(x)

    def other(self):
        {other}

{made}
"""


def breaks(
    body: str = "pass",
    part: str = "pass",
    other: str = "pass",
    start: str = "0",
    made: str = "net = torch.compile(Net())",
) -> list[tuple[Cause, str | None]]:
    text = HEAD.format(body=body.replace("\n", "\n        "), part=part, other=other, start=start, made=made)
    semantics, nodes = marked(text)
    found = semantics.of(Breaks).found
    places = [node.target if isinstance(node, ast.AugAssign) else node for node in found]
    assert sorted(places, key=lambda node: getattr(node, "lineno", 0)) == nodes
    return [(each.cause, ast.unparse(each.start) if each.start is not None else None) for each in found.values()]


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("«print(x)»", Cause.PRINT),
        ("n = «x.sum().item()»", Cause.READ),
        ("n = «x.tolist()»", Cause.READ),
        ("n = «float(x.mean())»", Cause.READ),
        ("if «x.sum() > 0»:\n    x = x * 2", Cause.BRANCH),
        ("if «not (x > 0).any()»:\n    x = x * 2", Cause.BRANCH),
        ("if «flag and x.sum() > rate»:\n    x = x * 2", Cause.BRANCH),
        ("while «x.norm() > 1»:\n    x = x / 2", Cause.BRANCH),
        ("x = x if «x.sum() > 0» else -x", Cause.BRANCH),
        ("small = x.sum() < 1\nif «small»:\n    x = x * 2", Cause.BRANCH),
    ],
)
def test_graph_ends(body: str, cause: Cause) -> None:
    assert breaks(body) == [(cause, None)]


@pytest.mark.parametrize(
    "body",
    [
        "if rate > 0:\n    x = x * rate",
        "if flag:\n    x = x * 2",
        "if x.shape[0] > 1 and x.dim() == 2:\n    x = x * 2",
        "if rate is None:\n    x = x * 2",
        "if self.training:\n    x = x * 2",
        "if self.flag:\n    print(x)",
        "x = torch.where(x.sum() > 0, x, -x)",
        "x = x[x.argmax()]",
        "n = int(rate)",
        "n = x.size(0)",
    ],
)
def test_graph_goes_on(body: str) -> None:
    assert breaks(body) == []


def test_counters() -> None:
    assert breaks("«self.calls» += 1") == [(Cause.COUNTER, "0")]
    assert breaks("«self.calls» += x.shape[0]") == [(Cause.COUNTER, None)]
    assert breaks("«self.calls» *= 2") == [(Cause.COUNTER, None)]
    assert breaks("«self.calls» += 1", other="return self.calls") == [(Cause.COUNTER, None)]
    assert breaks("«self.calls» += 1", start="0.5") == [(Cause.COUNTER, None)]
    assert breaks("self.calls += 1", start="torch.zeros(())") == []
    assert breaks("self.calls += 1", other="self.calls = self.reset()") == []


@pytest.mark.parametrize(
    "made",
    [
        "net = torch.compile(Net().cuda(), mode='max-autotune')",
        "net = Net()\nnet.compile()",
        "net = Net()\nnet = torch.compile(model=net)",
        "def run(x):\n    return net(x)\nnet = Net()\nrun = torch.compile(run)",
    ],
)
def test_what_is_compiled(made: str) -> None:
    assert breaks("«print(x)»", made=made) == [(Cause.PRINT, None)]
    assert breaks(part="«print(x)»", made=made) == [(Cause.PRINT, None)]


@pytest.mark.parametrize(
    "made",
    [
        "net = Net()",
        "net = torch.compile(Net(), disable=True)",
        "import re\nnet = re.compile(Net())",
        "net = torch.compile(nn.Linear(2, 2))",
        "net = torch.compile(Net())\ntorch._dynamo.config.capture_scalar_outputs = True",
    ],
)
def test_what_is_not_compiled(made: str) -> None:
    assert breaks("print(x)", made=made) == []


def test_what_the_forward_does_not_call() -> None:
    assert breaks(other="print(self.calls)") == []


def test_what_is_left_out() -> None:
    log = "import torch\n@torch.compiler.disable\ndef log(x):\n    print(x)\n"
    semantics, nodes = marked(f"{log}@torch.compile\ndef f(x):\n    log(x)\n    «print(x)»\n")
    assert list(semantics.of(Breaks).found) == nodes
