"""PyTorch-like programs, as people write them and worse: what the properties are tried on.

They are read, never run; `running.py` makes those that run.
"""

# ruff: noqa: E501 (the tables below read best a template to a line)

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import layout
from grammar import Choice, Grammar, Writer
from hypothesis import strategies as st

FIXTURES = Path(__file__).parents[2] / "fixtures"

# --- how the libraries are imported ----------------------------------------------------------------------------------

IMPORTS = {
    "torch": (("import torch", "torch"), ("import torch as th", "th"), ("", "torch")),
    "nn": (
        ("import torch.nn as nn", "nn"),
        ("from torch import nn", "nn"),
        ("from torch import nn as layers", "layers"),
        ("import torch", "torch.nn"),
    ),
    "F": (
        ("import torch.nn.functional as F", "F"),
        ("from torch.nn import functional as f", "f"),
        ("import torch", "torch.nn.functional"),
    ),
    "optim": (("import torch.optim as optim", "optim"), ("from torch import optim", "optim"), ("import torch", "torch.optim")),
    "np": (("import numpy as np", "np"), ("import numpy", "numpy")),
    "Variable": (
        ("from torch.autograd import Variable", "Variable"),
        ("from torch.autograd import Variable as V", "V"),
        ("from torch import autograd", "autograd.Variable"),
        ("import torch", "torch.autograd.Variable"),
        ("from torch.autograd import (\n    Function, Variable,  # both\n)", "Variable"),
    ),
    "Parameter": (("from torch.nn import Parameter", "Parameter"), ("import torch", "torch.nn.Parameter")),
}

# --- statements ------------------------------------------------------------------------------------------------------

STATEMENTS = (
    "<T>.backward()",
    "<new T> = <T>",
    "<new T> = <T>",
    "<new T> = <graph>",
    "<new loss> = <lossy>",
    "<new T>, <new T> = <T>, <T>",
    "<new A> = <A>",
    "<new P> = <Parameter>(<T>)",
    "<new M> = <module>",
    "<new O> = <optim>.SGD(<M>.parameters(), lr=<number>)",
    "<new O> = <optim>.Adam([{'params': <M>.parameters()}], <number>)",
    "<M> = <M>.<moved>",
    # .data
    "<T>.data<op_>",
    "<P>.data<op_>",
    "<P>.data[<index>] = <number>",
    "<P>.data *= <number>",
    "<P>.data -= <number> * <P>.grad.data",
    "<P>.data.copy_(\n    # from there\n    <T>.data,\n)",
    "<P>.data = <T>",
    "<M>.weight.data = <T>.data",
    "<M>.weight.data<op_>; <M>.bias.data<op_>",
    "<nn>.init.normal_(<M>.weight.data, 0, 0.02)",
    "<new T> = <T>.data",
    "<new T> = <P>.data\n<T><op_>",
    "print(f'{<T>.data} {<loss>.item():.3f}', <T>.data.cpu().numpy())",
    'print(f"{<T>.data.numpy()!r:>{<number>}} {{}} 😀 {<A>}")',
    "if (seen := <T>.data) is not None: print('😀', seen); <P>.data<op_>",
    "[q.data<op_> for q in <M>.parameters()]",
    "_, <new T> = <torch>.max(<graph>.data, 1)",
    "for p in <M>.parameters(): p.data.add_(-<number>, p.grad.data)",
    "for group in <O>.param_groups:\n    for p in group['params']:\n        p.data.add_(p.grad, alpha=-group['lr'])",
    # Variable and its time
    "<new T> = <Variable>(<T>)",
    "<new T>, <new T> = <Variable>(<T>), <Variable>(<T>, requires_grad=True)",
    "<new T> = <Variable>(<torch>.from_numpy(<A>).float().cuda(), volatile=True)",
    "<new T> = <Variable>(<T>.data, volatile=not <flag>)\n<new T> = <M>(<T>)",
    "<T>.volatile = True",
    "assert isinstance(<T>, <Variable>) or type(<T>) == <Variable>",
    "<total> += <loss>.data[0]",
    "print('loss: %.3f' % <loss>.data[0], <loss>[0])",
    "<new T> = <torch>.FloatTensor(<A>)",
    "<new T> = <torch>.Tensor([<number>, <number>])",
    "<new T> = <T>.new(<T>.size()).zero_()",
    "<new loss> = <F>.cross_entropy(<graph>, <T>, size_average=False)",
    "<nn>.init.xavier_uniform(<M>.weight)",
    "<nn>.utils.clip_grad_norm(<M>.parameters(), <number>)",
    "<new T> = <F>.softmax(<T>)",
    "from torchvision import models\n<new M> = models.resnet18(pretrained=<flag>)",
    # gradients
    "<P>.requres_grad = False",
    "for p in <M>.parameters():\n    p.require_grad = <flag>",
    "<M>.requires_grad = False",
    "<new T> = <P> * 2\n<new T> = <graph>\n<T>.sum().backward()\nprint(<T>.grad)",
    "mid = <P> * <number>\nmid.sum().backward()\nprint(mid.grad)",
    "<new T> = <torch>.tensor(<loss>, requires_grad=True)\n<T>.backward()",
    "<loss>.requires_grad = True",
    "out = <P>.sigmoid()\nout<op_>\nout.sum().backward()",
    "<loss>.backward(retain_graph=True)",
    "<loss>.backward",
    "<O>.step",
    "<M>.eval",
    "<O>.zero_grad()\n<loss>.backward()\n<O>.zero_grad()\n<O>.step()",
    # results and aliases
    "<T>.to(<device>)",
    "<T>.detach()",
    "<T>.clone(); <T>.add(<number>)",
    "alias = <graph>.detach()\nalias<op_>\nprint(<T>)",
    "best = <M>.state_dict()\n<O>.step()\n<M>.load_state_dict(best)",
    "old = <M>.weight.data\n<O>.step()\nprint((old - <M>.weight).abs().max())",
    "shared = <torch>.from_numpy(<A>)\nshared<op_>\nprint(<A>)",
    "print(id(<T>) == id(<T>), <T> is <T>)",
    "wide = <T>.expand(4, -1, -1)\nwide[0] = <number>\nprint(wide)",
    "<T>.expand_as(<T>)<op_>",
    "<new T> = <T>.transpose(0, 1).view(-1)",
    "<new T> = <T>.permute(2, 0, 1)\\\n    .view(<T>.size(0), -1)",
    "<new T> = <T>.squeeze()",
    "b, t, d = <T>.size()\n<new T> = <T>.view(t, b, d)",
    "<new T> = <torch>.tensor(<T>)",
    "<new T> = <torch>.tensor(<np>.array(<A>))",
    # modules, modes and devices
    "<new T> = <M>.forward(<T>)",
    "<new T> = <torch>.zeros(3, 4).<moved>",
    "<new T> = <torch>.randn(<number>, 4).<moved>",
    "<torch>.save(<M>, 'model.pt')",
    "<new M> = <torch>.load('model.pt')",
    "<M>.load_state_dict(<torch>.load('weights.pt'))\nprint(<M>(<T>))",
    "<new loss> = <nn>.CrossEntropyLoss()(<F>.softmax(<graph>, dim=1), <T>)",
    "start = time.time()\n<new T> = <M>(<T>.cuda())\nprint(time.time() - start)",
    # loops
    "<new total> = 0\nfor x, y in <loader>:\n    loss = <criterion>(<M>(x), y)\n    loss.backward()\n    <O>.step()\n    <total> += loss",
    "<new total> = 0.0\nfor i, (x, y) in enumerate(<loader>, 1):\n    <O>.zero_grad()\n    loss = <lossy>\n    loss.backward()\n"
    "    <O>.step()\n    <total> = <total> + loss * len(x)\n    <body>\nprint(<total> / len(<loader>))",
    "losses = []\nfor x, y in <loader>:\n    loss = <criterion>(<M>(x), y); losses.append(loss)\n    <body>",
    "<M>.eval()\nfor x, y in <loader>:\n    out = <M>(x)\n    print(out.argmax(1))\n    <body>",
    "<M>.eval()\ncorrect = 0\nfor x, y in <loader>:\n    x, y = <Variable>(x, volatile=True), <Variable>(y)\n    correct += (<M>(x).data.max(1)[1] == y.data).sum()",
    "for epoch in range(<number>):\n    <M>.eval()\n    for x, y in <loader>:\n        loss = <criterion>(<M>(x), y)\n        <O>.zero_grad()\n        loss.backward()\n        <O>.step()",
    "with <torch>.no_grad():\n    <body>",
    "with <torch>.no_grad():\n    for x, y in <loader>:\n        print(<M>(x))",
    "with (<torch>.no_grad(), open('log') as log):\n    <body>",
    "with open('log', 'w') as log, \\\n     <torch>.enable_grad():\n    <body>",
    "if <condition>:\n    <body>\nelif <condition>:\n    <body>\nelse:\n    <body>",
    "if <condition>: <P>.data<op_>",
    "while <condition>:\n    <body>\n    break\nelse:\n    <body>",
    "try:\n    <body>\nexcept (RuntimeError, ValueError) as error:\n    <body>\nfinally:\n    <body>",
    "match <T>:\n    case <torch>.Tensor() as t if t.dim() > 1:\n        t.data<op_>\n        <body>\n    case [first, *_] | {'x': first}:\n        <body>\n    case _:\n        <body>",
    'def inner(x: <torch>.Tensor, *more, scale=<number>, **options) -> \'<torch>.Tensor\':\n    """Does it, with ``x.data``."""\n    <body>\n    return <graph>',
    "@<torch>.no_grad()\ndef inner(model: <nn>.Module, loader):\n    <body>",
    "inner = lambda q: q.data<op_>",
    "text = '''\n<not code>\n    x.data.zero_()\n'''  # a string",
    'print("""{}\n  indented""".format(<T>.data), <T>.data)',
    "'😀 𝔘nicode'; <P>.data<op_>",
    "global_step: int = 0; del global_step",
    "<P>.data<op_>  # noqa",
    "<T>.detach()  # noqa: TPL014, E501",
    "<T>.detach()  # noqa: TPL101",
    "return <graph>",
    "yield <T>",
    "pass",
)

EXPRESSIONS = {
    "T": (
        "<torch>.randn(2, 3)",
        "<graph>",
        "<P>",
        "<torch>.ones(3, requires_grad=True)",
        "<T>.<moved>",
        "<T>.detach()",
        "<T>.data",
        "(<T> + <number>)",
        "<T>[<index>]",
        "<torch>.cat([<T>, <T>], dim=0)",
        "<torch>.from_numpy(<A>)",
        "<torch>.stack([t for t in (<T>, <T>)])",
        "<T>.view(<T>.size(0), -1)",
        "(<T> if <condition> else <T>)",
        "<Variable>(<T>)",
        "-<T>",
    ),
    "graph": (
        "<M>(<T>)",
        "(<P> * <T>)",
        "<P>.sigmoid()",
        "<F>.relu(<M>(<T>))",
        "<torch>.tanh(<P> @ <T>)",
        "<M>(\n    <T>,  # the input\n)",
        "<P>\\\n    .exp()",
    ),
    "lossy": ("<graph>.sum()", "<F>.mse_loss(<graph>, <T>)", "<criterion>(<M>(<T>), <T>)", "<graph>.pow(2).mean()"),
    "loss": ("<lossy>",),
    "P": ("<M>.weight", "next(<M>.parameters())", "<M>[0].bias", "<Parameter>(<torch>.zeros(3))"),
    "M": ("<nn>.Linear(3, 3)",),
    "module": (
        "<nn>.Linear(3, 3)",
        "<nn>.Sequential(<nn>.Linear(3, 3), <nn>.ReLU(), <nn>.Dropout(0.5))",
        "<nn>.Conv2d(3, 3, kernel_size=1).cuda()",
        "<nn>.BatchNorm1d(3)",
    ),
    "O": ("optimizer",),
    "A": ("<np>.ones((2, 3))", "<T>.cpu().data.numpy()", "<T>.detach().numpy()", "<T>.data.cpu().numpy()", "<A> * 2"),
    "total": ("total",),
    "loader": ("loader", "<torch>.utils.data.DataLoader(dataset, batch_size=8)"),
    "criterion": ("<nn>.MSELoss()", "<nn>.CrossEntropyLoss()", "criterion"),
    "op_": (
        ".zero_()",
        ".add_(<number>)",
        ".mul_(2).clamp_(min=0)",
        ".normal_(0, <number>)",
        ".fill_(\n    1\n)",
        "[0].fill_(1)",
    ),
    "moved": ("cuda()", "to(<device>)", "float()", "cpu()", "double()", "to(<torch>.float16)"),
    "device": ("device", "'cpu'", '"cuda:0"', "<torch>.device('cpu')", "<T>.device"),
    "index": ("0", "..., 0", ":, 1:", "-1", "<T> > 0", "None, 0"),
    "number": ("1", "0.5", "1e-3", "len(<loader>)", "2 ** 3", "0x1f"),
    "condition": ("<flag>", "<loss> > <number>", "<T> is None", "not <flag>", "<T>.dim() == 2 and <flag>"),
    "flag": ("True", "flag", "False"),
    "not": ("not", "never"),
}

NAMES = {
    "T": ("x", "y", "h", "out", "x", "images", "outputs", "größe", "損失", "𝐱", "self_x", "data", "h_0"),
    "P": ("w", "p", "weight", "w"),
    "loss": ("loss", "err", "loss_d", "loss"),
    "M": ("model", "net", "m", "model"),
    "O": ("optimizer", "opt", "optimizer"),
    "A": ("a", "array", "arr"),
    "total": ("total", "running_loss", "total"),
}

GRAMMAR = Grammar(STATEMENTS, EXPRESSIONS, NAMES)

# --- whole programs --------------------------------------------------------------------------------------------------

FUNCTION = """\
def <name>(model: <nn>.Module, loader, optimizer, criterion, x: <torch>.Tensor, w: <nn>.Parameter, flag=False):
    <statements>
"""

MODEL = """\
class <Name>(<nn>.Module):
    def __init__(self, size, depth=2):
        <super>
        self.fc = <nn>.Linear(size, size)
        self.fc.weight.data.normal_(0, 0.02); self.scale = <nn>.Parameter(<torch>.ones(size))
        self.<cells> = [<nn>.Linear(size, size) for _ in range(depth)]

    @property
    def device(self): return self.fc.weight.device

    def forward(self, x: <torch>.Tensor):
        h = <F>.relu(self.fc(x))
        for layer in self.<cells>: h = layer(h)
        <statements>
        return h * self.scale
"""

ASYNC = """\
async def <name>(model, source, w: <nn>.Parameter):
    async for x in source:
        w.data.copy_(await x)
        <statements>
"""

SCRIPT = """\
model = <nn>.Sequential(<nn>.Linear(3, 3), <nn>.ReLU())
optimizer = <optim>.SGD(model.parameters(), lr=0.1)
criterion = <nn>.MSELoss()
x, w = <torch>.randn(3, 3), <nn>.Parameter(<torch>.ones(3, 3))
<statements>
"""

GUARDED = """\
if __name__ == "__main__":
    model = <nn>.Linear(3, 3)
    optimizer = <optim>.SGD(model.parameters(), lr=0.1)
    <statements>
"""

_KNOWN = {"T": ["x"], "P": ["w"], "M": ["model"], "O": ["optimizer"], "loss": [], "A": [], "total": []}
_SECTIONS = (FUNCTION, SCRIPT, MODEL, FUNCTION, GUARDED, ASYNC)
_NO_SCRIPT = ("return ", "yield ")


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its text, with ``\\n`` for newlines, and the bytes of a file that holds it."""

    text: str
    data: bytes


def program(choice: Choice, sections: int = 2) -> Program:
    """A program of a few sections, laid out in some way."""
    imports, spellings = _imports(choice)
    grammar = replace(GRAMMAR, expressions={**EXPRESSIONS, **{name: (spelling,) for name, spelling in spellings.items()}})
    parts = [_section(choice, grammar, index) for index in range(choice.between(1, sections))]
    text = "\n".join(["\n".join(imports), *parts])
    text = text if _is_python(text) else "\n".join(imports) + "\n" + SIMPLEST
    return dressed(text, choice)


SIMPLEST = "w = torch.nn.Parameter(torch.ones(2))\nw.data.zero_()\n"


def _imports(choice: Choice) -> tuple[list[str], dict[str, str]]:
    lines: list[str] = []
    spellings: dict[str, str] = {}
    for name, options in IMPORTS.items():
        line, spellings[name] = choice.of(options)
        if line and line not in lines:
            lines.append(line)
    return lines, spellings


def _section(choice: Choice, grammar: Grammar, index: int) -> str:
    template = choice.of(_SECTIONS)
    if template in (SCRIPT, GUARDED):
        usable = tuple(statement for statement in grammar.statements if not statement.startswith(_NO_SCRIPT))
        grammar = replace(grammar, statements=usable)
    writer = Writer(grammar, choice, {kind: list(names) for kind, names in _KNOWN.items()})
    if template is ASYNC:
        usable = tuple(statement for statement in grammar.statements if not statement.startswith("return "))
        writer.grammar = replace(grammar, statements=usable)
    fixed = {
        "name": f"{choice.of(('train', 'evaluate', 'step', 'test', 'prüfe'))}_{index}",
        "Name": f"{choice.of(('Net', 'Model', 'Encoder'))}{index}",
        "super": choice.of(("super().__init__()", "super(type(self), self).__init__()", "self.size = size")),
        "cells": choice.of(("layers", "cells", "lay\u00e9rs")),
    }
    lines: list[str] = []
    for line in template.split("\n"):
        if line.strip() == "<statements>":
            lines += [line[: -len("<statements>")] + inner for inner in writer.block(choice.between(1, 7))]
        else:
            for name, value in fixed.items():
                line = line.replace(f"<{name}>", value)
            lines += writer.filled(line)
    return "\n".join(lines)


# --- pieces of the fixtures, mixed -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """A top-level statement of a fixture, and the imports and definitions that stand before it there."""

    imports: str
    text: str


@cache
def pieces() -> tuple[Piece, ...]:
    """The top-level statements of all fixtures, but for their imports."""
    found = []
    for path in sorted(FIXTURES.glob("*/*.py")):
        if path.name in ("bad.py", "good.py"):
            text = path.read_text(encoding="utf-8")
            if not _is_python(text):
                continue  # `x.cuda(async=True)`
            lines = text.split("\n")
            imports = []
            for node in ast.parse(text).body:
                first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
                segment = "\n".join(lines[first - 1 : node.end_lineno])
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    imports.append(segment)
                elif _is_python(segment):
                    found.append(Piece("\n".join(imports), segment))
    return tuple(found)


def collage(choice: Choice, most: int = 5) -> Program:
    """A program of pieces of several fixtures."""
    chosen = [choice.of(pieces()) for _ in range(choice.between(1, most))]
    imports = list(dict.fromkeys(line for piece in chosen for line in [piece.imports]))
    bodies = [_nested(piece.text) if choice.one_in(5) else piece.text for piece in chosen]
    text = "\n".join([*imports, *bodies, ""])
    return dressed(text if _is_python(text) else SIMPLEST, choice)


def _nested(text: str) -> str:
    """A piece within a block, unless it has a string over several lines, or a future import."""
    return text if '"""' in text or "'''" in text else "if True:\n" + textwrap.indent(text, "    ")


# --- layout ----------------------------------------------------------------------------------------------------------


def dressed(text: str, choice: Choice) -> Program:
    """A program in some layout: with other spaces, breaks and comments, other newlines, a byte order mark."""
    plain = text
    for change in (
        layout.joined,
        layout.spaced,
        layout.broken,
        layout.continued,
        layout.interrupted,
        layout.parted,
        layout.commented,
    ):
        if choice.one_in(3):
            changed = change(text, choice)
            text = changed if _is_python(changed) else text
    if choice.one_in(4):
        text = layout.tabbed(text)
    if choice.one_in(5):
        text = text.rstrip("\n")
    if not _is_python(text):
        text = plain
    newlines = choice.of(("\n", "\n", "\r\n", "\r", "mixed"))
    data = layout.with_newlines(text, newlines, choice)
    if not _is_python(data):
        data = text
    return Program(text, (b"\xef\xbb\xbf" if choice.one_in(6) else b"") + data.encode())


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


# --- strategies ------------------------------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs from the grammar."""
    return program(drawing(draw))


@st.composite
def collages(draw: st.DrawFn) -> Program:
    """Programs of pieces of the fixtures."""
    return collage(drawing(draw))


def drawing(draw: st.DrawFn) -> Choice:
    """The choices of a strategy."""

    def below(number: int) -> int:
        return draw(st.integers(0, number - 1)) if number > 1 else 0

    return Choice(below)
