"""What is marked volatile, and what is computed with it."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from marked import marked
from torchlint.semantics import Semantics
from torchlint.semantics.variables.volatile import Volatiles


def semantics_of(snippet: str) -> Semantics:
    semantics, _ = marked("import torch\nfrom torch.autograd import Variable\n" + dedent(snippet))
    return semantics


def flags(snippet: str) -> list[str]:
    """What is set to volatile, in the order of the text: by a call of Variable, or (in brackets) as an attribute."""
    marks = semantics_of(snippet).of(Volatiles).marks.values()
    return [ast.unparse(mark.flag) if mark.call is not None else f"[{ast.unparse(mark.flag)}]" for mark in marks]


def computing(snippet: str) -> list[str]:
    """The runs of statements that compute with what the first statement with a mark marks, each by its first lines."""
    semantics = semantics_of(snippet)
    volatiles = semantics.of(Volatiles)
    statement = semantics.tree.statement(next(iter(volatiles.marks)))
    runs = volatiles.computing(statement)
    return ["; ".join(ast.unparse(part).splitlines()[0] for part in run) for run in runs]


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("Variable(x, volatile=True)", ["True"]),
        ("Variable(x, requires_grad=False, volatile=flag)", ["flag"]),
        ("Variable(x, False, True)", ["True"]),
        ("torch.autograd.Variable(x, volatile=not train)", ["not train"]),
        ("V = Variable\nV(x, volatile=True)", ["True"]),
        ("def f(x): x.volatile = True", ["[True]"]),
        ("x = torch.zeros(3)\nx.volatile = False", ["[False]"]),
        ("Variable(x)", []),
        ("Variable(x, *flags, True)", []),
        ("other(x, volatile=True)", []),
        ("class Ram:\n    def __init__(self): self.volatile = True", []),
        ("x = [1]\nx.volatile = True", []),
        ("if x.volatile: pass", []),
    ],
)
def test_finds_marks(snippet: str, expected: list[str]) -> None:
    assert flags(snippet) == expected


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("to_var(x)", True),
        ("to_var(x)\nto_var(x, volatile=False)", True),
        ("to_var(x)\nto_var(x, volatile=True)", False),
        ("to_var(x)\nto_var(x, True)", False),
        ("to_var(x, **options)", False),
        ("", False),
    ],
)
def test_a_flag_that_no_call_sets(rest: str, expected: bool) -> None:
    volatiles = semantics_of(f"def to_var(x, volatile=False):\n    return Variable(x, volatile=volatile)\n{rest}\n").of(
        Volatiles
    )
    marks = [mark for mark, found in volatiles.marks.items() if ast.unparse(found.flag) == "volatile"]
    assert [volatiles.is_never_set(mark) for mark in marks] == [expected]


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        pytest.param("y = model(Variable(x, volatile=True))", ["y = model(Variable(x, volatile=True))"], id="at once"),
        pytest.param("x = Variable(x, volatile=True)\ny = model(x)\nprint(y)", ["y = model(x)"], id="by its name"),
        pytest.param("x = Variable(x, volatile=True)\ny = x + 1\nz = y\nmodel(z)", ["model(z)"], id="by names for it"),
        pytest.param(
            "x = Variable(x, volatile=True)\na = f(x)\nprint(1)\nb = g(a)", ["a = f(x); print(1); b = g(a)"], id="one run"
        ),
        pytest.param("x = Variable(x, volatile=True)\nif x:\n    a = f(x)", ["a = f(x)"], id="in a block"),
        pytest.param("xs = []\nxs.append(Variable(x, volatile=True))\nf(xs)", ["f(xs)"], id="through a list"),
        pytest.param("def f(x):\n    x.volatile = True\n    y = model(x)", ["y = model(x)"], id="an attribute"),
        pytest.param(
            "for x in loader:\n    x = Variable(x, volatile=True)\n    y = model(x)",
            ["for x in loader:"],
            id="the loop it is from",
        ),
        pytest.param("x = Variable(x, volatile=True)\nsize = x.size(0)\nf(x.data)", [], id="nothing that autograd sees"),
        pytest.param("def f(x): return Variable(x, volatile=True)", [], id="it leaves"),
        pytest.param("x = Variable(x, volatile=True)\nwith torch.no_grad():\n    y = model(x)", [], id="off already"),
        pytest.param("x = Variable(x, volatile=True)\nloss = model(x)\nloss.backward()", [], id="back-propagated"),
        pytest.param("x = Variable(x, volatile=True)\ntrain_epoch(model, x)", [], id="called training"),
        pytest.param(
            "def go(m, x): m(x).backward()\nx = Variable(x, volatile=True)\ngo(model, x)",
            [],
            id="trains in a function of the file",
        ),
        pytest.param(
            "x = Variable(x, volatile=True)\na = f(x)\noptimizer.step()\nb = g(a)",
            ["a = f(x)", "b = g(a)"],
            id="training between",
        ),
    ],
)
def test_finds_what_computes_with_it(snippet: str, expected: list[str]) -> None:
    assert computing(snippet) == expected


MARKED = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = Variable(y, volatile=False)",
        "x = Variable(y, False, not flag)",
        "x = torch.zeros(3)\nx.volatile = False",
        "model = nn.Linear(3, 2)\nx = torch.zeros(3)\nx.volatile = True\nout = model(x)",
    ],
)
def test_nobody_notices_that_it_goes(text: str) -> None:
    assert _doubt(text) == ""


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("x = Variable(y, volatile=modes.pop())", "`modes.pop()` may do more than tell a flag"),
        ("def f(x):\n    x.volatile = False", "`x` is an argument; it may be no tensor"),
        ("x = torch.zeros(3)\nx.volatile = False\nprint(x.volatile)", "the attribute may be read elsewhere"),
        ("x = torch.zeros(3)\nx.volatile = False\nprint(getattr(x, 'volatile'))", "the attribute may be read elsewhere"),
        ("x = torch.zeros(3)\nx.volatile = False\nf(x)", "the attribute may be read elsewhere"),
        ("x = torch.zeros(3)\nx.volatile = f()", "`f()` may do more than tell a flag"),
    ],
)
def test_somebody_may_notice(text: str, doubt: str) -> None:
    assert _doubt(text) == doubt


def _doubt(text: str) -> str:
    semantics, _ = marked(MARKED + text)
    volatiles = semantics.of(Volatiles)
    [mark] = volatiles.marks
    return volatiles.is_ignored(mark).doubt


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("x, y = Variable(x, volatile=True), Variable(y, volatile=True)", [2, 2]),
        ("x, y = Variable(x, volatile=True), Variable(y, volatile=test)", [1, 1]),
        ("x = Variable(x, volatile=True)\ny = Variable(y, volatile=True)", [1, 1]),
        ("x, y = Variable(x, False, True), Variable(y, volatile=True)", [2, 2]),
    ],
)
def test_marks_of_one_statement_and_one_flag_go_together(text: str, beside: list[int]) -> None:
    volatiles = semantics_of(text).of(Volatiles)
    assert [len(volatiles.beside(mark)) for mark in volatiles.marks] == beside


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x, y = Variable(x, volatile=True), Variable(y)", [True, True]),
        ("x = Variable(x, volatile=True)\ny = Variable(y)", [True, False]),
        ("net(Variable(x, volatile=True), Variable(y))", [False, False]),
    ],
)
def test_beside_a_mark(text: str, expected: list[bool]) -> None:
    semantics = semantics_of(text)
    calls = [call for call in semantics.tree.of_type(ast.Call) if ast.unparse(call.func) == "Variable"]
    assert [semantics.of(Volatiles).is_marked_beside(call) for call in calls] == expected


_GROUP = """\
class Group:
    def __init__(self):
        self.pool = torch.nn.MaxPool2d(3, 1, 1)
        self.conv = torch.nn.Conv2d(3, 3, 1)

    def peaks(self, x):
        return x * torch.eq(self.pool(x), x).float()

    def run(self, x):
        return self.conv(x)

    def hold(self, x):
        self.x = x
        return x * 2

    def calc(self, x, out, loss):
        x = Variable(x, volatile=True)
        {body}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = self.peaks(x)\n        return y.data.cpu().numpy()", True),
        ("y = self.peaks(x).topk(3)[0]\n        kept = {'y': y}\n        return {k: kept[k].data.numpy() for k in kept}", True),
        ("print(torch.max(x, 1))", True),
        ("if loss:\n            x = x.cuda()\n        self.m = torch.inverse(out.data + x.data)", True),
        ("return (self.conv(out).data == x.data).sum()", True),
        ("n = x.data.sum()\n        return self.conv(x)", False),
        ("n = x.data.sum()\n        self.x = x", False),
        ("y = self.run(x)\n        return y.data.cpu().numpy()", False),
        ("y = self.hold(x)\n        return y.data.cpu().numpy()", False),
        ("y = self.conv(x)\n        return y.data.cpu().numpy()", False),
        ("y = self.net(x)\n        return y.data.cpu().numpy()", False),
        ("return self.peaks(x)", False),
        ("self.x = self.peaks(x)", False),
        ("out[0] = self.peaks(x)", False),
        ("yield self.peaks(x)", False),
        ("later(lambda: self.peaks(x))", False),
        ("y = self.peaks(x)\n        def g(): return y\n        later(g)", False),
    ],
)
def test_what_meets_no_parameter(body: str, expected: bool) -> None:
    volatiles = semantics_of(_GROUP.format(body=body)).of(Volatiles)
    assert [volatiles.meet_nothing(mark) for mark in volatiles.marks] == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    x = Variable(x, volatile=True)", True),
        ("def f(masks):\n    m = Variable(torch.FloatTensor(masks), volatile=True)\n    return m.cuda()", True),
        ("def f(words):\n    m = Variable(torch.LongTensor(words), volatile=True)\n    return m.cuda()", False),
        ("def f(masks):\n    m = Variable(make(masks), volatile=True)\n    return m.cuda()", False),
        ("def f(masks):\n    m = Variable(torch.FloatTensor(masks), volatile=True)\n    return net(m)", False),
        ("def f(x, y):\n    x = Variable(x, volatile=True)\n    x = y\n    return net(x)", True),
        ("def f(x, ys):\n    for y in ys:\n        x = Variable(x, volatile=True)\n        x = y", True),
        ("y = Variable(x, volatile=True)", False),  # another file may read it
        ("def f(x):\n    global y\n    y = Variable(x, volatile=True)", False),
        ("def f(x):\n    self.x = Variable(x, volatile=True)", False),
        ("def f(x):\n    Variable(x, volatile=True)", False),
        ("def f(x, ys):\n    for y in ys:\n        net(x)\n        x = Variable(y, volatile=True)", False),
        ("def f(x):\n    x = Variable(x, volatile=True)\n    return lambda: net(x)", False),
        ("def f(x, y):\n    x = Variable(x, volatile=True)\n    if y:\n        x = y\n    return net(x)", False),
    ],
)
def test_what_nobody_reads_meets_nothing(text: str, expected: bool) -> None:
    volatiles = semantics_of(text).of(Volatiles)
    assert [volatiles.meet_nothing(mark) for mark in volatiles.marks] == [expected]


def test_one_of_two_marks_that_meets_a_model_is_enough() -> None:
    text = "def f(net, x, y):\n    x, y = Variable(x, volatile=True), Variable(y, volatile=True)\n"
    text += "    y = torch.relu(y).data\n    {}\n"
    for rest, expected in (("return net(x).data", False), ("return torch.relu(x).data", True)):
        volatiles = semantics_of(text.format(rest)).of(Volatiles)
        assert [volatiles.meet_nothing(mark) for mark in volatiles.marks] == [expected, expected]


_LISTS = """
class Trainer:
    def set_inputs(self, x, labels, others, n):
        self.kept, kept = [], []
        for i in range(n):
            {call}
        {rest}

    def run(self):
        {run}
"""


@pytest.mark.parametrize(
    ("call", "rest", "run", "expected"),
    [
        ("kept.append(Variable(x[i], volatile=True))", "print(torch.cat(kept).sum().item())", "pass", True),
        ("kept.append(Variable(x[i], volatile=True))", "return self.net(kept)", "pass", False),
        ("kept.append(Variable(x[i], volatile=True))", "return torch.cat(kept)", "pass", False),
        ("kept.append(Variable(x[i], volatile=True))", "self.all = torch.cat(kept)", "pass", False),
        ("kept.append(Variable(x[i], volatile=True))", "def g(): return self.net(kept)\n        later(g)", "pass", False),
        ("others.append(Variable(x[i], volatile=True))", "print(torch.cat(others).sum().item())", "pass", False),
        ("self.kept.append(Variable(x[i].cuda(), volatile=True))", "pass", "return self.net(self.kept)", False),
        ("self.kept.append(Variable(x[i].cuda(), volatile=True))", "pass", "pass", False),
        ("self.kept[0].append(Variable(x[i].cuda(), volatile=True))", "pass", "pass", False),
        ("x.kept.append(Variable(labels[i], volatile=True))", "pass", "pass", False),
        ("self.kept.append(Variable(labels[i].cuda(), volatile=True))", "pass", "return self.net(self.kept)", False),
        ("self.kept.append(Variable(labels[i].cuda(), volatile=True))", "pass", "return self.kept", False),
        ("self.kept.append(Variable(labels[i].cuda(), volatile=True))", "pass", "pass", True),
        (
            "self.kept.append(Variable(labels[i].cuda(), volatile=True))",
            "pass",
            "self.loss = self.criterion(torch.cat(self.out), torch.cat(self.kept))",
            True,
        ),
    ],
)
def test_what_is_put_into_a_list(call: str, rest: str, run: str, expected: bool) -> None:
    volatiles = semantics_of(_LISTS.format(call=call, rest=rest, run=run)).of(Volatiles)
    assert [volatiles.meet_nothing(mark) for mark in volatiles.marks] == [expected]
