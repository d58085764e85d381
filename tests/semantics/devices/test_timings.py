"""Which times are taken before the GPU has finished what is timed."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from marked import marked
from torchlint.semantics.devices.timings import Timing, Timings

HEADER = """\
import time
from time import perf_counter as now
import torch
from torch import nn

"""
FUNCTION = """\
def f(x, rounds, flag):
    model = nn.Linear(4, 4){}
    x = x.cuda()
{}
    return d
"""


def timing(body: str, move: str = ".cuda()") -> Timing[ast.AST, ast.stmt] | None:
    """What is found at the marked difference of a function's body."""
    semantics, (node,) = marked(HEADER + FUNCTION.format(move, indent(dedent(body), " " * 4)))
    assert isinstance(node, ast.BinOp)
    return semantics.of(Timings).unfinished.get(node)


@pytest.mark.parametrize(
    ("body", "work"),
    [
        ("t = now()\ny = model(x)\nprint('done', y.shape[0], f'{y.dtype}', len(y), 3 * 4)\nd = «now() - t»", "model(x)"),
        ("z = torch.ones(3, device='cuda')\nt = now()\ny = z.exp()\nd = «now() - t»", "z.exp()"),
        ("flag(x.cpu())\nt = now()\ny = x @ x\nd = «now() - t»", "x @ x"),
        ("x = x.cpu()\nx = x.cuda()\nt = now()\ny = x @ x\nd = «now() - t»", "x @ x"),
        ("if flag:\n    x = x.cpu()\nt = now()\ny = x @ x\nd = «now() - t»", "x @ x"),
        ("flag.net.cuda()\nt = now()\ny = flag.net(x)\nd = «now() - t»", "flag.net(x)"),
        ("flag = rounds().to('cuda')\nt = now()\ny = flag(3)\nd = «now() - t»", "flag(3)"),
        (
            "for _ in flag:\n    t = now()\n    y = rounds @ rounds\n    d = «now() - t»\n    rounds = rounds.cuda()",
            "rounds @ rounds",
        ),
        ("t = time.time()\ny = model(x)\nprint(«time.time() - t»)", "model(x)"),
        ("t = now()\nif x.dim() > 2:\n    y = model(x)\nd = «now() - t»", "model(x)"),
        ("t = now()\ny = model(x)\nif y.sum() > 2:\n    y = model(y)\nd = «now() - t»", "model(y)"),
        ("t = now()\ny = x @ x\ne = now()\nprint(«e - t»)", "x @ x"),
        ("t = now()\nfor _ in range(rounds):\n    x = model(x)\nd = «now() - t»", "model(x)"),
        ("t = now()\ny = model(x).sum()\ny.backward()\nd = «now() - t»", "y.backward()"),
        ("if flag:\n    t = now()\ny = model(x)\nif flag:\n    d = «now() - t»", "model(x)"),
        ("o = torch.optim.SGD(model.parameters())\nt = now()\no.step()\nd = «now() - t»", "o.step()"),
        (
            "o = torch.optim.SGD(model.parameters())\nflag(x)\nt = now()\nmodel(x).sum().backward()\no.step()\nd = «now() - t»",
            "o.step()",
        ),
        ("t = now()\nx.sum().item()\ny = model(x)\nd = «now() - t»", "model(x)"),
    ],
)
def test_work_that_may_go_on(body: str, work: str) -> None:
    found = timing(body)
    assert found is not None
    assert ast.unparse(found.work) == work


@pytest.mark.parametrize(
    "body",
    [
        "t = now()\ny = model(x)\ntorch.cuda.synchronize()\nd = «now() - t»",
        "t = now()\ny = model(x).sum().item()\nd = «now() - t»",
        "t = now()\ny = model(x)\nprint(y)\nd = «now() - t»",
        "t = now()\ny = model(x)\nmeter.update(«now() - t»)",
        "t = now()\ny = [1] * rounds\nd = «now() - t»",
        "t = now()\nfor _ in range(rounds):\n    x.sum().item()\n    x = model(x)\nd = «now() - t»",
        "t = now()\ny = model(x)\nif «now() - t» > 3: pass",
        "y = model(x)\nt = now()\nd = «now() - t»",
        "x = x.cpu()\nt = now()\ny = x @ x\nd = «now() - t»",
        "x = x.to('cpu')\nif flag:\n    t = now()\n    y = x @ x\n    d = «now() - t»",
        "z = torch.ones(3, device='cpu')\nt = now()\ny = z.exp()\nd = «now() - t»",
        "d = torch.device('cpu')\nz = torch.ones(3, device=d)\nt = now()\ny = z.exp()\nd = «now() - t»",
        "t = now()\ny = model(x)\nz = torch.sum(y.cpu())\nd = «now() - t»",
        "t = now()\ny = model(x)\nprint(y.shape, y.sum())\nd = «now() - t»",
        "t = now()\ny = model(x)\nprint(f'{y}')\nd = «now() - t»",
        "t = now()\ny = model(x)\nd = «rounds - t»",
        "o = torch.optim.LBFGS(model.parameters())\nt = now()\nfor _ in rounds:\n    o.step(flag)\nd = «now() - t»",
        "o = torch.optim.SGD(model.parameters())\nt = now()\nflag(model, x)\no.step()\nd = «now() - t»",
        "t = now()\ny = flag.net(x)\nd = «now() - t»",
        "flag = rounds().cuda()\nt = now()\na, b, c = flag(x)\nd = «now() - t»",
        "t = now()\ny = rounds @ rounds\nd = «now() - t»\nrounds = rounds.cuda()",
        "t = now()\ny = model(x)\ndef g():\n    return «now() - t»",
        "t = now()\ny = model(x)\nif y.isnan().any():\n    rounds()\nd = «now() - t»",
        "t = now()\ny = model(x).exp()\nassert not y.sum() > 3\nd = «now() - t»",
        "t = now()\ny = model(x)\nz = torch.nonzero(y)\nd = «now() - t»",
        "t = now()\ny = model(x)\nz = f'{y.sum():.2f}'\nd = «now() - t»",
    ],
)
def test_times_that_are_right_or_of_something_else(body: str) -> None:
    assert timing(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "t = now()\ny = model(x)\nlog(y)\nd = «now() - t»",
        "t = flag()\ny = model(x)\nd = «now() - t»",
        "for _ in range(rounds):\n    t = now()\nwhile flag:\n    y = model(x)\n    d = «now() - t»",
    ],
)
def test_what_is_not_known_is_not_found(body: str) -> None:
    assert timing(body) is None


def test_what_stays_on_the_cpu_is_done_when_it_returns() -> None:
    body = "t = now()\ny = model(z)\nd = «now() - t»"
    assert timing(body) is not None
    assert timing(body, move="") is None


@pytest.mark.parametrize(
    ("body", "hasty"),
    [
        ("t = now()\ny = model(x)\nd = «now() - t»", ["t = now()", "d = now() - t"]),
        ("torch.cuda.synchronize()\nt = now()\ny = model(x)\nd = «now() - t»", ["d = now() - t"]),
        ("if flag:\n    torch.cuda.synchronize()\nt = now()\ny = model(x)\nd = «now() - t»", ["d = now() - t"]),
    ],
)
def test_readings_that_do_not_wait(body: str, hasty: list[str]) -> None:
    found = timing(body)
    assert found is not None
    assert [ast.unparse(statement) for statement in found.hasty] == hasty


def test_readings_may_be_kept_in_an_attribute() -> None:
    semantics, (node,) = marked(
        HEADER
        + dedent("""\
        class Trainer:
            def step(self, device, x):
                model = nn.Linear(4, 4).to(device)
                self.started = time.time()
                y = model(x)
                self.took = «time.time() - self.started»
        """)
    )
    assert isinstance(node, ast.BinOp)
    found = semantics.of(Timings).unfinished[node]
    assert ast.unparse(found.hasty[0]) == "self.started = time.time()"
    assert not found.needs_gpu


@pytest.mark.parametrize(
    ("body", "doubt"),
    [
        ("t = now()\ny = model(x)\nprint(«now() - t»)", ""),
        ("with torch.no_grad():\n    t = now()\n    y = model(x)\n    print(«now() - t»)", ""),
        ("for _ in range(rounds):\n    t = now()\n    for part in x:\n        model(part)\n    print(«now() - t»)", ""),
        (
            "for part in x:\n    t = now()\n    y = model(part)\n    print(«now() - t»)",
            "the loop would wait in each of its rounds",
        ),
        (
            "total = 0\nt = now()\ny = model(x)\ntotal += «now() - t»",
            "times that are added up are taken often, and each would wait",
        ),
        (
            "with torch.cuda.graph(flag):\n    t = now()\n    y = model(x)\n    print(«now() - t»)",
            "`torch.cuda.graph` may not allow a wait",
        ),
    ],
)
def test_whether_a_wait_is_noticed(body: str, doubt: str) -> None:
    found = timing(body)
    assert found is not None
    assert found.free.doubt == doubt


@pytest.mark.parametrize(
    ("move", "needs"),
    [
        (".cuda()", True),
        ('.to("cuda:0")', True),
        (".to(flag)", False),
        (".to(cuda)", False),
        (".cuda() if flag else nn.Linear(4, 4)", False),
    ],
)
def test_whether_a_gpu_is_needed_anyway(move: str, needs: bool) -> None:
    found = timing("t = now()\ny = model(x)\nprint(«now() - t»)", move)
    assert found is not None
    assert found.needs_gpu is needs


def test_what_nothing_reads_is_no_report() -> None:
    assert timing("t = now()\ny = model(x)\nunread = «now() - t»") is None


@pytest.mark.parametrize(("targets", "is_found"), [("a, b, c", False), ("a, b", True), ("a", True)])
def test_detectors_wait_themselves(targets: str, is_found: bool) -> None:
    body = f"net = load(x)\nnet.cuda()\nnet.eval()\nt = now()\n{targets} = net(x.cuda())\nd = «now() - t»"
    assert (timing(body) is not None) is is_found


@pytest.mark.parametrize(
    ("between", "expected"),
    [("t = now()", False), ("", True), ("s = now()", True)],
)
def test_laps_of_a_loop_follow_one_another(between: str, expected: bool) -> None:
    body = f"t = now()\nfor _ in range(rounds):\n    y = model(x)\n    d = «now() - t»\n    {between}\n    print(y.item())"
    if not between:
        body = "for _ in range(rounds):\n    t = now()\n    y = model(x)\n    d = «now() - t»\n    print(y.item())"
    if between.startswith("s"):
        body = body.replace("    y = model(x)", "    t = now()\n    y = model(x)")
    assert (timing(body) is not None) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("print('{} {}'.format(y.sum().item(), «now() - t»))", False),
        ("print(f'{y.mean()} {«now() - t»}')", False),
        ("d = {'loss': float(y.sum()), 'time': «now() - t»}", False),
        ("print('{} {}'.format(«now() - t», y.sum().item()))", True),
        ("print(f'{«now() - t»} {y.mean()}')", True),
        ("print('{} {} {}'.format(rounds, len(x), «now() - t»))", True),
        ("print(y, «now() - t»)", True),
        ("s = now()\nprint(y.sum().item(), «s - t»)", True),
        ("pick('log').info('%s', «now() - t»)", True),
    ],
)
def test_what_is_evaluated_before_the_clock_is_read_may_wait(line: str, expected: bool) -> None:
    assert (timing(f"t = now()\ny = model(x)\n{line}") is not None) is expected


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        ("device = torch.device('cuda')\n    device = torch.device('cpu')", False),
        ("device = 'cuda'\n    device = 'cpu'", False),
        ("device = torch.device('cpu')\n    device = torch.device('cuda')", True),
        ("device = 'cuda'\n    if flag:\n        device = 'cpu'", True),
    ],
)
def test_a_device_that_is_the_cpu_in_the_end(devices: str, expected: bool) -> None:
    body = "x = rounds.to(device)\n    t = now()\n    y = x @ x\n    d = «now() - t»"
    semantics, (node,) = marked(f"{HEADER}def f(rounds, flag):\n    {devices}\n    {body}\n    return d\n")
    assert isinstance(node, ast.BinOp)
    assert (node in semantics.of(Timings).unfinished) is expected


@pytest.mark.parametrize(
    ("made", "kept", "used", "is_found"),
    [
        ("s = []", "s.append({})", "", False),
        ("s = list()", "s.append({})", "", False),
        ("s = [0.0] * rounds", "s[0] = {}", "", True),  # what is multiplied may be anybody's
        ("s = [0.0 for _ in range(rounds)]", "s[0] = {}", "", False),
        ("s = np.zeros(rounds)", "s[0] = {}", "", False),
        ("s = []", "s.append({})", "print(s)", True),
        ("s = []", "s.append({})", "return s", True),
        ("s = []", "s.append({})", "s[0] += 1", True),
        ("s = []", "s.append({})", "def g(): return sum(s)", True),
        ("s = rounds", "s.append({})", "", True),
        ("s = rounds.times", "s[0] = {}", "", True),
        ("s = flag.s = []", "s.append({})", "", True),
        ("s = []\nif flag:\n    s = rounds", "s.append({})", "", True),
        ("global s\ns = []", "s.append({})", "", True),
    ],
)
def test_times_that_nobody_reads(made: str, kept: str, used: str, is_found: bool) -> None:
    body = f"import numpy as np\n{made}\nt = now()\ny = model(x)\n{kept.format('«now() - t»')}\nd = 0\n{used}"
    assert (timing(body) is not None) is is_found
