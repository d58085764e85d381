"""Python files of any length, for how the time grows with it; full of what the rules look for."""

from __future__ import annotations

from itertools import count, islice
from string import Template

_HEAD = """\
import torch
from torch import nn
from torch.autograd import Variable

"""

_CLASS = Template("""\

class Block$n(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.register_buffer("mean", torch.zeros(width))
        self.linear.weight.data.normal_(0, 0.02)

    def forward(self, x, hidden=None):
        h = self.linear(x)
        if hidden is not None:
            h = h + hidden
        self.mean = 0.9 * self.mean + 0.1 * h.data.mean(0)
        return torch.relu(h)


def train$n(model, loader, optimizer):
    criterion = nn.CrossEntropyLoss()
    total = 0
    losses = []
    for step, (inputs, targets) in enumerate(loader):
        inputs = Variable(inputs)
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
        losses.append(loss.data[0])
        for parameter in model.parameters():
            parameter.data.clamp_(-1, 1)
    return total, losses
""")

_STEP = Template("""\
    x$n = torch.randn(8, 8, requires_grad=True)
    if flag:
        y$n = model(x$n)
    else:
        y$n = model(x$m)
    loss = criterion(y$n, target)
    loss.backward()
    total += loss
    x = x$n.data
""")


def many_definitions(lines: int) -> str:
    """A module of about ``lines`` lines, a class or function every dozen."""
    return _grown(_HEAD, _CLASS, lines)


def one_function(lines: int) -> str:
    """A module of about ``lines`` lines, all but a few in one loop of one function."""
    head = "    criterion = nn.MSELoss()\n    total = 0\n    x0 = torch.ones(8, 8)\n    for target in loader:\n"
    return _grown(f"{_HEAD}\ndef train(model, loader, flag):\n{head}", Template(_indented(_STEP.template)), lines)


def _grown(head: str, part: Template, lines: int) -> str:
    parts = (part.substitute(n=number, m=number - 1) for number in count(1))
    return head + "".join(islice(parts, lines // part.template.count("\n")))


def _indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))
