"""Generators of parameters that are used up: of each snippet, the marked use gets nothing, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.fact import Answer
from torchlint.semantics.parameters.exhausted import Exhausted, ExhaustedParameters

HEAD = """\
import itertools
import torch
from torch import nn, optim
from torch.nn.utils import clip_grad_norm_
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
class Listed(Net):
    def parameters(self, recurse=True):
        return [self.fc.weight]
class Chosen(Net):
    def parameters(self, recurse=True):
        return (p for p in super().parameters() if p.requires_grad)
class Store:
    def parameters(self):
        return {}
model = Net()
"""
CHOSEN = "params = (p for p in m.parameters() if p.requires_grad)"


def exhausted(snippet: str) -> dict[ast.expr, Exhausted[ast.AST]]:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(ExhaustedParameters).found
    assert list(found) == nodes
    return found


@pytest.mark.parametrize(
    "snippet",
    [
        "params = model.parameters()\noptim.SGD(params, lr=0.1)\nclip_grad_norm_(«params», 1.0)",
        "params = Chosen().parameters()\noptim.SGD(params, lr=0.1)\nclip_grad_norm_(«params», 1.0)",
        "params = model.parameters()\noptim.SGD([{'params': params}])\nclip_grad_norm_(parameters=«params»)",
        "params = model.named_parameters()\nfor n, p in params:\n    print(n)\nprint([n for n, p in «params»])",
        "params = filter(None, model.parameters())\nprint(list(params))\noptim.SGD(«params»)",
        "params = (p for p in model.parameters())\nprint(sum(p.numel() for p in params), sum(p.sum() for p in «params»))",
        "params = model.parameters()\nfor p in itertools.chain(params, «params»):\n    print(p)",
        "params = itertools.chain(model.parameters(), [])\nprint([*params])\ntorch.autograd.grad(loss, «params»)",
        "params = model.parameters()\nfor x in loader:\n    clip_grad_norm_(«params», 1.0)",
        "params = model.parameters()\nfor x in loader:\n    if clip:\n        clip_grad_norm_(«params», 1.0)",
        "def f(params):\n    for x in loader:\n        clip_grad_norm_(«params», 1.0)\nf(model.parameters())",
        "def f(m, *, params):\n  list(params)\n  clip_grad_norm_(«params», 1.0)\nf(1, params=model.parameters())",
        "params = model.parameters()\nif show:\n    print(list(params))\noptim.SGD(«params»)",
        "class T:\n  def __init__(self, m: nn.Module):\n    self.p = m.parameters()\n    self.o = optim.SGD(self.p)\n"
        "  def step(self):\n    clip_grad_norm_(«self.p», 1.0)",
        "class T:\n  def __init__(self, params=None):\n    self.p = params\n"
        "  def on_start(self, m):\n    if self.p is None:\n      self.p = filter(None, m.parameters())\n"
        "  def on_backward(self):\n    clip_grad_norm_(«self.p», 1.0)",
    ],
)
def test_what_gets_nothing(snippet: str) -> None:
    assert exhausted(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "params = list(model.parameters())\noptim.SGD(params, lr=0.1)\nclip_grad_norm_(params, 1.0)",
        "params = Listed().parameters()\noptim.SGD(params, lr=0.1)\nclip_grad_norm_(params, 1.0)",
        "params = Store().parameters()\nlist(params)\nlist(params)",
        "params = model.parameters()\noptim.SGD(params, lr=0.1)\nclip_grad_norm_(model.parameters(), 1.0)",
        "params = model.parameters()\nlist(params)\nparams = model.parameters()\nlist(params)",
        "for x in loader:\n    params = model.parameters()\n    clip_grad_norm_(params, 1.0)",
        "params = model.parameters()\nif one:\n    list(params)\nelse:\n    list(params)",
        "params = model.parameters()\nif n == 'sgd':\n  o = optim.SGD(params)\nif n == 'adam':\n  o = optim.Adam(params)",
        "params = model.parameters()\nfor i in range(3):\n    if i == 0:\n        clip_grad_norm_(params, 1.0)",
        "params = model.parameters()\nfor i in range(3):\n    if not done:\n        list(params)",
        "params = model.parameters()\nfor i in range(3):\n    list(params)\n    break",
        "params = model.parameters()\nfor p in params:\n    if p.dim() > 1:\n        break\nlist(params)",
        "params = model.parameters()\nnext(params)\nlist(params)",
        "params = model.parameters()\nfor w, b in zip(params, params):\n    print(w, b)",
        "params = model.parameters()\nfor w, b in zip(filter(None, params), params):\n    print(w, b)",
        "params = model.parameters()\nif any(p is weight for p in params):\n    list(params)",
        "params = model.parameters()\nall(p.requires_grad for p in params)\nlist(params)",
        "params = model.parameters()\nother(params)\nother(params)",
        "params = model.parameters()\nlist(params)\ndef f(params):\n    list(params)",
        "params = model.parameters()\nif use:\n    list(params)\n    raise ValueError\nlist(params)",
        "def f(params):\n    optim.SGD(params)\nf(model.parameters())\nf(model.parameters())",
        "class T:\n  def __init__(self, m: nn.Module):\n    self.p = m.parameters()\n    self.o = optim.SGD(self.p)\n"
        "  def step(self):\n    self.p = self.m.parameters()\n    clip_grad_norm_(self.p, 1.0)",
        "class T:\n  def __init__(self, m: nn.Module):\n    self.p = m.parameters()\n"
        "  def one(self):\n    list(self.p)\n  def other(self):\n    sum(self.p)",
        "class T:\n  def step(self, m: nn.Module):\n    self.p = m.parameters()\n    clip_grad_norm_(self.p, 1.0)",
    ],
)
def test_what_gets_all(snippet: str) -> None:
    assert not exhausted(snippet)


def test_what_has_used_it_up_and_where_it_is_made() -> None:
    (found,) = exhausted(
        "if a:\n    params = model.parameters()\nelse:\n    params = filter(None, model.parameters())\n"
        "opt = optim.SGD(params)\nclip_grad_norm_(«params», 1.0)"
    ).values()
    assert [ast.unparse(made) for made in found.made] == ["model.parameters()", "filter(None, model.parameters())"]
    assert ast.unparse(found.by) == "optim.SGD(params)"
    assert ast.unparse(found.taker) == "clip_grad_norm_(params, 1.0)"


def test_a_taker_in_a_loop_uses_it_up_itself() -> None:
    (found,) = exhausted("params = model.parameters()\nfor x in loader:\n    clip_grad_norm_(«params», 1.0)").values()
    assert found.by is found.taker


@pytest.mark.parametrize(
    ("body", "answer", "doubt"),
    [
        ("params = m.parameters()\n  rate = 0.1\n  o = optim.SGD(params, rate)\n  list(«params»)", Answer.CERTAIN, ""),
        ("params = m.parameters()\n  m.half()\n  o = optim.SGD(params)\n  list(«params»)", Answer.UNKNOWN, "change before"),
        ("params = m.parameters()\n  if a:\n    o = optim.SGD(params)\n  list(«params»)", Answer.UNKNOWN, "change before"),
        ("params = m.parameters()\n  o = optim.SGD(params)\n  list(«params»)\n  return params", Answer.UNKNOWN, "otherwise"),
        ("global params\n  params = m.parameters()\n  o = optim.SGD(params)\n  list(params)", None, ""),
        ("params = m.parameters()\n  [p for p, q in zip(params, x)]\n  list(«params»)", Answer.UNKNOWN, "in part"),
        ("params = m.parameters()\n  list(params)\n  dict(zip(«params», params))", Answer.UNKNOWN, "in pairs"),
        (f"{CHOSEN}\n  for p in params:\n    print(p.shape)\n  list(«params»)", Answer.CERTAIN, ""),
        (f"{CHOSEN}\n  print(sum(p.numel() for p in params))\n  list(«params»)", Answer.CERTAIN, ""),
        (f"{CHOSEN}\n  for p in params:\n    m.a.requires_grad_(False)\n  list(«params»)", Answer.UNKNOWN, "while"),
        (f"{CHOSEN}\n  for p in params:\n    m.a.requires_grad = False\n  list(«params»)", Answer.UNKNOWN, "while"),
        (f"{CHOSEN}\n  for p in params:\n    freeze(p)\n  list(«params»)", Answer.UNKNOWN, "while"),
        ("params = m.parameters()\n  for p in params:\n    p.requires_grad = False\n  list(«params»)", Answer.CERTAIN, ""),
        ("list = tuple\n  params = m.parameters()\n  o = optim.SGD(params)\n  sum(«params»)", Answer.UNKNOWN, "another one"),
    ],
)
def test_whether_a_list_does_the_same(body: str, answer: Answer | None, doubt: str) -> None:
    found = exhausted(f"def f(m: nn.Module):\n  {body}")
    assert [each.may_be_list.answer for each in found.values()] == ([answer] if answer is not None else [])
    assert all(doubt in each.may_be_list.doubt for each in found.values())
