"""Small programs that run on torch and print what they compute, and the running of them before and after a fix."""

# ruff: noqa: E501 (the tables below read best a template to a line)

from __future__ import annotations

import contextlib
import io
import warnings

import torch
from grammar import Choice, Grammar, Writer
from hypothesis import strategies as st
from programs import drawing

from outcomes import Outcome

STATEMENTS = (
    "print(<T>.tolist())",
    "<new plain> = <plain>",
    "<new value> = <value>",
    "<new leaf> = <leafy>",
    "<new A> = <A>",
    "<new loss> = <lossy>",
    "<new plain> = <T>.data",
    "<new plain> = <T>.data<op>\nprint(<plain>.sum().item())",
    "<new plain> = <T>.detach()<op>",
    "<new plain> = Variable(<plain>)",
    "<new leaf> = Variable(<plain>, requires_grad=True)",
    "<new plain> = Variable(<T>.data)",
    "<new plain>, <new plain> = Variable(<plain>), Variable(<T>.data, requires_grad=False)",
    "<leaf>.data<op_>",
    "<plain>.data<op_>",
    "<leaf>.data *= 0.5; <leaf>.data += <plain>",
    "<leaf>.data[0] = <number>",
    "<leaf>.data[:, 1] -= <leaf>.data[:, 0]",
    "<leaf>.data.copy_(<plain>)",
    "<leaf>.data = <plain>",
    "model.weight.data<op_>; model.bias.data.zero_()",
    "torch.nn.init.constant_(model.weight.data, <number>)",
    "print(f'{<T>.data.sum():.2f}', f\"{<T>.data.cpu().numpy().max()!r:>8}\")",
    "print(<T>.data.numpy().tolist(), <T>.cpu().data.numpy().sum())",
    "print('😀', <T>.data.tolist()); <leaf>.data<op_>",
    "print(isinstance(<T>, Variable), isinstance(<T>, (torch.Tensor, Variable)))",
    "<lossy>.backward()\nfor p in model.parameters(): p.data.add_(-0.1 * p.grad.data)\nmodel.zero_grad()",
    "<lossy>.backward()\nfor p in model.parameters():\n    if p.grad is not None:\n        p.data.sub_(0.1 * p.grad.data); p.grad.data.zero_()",
    "loss_1 = <value>.pow(2).mean() + <leaf>.sum()\nloss_1.backward()\nprint(<leaf>.grad)",
    "optimizer.zero_grad()\n<lossy>.backward()\noptimizer.step()\nprint(model.weight.sum().item())",
    "total = 0\nfor x_i, y_i in batches:\n    optimizer.zero_grad()\n    loss = criterion(model(x_i), y_i)\n    loss.backward()\n"
    "    optimizer.step()\n    total += loss\n    <body>\nprint(float(total))",
    "total = 0.0\nfor x_i, y_i in batches:\n    loss = ((model(x_i) - y_i) ** 2).mean()\n    total = total + loss * len(x_i)\n    <body>\nprint(float(total) / 3)",
    "losses = []\nfor x_i, y_i in batches:\n    losses.append(criterion(model(x_i), y_i))\nprint([float(loss) for loss in losses])",
    "model.eval()\nfor x_i, y_i in batches:\n    print(model(x_i).argmax(1).tolist(), criterion(model(x_i), y_i).item())\nmodel.train()",
    "best = model.state_dict()\noptimizer.step()\nprint(sorted(best), model.bias.tolist())",
    "print(F.mse_loss(<T>, <plain>, size_average=False).item(), F.l1_loss(<T>, <plain>, reduce=False).tolist())",
    "print(F.softmax(<T>).sum().item(), F.tanh(<T>).tolist(), F.sigmoid(<T>).mean().item())",
    "torch.nn.init.normal(<leaf>, 0, 0.1); print(<leaf>.tolist())",
    "print(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) is None)",
    "print(torch.zeros(3, 3).to(torch.float64).dtype, torch.ones(2).double().tolist(), torch.arange(3).float().tolist())",
    "print(torch.tensor(<plain>).tolist(), <plain>.new(2, 2).zero_().tolist(), torch.FloatTensor(<A>).tolist())",
    "wide = <plain>[0].expand(3, 3)\nprint(wide.tolist(), <T>.t().reshape(-1).tolist())",
    "with torch.no_grad():\n    <body>",
    "if flag:\n    <body>\nelse:\n    <body>",
    "for i in range(2):\n    <body>",
    "try:\n    <body>\nexcept RuntimeError as error:\n    print('failed')",
    'def scaled(x, by=2):\n    """Scales the data."""\n    y = x.data * by\n    return Variable(y)\nprint(scaled(<T>).tolist())',
    "def wiped(p: torch.nn.Parameter):\n    # in place\n    p.data<op_>\n    p.data[0, 0] = 3\n    return p\nprint(wiped(<leaf>).tolist())",
    "_, best_row = torch.max(<value>.data, 1); print(best_row.tolist())",
    "[p.data<op_> for p in model.parameters()]",
    "match <T>.dim():\n    case 2:\n        <leaf>.data<op_>\n        <body>\n    case _:\n        print('flat')",
    "if (s := <T>.data.sum().item()) > 0: print('positive', s)",
)

EXPRESSIONS = {
    "T": ("<plain>", "<value>", "<leaf>"),
    "plain": (
        "torch.ones(3, 3)",
        "torch.randn(3, 3)",
        "<T>.data",
        "<T>.detach()",
        "(<plain> * <number>)",
        "<plain>.clone()",
        "Variable(<plain>)",
        "torch.from_numpy(<A>)",
        "<plain>.view(3, 3)",
        "torch.stack([row for row in <plain>.data])",
    ),
    "value": (
        "model(<plain>)",
        "(<leaf> * <T>)",
        "<leaf>.sigmoid()",
        "F.relu(model(<T>))",
        "(<value> + <plain>)",
        "<leaf>.exp()",
    ),
    "leaf": ("model.weight",),
    "leafy": (
        "torch.ones(3, 3, requires_grad=True)",
        "torch.nn.Parameter(torch.randn(3, 3))",
        "Variable(torch.ones(3, 3), requires_grad=True)",
    ),
    "lossy": ("<value>.sum()", "<value>.pow(2).mean()", "criterion(model(<plain>), <plain>)"),
    "loss": ("<lossy>",),
    "A": ("np.ones((3, 3), dtype=np.float32)", "<T>.data.numpy()", "<T>.cpu().data.numpy().copy()", "(<A> + 1)"),
    "op": (" * 2", ".abs()", " + 1"),
    "op_": (".zero_()", ".add_(<number>)", ".mul_(0.5).add_(1)", ".fill_(0.25)", ".clamp_(min=0)", "[0].fill_(1)"),
    "number": ("1", "0.5", "-0.25", "2 ** -2"),
}

NAMES = {
    "plain": ("x", "y", "data", "z", "x"),
    "value": ("h", "out", "scores"),
    "leaf": ("w", "v", "p"),
    "loss": ("loss_a", "loss_b"),
    "A": ("a", "array"),
}

GRAMMAR = Grammar(STATEMENTS, EXPRESSIONS, NAMES)

START = """\
import numpy as np
import torch
import torch.nn.functional as F
from torch.autograd import Variable

model = torch.nn.Linear(3, 3)
criterion = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(3, 3), torch.randn(3, 3)) for _ in range(3)]
x = torch.randn(3, 3)
w = torch.nn.Parameter(torch.randn(3, 3))
flag = bool(x.sum() > 0)
"""

END = """\
print(model.weight.tolist(), model.bias.tolist(), [p.requires_grad for p in model.parameters()])
print([w.tolist(), x.tolist(), w.requires_grad, x.requires_grad])
"""


def runnable(choice: Choice, most: int = 8) -> str:
    """A program that most likely runs, and prints what it has computed."""
    writer = Writer(GRAMMAR, choice, {"plain": ["x"], "leaf": ["w"]})
    body = "\n".join(writer.block(choice.between(1, most))) + "\n"
    if choice.one_in(2):
        body = "def main(x, w):\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "\nmain(x, w)\n"
    return START + body + END


@st.composite
def runnable_programs(draw: st.DrawFn) -> str:
    """Programs that most likely run."""
    return runnable(drawing(draw))


# --- running ---------------------------------------------------------------------------------------------------------


def run(text: str) -> Outcome:
    """Runs a program in this process, always with the same random numbers."""
    torch.manual_seed(0)
    printed = io.StringIO()
    error = None
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    return Outcome(printed.getvalue(), error)
