"""Divergences that are none: of each snippet the marked calls or arguments, or none."""

from __future__ import annotations

import ast
import time

import pytest

from marked import marked
from torchlint.semantics.scores.divergences import Divergences

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from mine import kl_div
def f(s, t, how, classes, options, temperature, flag):
    log_p, q = F.log_softmax(s, dim=1), F.softmax(t, dim=1)
"""


def snippet(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize(
    "body",
    [
        "return «F.kl_div(log_p, q)»",
        "return «F.kl_div(log_p, q, reduction='mean')» * temperature**2",
        "return «F.kl_div(log_p, q, log_target=flag)» / classes",
        "return «F.kl_div(input=log_p, target=q)»",
        "return «nn.KLDivLoss()»(log_p, q)",
        "loss = «nn.KLDivLoss(log_target=True)»\nreturn loss(log_p, q.log())",
        "divergence = F.kl_div\nreturn «divergence(log_p, q)»",
        # all that says otherwise
        "return F.kl_div(log_p, q, reduction='sum')",
        "return F.kl_div(log_p, q, reduction=how)",
        "return F.kl_div(log_p, q, None, None, 'batchmean')",
        "return F.kl_div(log_p, q, size_average=False)",
        "return F.kl_div(log_p, q, reduce=False)",
        "return F.kl_div(log_p, q, **options)",
        "return F.kl_div(*options)",
        "return nn.KLDivLoss(False)(log_p, q)",
        "return kl_div(log_p, q)",
        "return s.kl_div(q)",
        # multiplied with the number of classes
        "return F.kl_div(log_p, q) * s.size(1)",
        "return temperature**2 * F.kl_div(log_p, q) * s.shape[1]",
        "return nn.KLDivLoss()(log_p, q) * classes",
        "loss = nn.KLDivLoss()\nreturn temperature * loss(log_p, q) * classes",
        "loss = F.kl_div(log_p, q)\nloss = loss * classes\nreturn loss",
        "loss = F.kl_div(log_p, q)\nloss *= s.shape[-1]\nreturn loss",
        "loss = F.kl_div(log_p, q) / 2\nloss *= temperature\nloss *= classes\nreturn loss",
        "loss = nn.KLDivLoss()(log_p, q)\nreturn temperature * (loss * classes)",
        "return F.kl_div(log_p, q).mul(s.size(1))",
        "return torch.mul(F.kl_div(log_p, q), classes)",
        "return torch.mul(classes, F.kl_div(log_p, q))",
        "loss = «F.kl_div(log_p, q)»\nloss *= temperature\nreturn loss",
        "loss = «F.kl_div(log_p, q)»\nreturn loss.mul(temperature) + classes",
        # by its place
        "return «F.kl_div(log_p, q, None, None, 'mean')»",
        "return «nn.KLDivLoss(None, None, 'mean')»(log_p, q)",
        "return F.kl_div(log_p, q, None, False, 'mean')",
        "return nn.KLDivLoss(False, None, 'mean')(log_p, q)",
        "return F.kl_div(log_p, q, None, None, how)",
        # told afterwards
        "loss = nn.KLDivLoss()\nloss.reduction = 'batchmean'\nreturn loss(log_p, q)",
        "loss = nn.KLDivLoss()\nloss.reduction = 'batchmean'\nreturn «F.kl_div(log_p, q)»",
        "loss = «nn.KLDivLoss()»\nloss.log_target = True\nreturn loss(log_p, q)",
    ],
)
def test_means(body: str) -> None:
    semantics, nodes = marked(snippet(body))
    assert semantics.of(Divergences).means == set(nodes)


@pytest.mark.parametrize(
    "body",
    [
        "return F.kl_div(«q», t)",
        "return F.kl_div(«nn.Linear(8, 4)(s)», q)",
        "return F.kl_div(«s.sigmoid()», t)",
        "return F.kl_div(log_p, «log_p»)",
        "return F.kl_div(log_p, target=«nn.Linear(8, 4)(s)»)",
        "return F.kl_div(log_p, «q», log_target=True)",
        "return F.kl_div(«q», q, reduction='sum')",
        "return F.kl_div(«q», log_p)",
        "return nn.KLDivLoss()(«q», t)",
        "loss = nn.KLDivLoss(log_target=True)\nreturn loss(log_p, «q»)",
        "return F.kl_div(log_p, q)",
        "return F.kl_div(log_p, log_p, log_target=True)",
        "return F.kl_div(log_p, log_p, log_target=flag)",
        "return F.kl_div(log_p, log_p, **options)",
        "return F.kl_div(log_p, log_p.exp())",
        "return F.kl_div((q + 1e-8).log(), q)",
        "return nn.KLDivLoss(**options)(log_p, log_p)",
        "loss = nn.KLDivLoss(log_target=True) if flag else nn.KLDivLoss()\nreturn loss(log_p, q)",
        "return kl_div(q, log_p)",
        # what is changed in place
        "q.log_()\nreturn F.kl_div(q, t)",
        "torch.log(q, out=q)\nreturn F.kl_div(q, t)",
        "q[:] = q.log()\nreturn F.kl_div(q, t)",
        "q.clamp_(min=1e-8)\nreturn F.kl_div(«q», t)",
        "h = nn.Linear(8, 4)(s)\nh.sub_(h.logsumexp(1, keepdim=True))\nreturn F.kl_div(h, t)",
        "h = nn.Linear(8, 4)(s)\nh -= h.logsumexp(1, keepdim=True)\nreturn F.kl_div(h, t)",
        "d = {'p': q}\nd['p'] = d['p'].log()\nreturn F.kl_div(d['p'], t)",
        "s.to_log(q)\nreturn F.kl_div(«q», t)",
        "kl_div(q)\nreturn F.kl_div(q, t)",
        "q.clamp_(min=1e-8).log_()\nreturn F.kl_div(q, t)",
        # told afterwards
        "loss = nn.KLDivLoss()\nloss.log_target = True\nreturn loss(log_p, log_p)",
        "loss = nn.KLDivLoss()\nloss.log_target = True\nreturn loss(«q», q)",
        # one of two
        "p = q if flag else log_p\nreturn F.kl_div(p, t)",
    ],
)
def test_arguments(body: str) -> None:
    semantics, nodes = marked(snippet(body))
    assert list(semantics.of(Divergences).misgiven) == nodes


@pytest.mark.parametrize(
    ("body", "is_sole"),
    [
        ("return F.kl_div(«F.softmax(s, 1)», t)", True),
        ("p = F.softmax(s, 1)\nreturn F.kl_div(«p», t)", True),
        ("p = F.softmax(s, 1)\nprint(p)\nreturn F.kl_div(«p», t)", False),
        ("p = F.softmax(s, 1)\nr = p\nreturn F.kl_div(«r», t)", False),
    ],
)
def test_what_nothing_else_needs(body: str, is_sole: bool) -> None:
    semantics, (node,) = marked(snippet(body))
    assert semantics.of(Divergences).misgiven[node].is_sole is is_sole


def test_two_that_are_swapped_are_one() -> None:
    semantics, (node,) = marked(snippet("return F.kl_div(«q», log_p)"))
    found = semantics.of(Divergences).misgiven[node]
    assert found.swapped is not None and found.in_logarithms and not found.is_target


@pytest.mark.parametrize(
    ("body", "has_rows_of_rows", "is_of_one_row"),
    [
        ("return «F.kl_div(log_p, q)»", False, False),
        ("x = torch.randn(4, 8, 3)\nreturn «F.kl_div(x.log_softmax(1), q)»", True, False),
        ("x = torch.randn(4, 8, 3)\nreturn «F.kl_div(input=log_p, target=x.softmax(1))»", True, False),
        ("x = torch.randn(4, 8, 3)\nloss = «nn.KLDivLoss()»\nreturn loss(x.log_softmax(1), q)", True, False),
        ("x = torch.randn(4, 8, 3)\nloss = «nn.KLDivLoss()»\nreturn loss(log_p, q) + loss(x, target=x)", True, False),
        ("x = torch.randn(8)\nreturn «F.kl_div(x.log_softmax(0), x.softmax(0))»", False, True),
        ("x = torch.randn(8)\nloss = «nn.KLDivLoss()»\nreturn loss(x.log_softmax(0), x.softmax(0))", False, True),
        ("x = torch.randn(4, 8)\nreturn «F.kl_div(x.log_softmax(1), x.softmax(1))»", False, False),
    ],
)
def test_dimensions(body: str, has_rows_of_rows: bool, is_of_one_row: bool) -> None:
    semantics, (call,) = marked(snippet(body))
    assert isinstance(call, ast.Call)
    divergences = semantics.of(Divergences)
    assert (divergences.has_rows_of_rows(call), divergences.is_of_one_row(call)) == (has_rows_of_rows, is_of_one_row)


def test_what_is_changed_often_takes_no_longer() -> None:
    lines = "".join("F.kl_div(q, q)\nq.clamp_(0)\n" for _ in range(1000))
    semantics, _ = marked(snippet(lines))
    started = time.perf_counter()
    assert len(semantics.of(Divergences).misgiven) == 1000
    assert time.perf_counter() - started < 3
