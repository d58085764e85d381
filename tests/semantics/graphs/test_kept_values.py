"""Whether anybody may ask for the graph of what a sum or a list keeps, and whether it is read as a number."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import Answer, Fact
from torchlint.semantics.autograd.accumulators import root_of
from torchlint.semantics.graphs.kept_values import KeptValues

HEADER = """\
import copy, logging, math
import numpy as np
import torch
from torch import nn


"""
SUM = "total = 0.0\nfor x in data:\n    loss = torch.sum(net(x))\n    «total» += loss\n"
SUMS = "sums = {'a': 0.0}\nfor x in data:\n    «sums['a']» += torch.sum(net(x))\n"
LIST = "kept = []\nfor x in data:\n    loss = torch.sum(net(x))\n    «kept».append(loss)\n"


def unread(text: str) -> Fact:
    """Whether nobody asks for the graph of what is added to the marked expression."""
    semantics, [node] = marked(HEADER + text)
    root = root_of(node)
    assert root is not None
    return semantics.of(KeptValues).graph_unread(node, root, kept=isinstance(semantics.tree.parent(node), ast.Attribute))


def numbers(text: str) -> Fact:
    """Whether what is added to the marked list is read as numbers."""
    semantics, [node] = marked(HEADER + text)
    assert isinstance(node, ast.Name)
    return semantics.of(KeptValues).read_as_numbers(node, node)


@pytest.mark.parametrize(
    "text",
    [
        SUM + "print(total)",
        SUM + "print(f'{total / 3:.3f}', '%.2f' % total, '{}'.format(total))",
        SUM + "mean = total / len(data)\nlogging.info('%s', mean)\nmath.exp(mean)",
        SUM + "if total > 3 and not total:\n    total *= 0.5",
        SUM + "mean = total.div(3).sqrt().item()\nhand(mean)",
        SUM + "report = []\nreport.append(total / 2)\nprint(report)",
        SUM + "print(total.shape, total.dtype, total is None)",
        SUM + "def show(value):\n    print(value)\nshow(total)",
        "def f(x):\n    total = torch.zeros(1)\n    «total» += net(x)\n    print(total)",
        "def f(x):\n    total = 0\n    def g():\n        nonlocal total\n        «total» += net(x)\n    g()\n    print(total)",
        "for _ in range(2):\n    total = 0\n    for x in y:\n        «total» = total + torch.sum(x)\n    print(total / 3)",
        SUMS + "print(f'{sums[\"a\"] / 4:.4f}')",
        SUMS + "for name, value in sums.items():\n    print(name, value.item())",
        LIST + "print(torch.stack(kept).mean().item(), len(kept))",
        LIST + "values = [float(each) for each in kept if each > 0]\nhand(values)",
        LIST + "best = min(kept)\nprint(sorted(kept, key=float), best, sum(kept[-3:]) / 3)",
        LIST + "for step, each in enumerate(kept):\n    print(step, each.exp().tolist())",
        LIST + "record = {'loss': kept}\nprint(record['loss'])",
        LIST + "last = kept.pop()\nkept.clear()\nprint(last)",
    ],
)
def test_graph_is_unread(text: str) -> None:
    assert unread(text) == Fact(Answer.CERTAIN)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("def f(total, x):\n    «total» += net(x)\n    print(total)", "`total` is an argument; its owner may need the graph"),
        ("total = start\n«total» += net(x)\nprint(total)", "`total` starts as `start`, which others may have"),
        (
            "class A:\n    def f(self, x):\n        «self.sum» += x\n",
            "`self.sum` may be read, and given other values, from anywhere",
        ),
        (SUM + "descend(total)", "`descend` gets what `total` keeps; it may need the graph"),
        (SUM + "meter.update(loss=total)", "`meter` gets it, and nothing shows who else has that"),
        (SUM + "objective = 0\nobjective += total\nstep(objective)", "`step` gets what `total` keeps; it may need the graph"),
        (SUM + "outer += total", "nothing shows what `outer`, which it is added to, was before"),
        (SUM + "print(total / args.steps)", "`args.steps` may be of a class that sees what is computed with it"),
        (SUM + "self.mean = total", "`self.mean` gets it, which may be read from anywhere"),
        (SUM + "report.append(total)", "`report` gets it, and nothing shows who else has that"),
        (SUM + "torch.add(total, 1, out=other)", "`torch.add` gets what `total` keeps; it may need the graph"),
        (
            "def f(x):\n    total = 0\n    «total» += net(x)\n    return total",
            "`total` is handed to callers that the file does not show",
        ),
        (
            "def f(x):\n    total = 0\n    «total» += net(x)\n    yield total",
            "`total` gets what `total` keeps; it may need the graph",
        ),
        (
            "total = 0\ndef f(x):\n    global total\n    «total» += net(x)\nprint(total)",
            "`total` is there for several functions, and may be read from other files",
        ),
        (SUM + "print(locals())", "the file reads variables in other ways than by their names, and so perhaps `total`"),
        (LIST + "kept[0] += 1", "what `kept` keeps is changed in place"),
        (LIST + "list(map(torch.Tensor.backward, kept))", "`map` gets what `kept` keeps; it may need the graph"),
        (LIST + "min(kept, key=differentiated)", "`min` gets what `kept` keeps; it may need the graph"),
        (LIST + "print(best in kept)", "`in` may ask which object `kept` is"),
    ],
)
def test_graph_may_be_read(text: str, doubt: str) -> None:
    assert unread(text) == Fact(Answer.UNKNOWN, doubt)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (SUM + "total.backward()", "`total.backward` is read"),
        (SUM + "(total / 2).backward()", "`(total / 2).backward` is read"),
        (LIST + "print([each.grad for each in kept])", "`each.grad` is read"),
        (LIST + "for each in kept:\n    print(each.requires_grad)", "`each.requires_grad` is read"),
        (LIST + "kept[-1].register_hook(print)", "`kept[-1].register_hook` is read"),
        (LIST + "torch.autograd.grad(sum(kept), w)", "`torch.autograd.grad` asks for more than the value of `sum(kept)`"),
        (LIST + "np.mean(kept)", "`np.mean` asks for more than the value of `kept`"),
        (SUM + "copy.deepcopy(total)", "`copy.deepcopy` asks for more than the value of `total`"),
        (SUM + "getattr(total, name)", "`getattr` asks for more than the value of `total`"),
        (SUM + "total.cpu().numpy()", "`total.cpu().numpy` is read"),
        (LIST + "print([i for i, each in enumerate(kept) if each is best])", "the code asks which object `each` is"),
    ],
)
def test_graph_is_read(text: str, doubt: str) -> None:
    assert unread(text) == Fact(Answer.REFUTED, doubt)


@pytest.mark.parametrize(
    "text",
    [
        LIST + "values = [float(each) for each in kept]\nhand(values)",
        LIST + "print(f'{kept[-1]:.3f} {min(kept)}', len(kept), '%.2f' % kept[0])",
        LIST + "last = kept[-1]\nprint(math.exp(last))",
    ],
)
def test_read_as_numbers(text: str) -> None:
    assert numbers(text) == Fact(Answer.CERTAIN)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (LIST + "print(kept)", "`print` gets what `kept` keeps; it may need the graph"),
        (LIST + "torch.stack(kept)", "`torch.stack` gets what `kept` keeps; it may need the graph"),
        (LIST + "kept[0].item()", "`kept[0].item()` of a number is not what it is of a tensor"),
        (LIST + "print(f'{kept[0]!r}')", "the representation of a number is not that of a tensor"),
        (LIST + "print('%s' % kept[0])", "`'%s' % kept[0]` of a number is not what it is of a tensor"),
        (LIST + "flag = kept[0] > 1", "`kept[0] > 1` of a number is not what it is of a tensor"),
        (LIST + "sum(kept) / 2", "`sum` gets what `kept` keeps; it may need the graph"),
    ],
)
def test_may_be_read_as_tensors(text: str, doubt: str) -> None:
    assert numbers(text) == Fact(Answer.UNKNOWN, doubt)
