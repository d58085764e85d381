"""Tensors that are computed and thrown away: of each snippet, by the marked call."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.memory.discarded import Discarded, DiscardedResults

BEFORE = """
import time
import torch
import torch.nn as nn
import torch.nn.functional as F
from lib import unknown

model = nn.Linear(2, 2)

def f(x: torch.Tensor, given, device):
"""


def discarded(*lines: str) -> Discarded[ast.expr] | None:
    """What the marked call in the body of a function throws away."""
    semantics, (call,) = marked(BEFORE + "".join(f"    {line}\n" for line in lines))
    assert isinstance(call, ast.Call)
    return semantics.of(DiscardedResults).found.get(call)


@pytest.mark.parametrize(
    ("line", "tensor"),
    [
        ("«x.cuda()»", "x"),
        ("«x.view(2, 2).contiguous()»", "x"),
        ("«F.dropout(x, 0.5)»", "x"),
        ("«torch.clamp(x, 0, 1)»", "x"),
        ("«x.sum()»", "x"),
        ("«torch.sort(x, dim=1)»", "x"),
        ("«torch.aminmax(x)»", "x"),
        ("«torch.mode(x)»", "x"),
        ("«torch.std_mean(x)»", "x"),
        ("«torch.var_mean(x)»", "x"),
        ("«torch.unbind(x)»", "x"),
        ("«x.aminmax()»", "x"),
        ("«model.weight.to(device)»", "model.weight"),
        ("«x.cuda()», given.cuda()", "x"),
        ("given.cuda(), «x.cuda()»", "x"),
        ("[«x.cuda()», given.cuda()]", "x"),
        ("(model.cuda(), «x.float()»)", "x"),
    ],
)
def test_results_that_are_thrown_away(line: str, tensor: str) -> None:
    found = discarded(line)
    assert found is not None
    assert ast.unparse(found.tensor) == tensor


@pytest.mark.parametrize(
    "line",
    [
        "«model.cuda()»",
        "«x.add_(1)»",
        "«x.backward()»",
        "«torch.add(x, 1, out=x)»",
        "«F.relu(x, inplace=True)»",
        "«nn.init.zeros_(x)»",
        "y = «x.cuda()»",
        "y, z = «x.cuda()», x",
        "print((«x.cuda()», x))",
        "yield «x.cuda()», x",
        "x.cuda(), «model.cuda()»",
        "x.cuda(), «x.add_(1)»",
        "{«x.cuda()»: 1}",
        "«[1, 2].index(1)»",
        "«torch.manual_seed(0)»",
    ],
)
def test_what_is_called_for_what_it_does(line: str) -> None:
    assert discarded(line) is None


@pytest.mark.parametrize("line", ["«given.cuda()»", "«unknown(x).to(device)»", "«given.add(1)»"])
def test_what_may_be_no_tensor(line: str) -> None:
    assert discarded(line) is None


def test_errors_that_are_awaited_and_clocks_make_it_a_purpose() -> None:
    assert discarded("try:", "    «x.add(1)»", "except RuntimeError:", "    pass") is None
    assert discarded("start = time.time()", "«x.add(1)»", "print(time.time() - start)") is None
    assert discarded("start = time.time()", "«x.cuda()»", "print(x, time.time() - start)") is not None


def assignable(*lines: str) -> bool:
    """Whether the result can be assigned to what it was computed from."""
    found = discarded(*lines)
    assert found is not None
    return found.assignable


@pytest.mark.parametrize("line", ["«x.cuda()»", "«x.contiguous()»", "«x.add(1)»", "«x.t().contiguous()»", "«F.dropout(x)»"])
def test_a_tensor_in_its_place(line: str) -> None:
    assert assignable(line, "print(x)")


@pytest.mark.parametrize(
    "lines",
    [
        ("«x.cuda()»",),
        ("«x.sum()»", "print(x)"),
        ("x.cuda(), «x.sum()»", "print(x)"),
        ("«torch.matmul(x, x)»", "print(x)"),
        ("for p in model.parameters():", "    «p.cuda()»", "    print(p)"),
        ("«x.grad.cuda()»", "print(x.grad)"),
        ("«model.weight.cuda()»", "print(model)"),
    ],
)
def test_where_assigning_changes_nothing_or_something_else(lines: tuple[str, ...]) -> None:
    assert not assignable(*lines)


MASKS = "a, mask = unknown(x)"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((MASKS, "«mask.to(device)»", "model(x, mask)"), "mask"),
        ((MASKS, "«mask.cuda()»", "given.net(x, mask)", "net(mask)"), "mask"),
        ((MASKS, "«mask.to(device)»", "given(x, mask)"), None),
        ((MASKS, "model(x, mask)", "«mask.sort()»"), None),
        (("a, part = unknown(x)", "«part.to(device)»", "part(x)", "model(x, part)"), None),
        (("mask = unknown(x)", "«mask.to(device)»", "model(x, mask)"), None),
        (("«given.to(device)»", "model(x, given)"), None),
    ],
)
def test_what_a_model_is_given_is_a_tensor(lines: tuple[str, ...], expected: str | None) -> None:
    found = discarded(*lines)
    assert (ast.unparse(found.tensor) if found is not None else None) == expected


@pytest.mark.parametrize(
    ("lines", "tensor"),
    [
        (["out, (h, c) = nn.LSTM(2, 2)(x)", "«c.detach()»"], "c"),
        (["out, hidden = nn.LSTM(2, 2)(x)", "«hidden[1].detach()»"], "hidden[1]"),
        (["out, hidden = nn.LSTM(2, 2)(x)", "for h in hidden:", "    «h.detach()»"], "h"),
        (["h, c = nn.LSTMCell(2, 2)(x)", "«h.detach()»"], "h"),
        (["out, h = nn.GRU(2, 2)(x)", "«h.detach()»"], "h"),
    ],
)
def test_states_of_recurrent_networks(lines: list[str], tensor: str) -> None:
    found = discarded(*lines)
    assert found is not None
    assert ast.unparse(found.tensor) == tensor


@pytest.mark.parametrize(
    "lines",
    [
        ["out, hidden = nn.LSTM(2, 2)(x)", "«hidden.detach()»"],
        ["out, h = nn.GRU(2, 2)(x)", "h = (h, h)", "«h.detach()»"],
        ["out, h = nn.GRU(2, 2)(x)", "«h.detach_()»"],
    ],
)
def test_what_is_not_known_to_be_a_state(lines: list[str]) -> None:
    assert discarded(*lines) is None
