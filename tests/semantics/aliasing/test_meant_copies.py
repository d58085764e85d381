"""Which snapshots were meant to be copies, and the reasons where code may rely on their following the weights."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.fact import Fact
from torchlint.semantics.aliasing.meant_copies import MeantCopies
from torchlint.semantics.aliasing.snapshots import Snapshots

HEADER = """\
import numpy as np
import torch
from torch import nn


"""


def copied(body: str, parameters: str = "data", imports: str = "") -> Fact:
    """Whether the marked expression was meant to be a copy, in a function."""
    lines = "".join(f"    {line}\n" for line in f"net = nn.Linear(2, 2)\n{body}".splitlines())
    semantics, [node] = marked(f"{imports}{HEADER}def f({parameters}):\n{lines}")
    [snapshot] = semantics.of(Snapshots).within(node)
    return semantics.of(MeantCopies).fact(node, snapshot.of)


BEST = "best, least = None, 9\nfor x in data:\n    loss = step(net, x)\n    if loss < least:\n        least = loss\n        "


@pytest.mark.parametrize(
    "body",
    [
        "best = «net.state_dict()»\nstep(net)\nnet.load_state_dict(best)",
        "best = «dict(net.state_dict())»\nif best is not None:\n    net.load_state_dict(best)",
        f"{BEST}best = «net.state_dict()»\ntorch.save(best, 'best.pt')",
        f"{BEST}best = «net.state_dict()»\nreturn best",
        "old = «net.weight.detach()»\nstep(net)\nprint((net.weight - old).norm())",
        "old = «net.weight.detach()»\nstep(net)\nassert not torch.equal(old, net.weight)",
        "w = torch.zeros(2, requires_grad=True)\nold = «w.data»\nw -= 1\nprint((w - old).norm())",
        "old = «list(net.parameters())»\nstep(net)\nfor a, b in zip(old, net.parameters()):\n    print((a - b).norm())",
        "w = torch.ones(2, requires_grad=True)\nkept = []\nfor x in data:\n    kept.append(«w.detach()»)\ntorch.stack(kept)",
    ],
)
def test_meant_as_a_copy(body: str) -> None:
    assert copied(body).is_certain


@pytest.mark.parametrize(
    ("body", "doubt"),
    [
        ("live = «net.state_dict()»\nother.load_state_dict(live)", "code may rely on `live` following the weights"),
        (
            "live = «net.state_dict()»\nlive['bias'].zero_()\nnet.load_state_dict(live)",
            "code may rely on `live` following the weights",
        ),
        ("live = «net.state_dict()»", "nothing shows what `live` is kept for"),
        ("best = «net.state_dict(keep_vars=True)»\nnet.load_state_dict(best)", "these arguments may refuse to be copied"),
        ("best = «net.state_dict()»\nnet = nn.Linear(2, 2)\nnet.load_state_dict(best)", "`net` may be another one by then"),
        ("best = «net.state_dict()»\ndef g():\n    net.load_state_dict(best)", "the state that follows the weights"),
        (f"{BEST}best = «net.state_dict()»\n    torch.save(best, 'best.pt')", "code may rely on `best` following the weights"),
        (
            "if data:\n    last = «net.state_dict()»\ntorch.save(last, 'last.pt')",
            "code may rely on `last` following the weights",
        ),
        ("last = «net.weight.detach()»\nstep(net)\nprint(last.norm())", "the memory that `last` shares with `net.weight`"),
        ("old = «net.weight.detach()»\nprint((net.weight - old).norm(), old.data_ptr())", "the memory that `old` shares"),
        (
            "old = «list(net.parameters())»\nfor p, q in zip(old, net.parameters()):\n    p.grad = q",
            "the memory that `old` shares",
        ),
        ("old = «net.parameters()»\nprint(next(old))", "the memory that `old` shares"),
        ("other.weight = «net.weight»", "the memory that is shared with the weights"),
        ("best = «net»", "code may rely on both being one object"),
    ],
)
def test_may_follow_the_weights(body: str, doubt: str) -> None:
    assert doubt in copied(body).doubt


def test_states_of_modules_of_other_files() -> None:
    body = "best = «model.state_dict()»\nstep(model)\nmodel.load_state_dict(best)\nmodel.eval()"
    assert copied(body, "model").is_certain
    assert copied(body, "model", "from nets import Net\n").doubt == "the state of `model` may hold what cannot be copied"
