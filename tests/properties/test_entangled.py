"""Names that are made of themselves, and of each other again and again: linting ends, soon, and finds them not too deep."""

from __future__ import annotations

import itertools

import pytest

from torchlint.engine.linter import lint
from torchlint.rules import all_rules
from torchlint.text.source import Source, parses

MADE_OF = """
{n} + {m} | {n} * 2 | {n} @ {m} | -{n} | not {n} | {n} or {m} | {n} == {m} | {n} is {m} | {n} if c else {m} | ({n} := {m})
[{n}] | [{n}] + {m} | {n} + [{m}] | ({n}, {m}) | [*{n}, {m}] | *{n}, {m} | {{'k': {n}}} | {{**{n}}} | dict(k={n}) | list({n})
[i for i in {n}] | lambda: {n} | (lambda q: {n})({m}) | f'{{{n}}}' | str({n}) | type({n}) | (yield {n}) | next({n}) | iter({n})
zip({n}, {m}) | enumerate({n}) | reversed({n}) | {n}[0] | {n}[{m}] | {n}() | {n}({m}) | f({n}) | self.f({n}) | {n}.k
{n}.append({m}) | {n}.values() | {n}.get('k') | getattr({n}, 'k') | copy.deepcopy({n}) | functools.partial({n}, {m})
{n}.view(-1) | {n}.view(2, {m}) | {n}.T | {n}.transpose(1, 2) | {n}.squeeze() | {n}.expand(3) | {n}.shape | {n}.size()
{n}.detach() | {n}.data | {n}.clone() | {n}.cuda() | {n}.cpu().data.numpy() | {n}.item() | {n}.grad | {n}.copy_({m})
{n}.backward() | {n}.new({m}) | torch.tensor({n}) | torch.Tensor({n}) | torch.from_numpy({n}) | torch.cat([{n}, {m}])
torch.load({n}) | Variable({n}) | F.softmax({n}) | criterion({n}, {m}) | nn.Linear({n}, {m}) | nn.ModuleList([{n}])
nn.Sequential(*{n}) | nn.Sequential({n}, *{m}) | {n}.eval() | {n}.train() | {n}.state_dict() | {n}.parameters()
torch.optim.SGD({n}.parameters(), lr=0.1) | {n}.children() | super().forward({n})
"""
"""What may be made of two values."""
EXPRESSIONS = [each.strip() for line in MADE_OF.strip().splitlines() for each in line.split(" | ")]

HEAD = """\
import copy, functools, torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Variable
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
"""
TAIL = """\
model = M()
model.eval()
loss = criterion(model(a), b)
loss.backward()
optimizer.step()
model.train()
"""
STARTS = ["", "a = foo(); b = nn.Linear(2, 2)", "a = torch.zeros(3); b = [nn.Linear(2, 2)]", "a = []; b = 1"]
KNOTS = {
    "in a loop": """\
for i in range(3):
    a = {made}
    self.a = a
    total += a
    out.append(a)
    a.add_(1)
    a[0] = 1
return a
""",
    "swapped": """\
while c:
    a, b = b, {made}
    b = a
    self.b = b
    self.both = [a, b]
return a, b
""",
    "through attributes": """\
self.a = a
for i in b:
    self.a = {of_self}
    self.b = self.a
    a = self.b
    self.a.data.zero_()
return self.a
""",
    "added to": """\
for a in b:
    a += {made}
    b = a
    a.backward()
    optimizer.step()
    del a
return b
""",
    "in recursion": """\
def g(q):
    return g({made}) + g(q)
a = g({made})
b = g(a)
a = self.forward({made}, b)
return self.forward(a, g)
""",
    "kept for later": """\
if c is None:
    for i in range(3):
        a = {made}
    if b:
        self.kept = a
else:
    a = c.detach()
return self.lin(a)
""",
}
LENGTH = 40
"""How many names are made in turn, each twice of the one before: what asks for both each time does not end."""
RULES = all_rules()


def method(signature: str, *body: str) -> str:
    """A method of a class; ``body`` are statements or lines of them."""
    lines = (line for part in body for line in part.splitlines())
    return f"    def {signature}:\n" + "".join(f"        {line}\n" for line in lines)


def lint_to_the_end(text: str) -> None:
    """Lints a program with all rules, if it is one; whatever is not found out is an error."""
    if parses(text):
        lint(Source(text, "entangled.py"), RULES)


@pytest.mark.parametrize("start", STARTS, ids=["parameters", "unknown", "tensor and list", "list and number"])
@pytest.mark.parametrize("knot", KNOTS)
def test_names_made_of_themselves(knot: str, start: str) -> None:
    for expression in EXPRESSIONS:
        made = expression.format(n="a", m="b")
        of_self = expression.format(n="self.a", m="self.b").replace("self.self", "self")
        body = KNOTS[knot].format(made=made, of_self=of_self)
        forward = method("forward(self, a, b, c=None, out=[], total=0)", start, body)
        lint_to_the_end(f"{HEAD}class M(nn.Module):\n{forward}{TAIL}")


@pytest.mark.parametrize("chain", [3, LENGTH])
def test_parts_of_a_module_made_of_themselves(chain: int) -> None:
    """What a constructor keeps: in a loop, and of names that are each made twice of the one before."""
    set_by_hand = "self.table = nn.Embedding(3, 3)\nself.table.weight.data = torch.ones(3, 3)"
    for expression in EXPRESSIONS:
        made = expression.format(n="a", m="b")
        steps = [f"v{n + 1} = {expression.format(n=f'v{n}', m=f'v{n}')}" for n in range(chain)]
        loop = (
            f"for i in range(3):\n    c = a\n    a = {made}\n    b = c\n    self.a = a\n    self.both = nn.ModuleList([a, b])"
        )
        body = ("super().__init__()", set_by_hand, "v0 = a", *steps, f"self.last = v{chain}", loop)
        lint_to_the_end(f"{HEAD}class M(nn.Module):\n{method('__init__(self, a, b)', *body)}{TAIL}")


@pytest.mark.parametrize("start", ["torch.zeros(3)", "[]", "[nn.Linear(2, 2)]"])
@pytest.mark.parametrize("kind", ["names", "attributes", "functions"])
def test_long_chains(kind: str, start: str) -> None:
    for expression in EXPRESSIONS:
        lint_to_the_end(HEAD + CHAINS[kind](expression, start) + TAIL)


def of_names(expression: str, start: str) -> str:
    steps = [f"v{n + 1} = {expression.format(n=f'v{n}', m=f'v{n}')}\n" for n in range(LENGTH)]
    uses = f"total += {LAST}\n{LAST}.data.zero_()\n{LAST}[0] = 1\nfor p in x:\n    out.append({LAST})\nreturn {LAST}\n"
    return f"class M(nn.Module):\n{method('forward(self, x, out=[], total=0)', f'v0 = {start}', *steps, uses)}"


def of_attributes(expression: str, start: str) -> str:
    made = (expression.format(n=f"self.v{n}", m=f"self.v{n}").replace("self.self", "self") for n in range(LENGTH))
    steps = [f"self.v{n} = {each}\n" for n, each in enumerate(made, 1)]
    uses = f"self.{LAST}.data.zero_()\nself.{LAST}.requires_grad = False\nreturn self.{LAST}(x)\n"
    constructor = method("__init__(self)", "super().__init__()", f"self.v0 = {start}", *steps)
    return f"class M(nn.Module):\n{constructor}{method('forward(self, x)', uses)}"


def of_functions(expression: str, start: str) -> str:
    steps = [f"def v{n + 1}(x):\n    return {expression.format(n=f'v{n}(x)', m=f'v{n}(x)')}\n" for n in range(LENGTH)]
    uses = f"y = {LAST}(x)\ny.add_(1)\ny.data.zero_()\nreturn y\n"
    return "".join([f"def v0(x):\n    return {start}\n", *steps, f"class M(nn.Module):\n{method('forward(self, x)', uses)}"])


LAST = f"v{LENGTH}"
CHAINS = {"names": of_names, "attributes": of_attributes, "functions": of_functions}


def test_the_programs_are_python() -> None:
    """All but those that yield in a place where that needs a function around it, or star what may not be starred."""
    texts = [HEAD + make(expression, "[]") + TAIL for make, expression in itertools.product(CHAINS.values(), EXPRESSIONS)]
    assert sum(map(parses, texts)) > 0.95 * len(texts)
