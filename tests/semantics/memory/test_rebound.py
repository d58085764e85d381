"""Loops that give their variable a new tensor which nothing reads: of each snippet, the marked value is lost."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.memory.rebound import Rebound, ReboundItems

HEAD = """\
import torch
from torch import nn
from torch.utils.data import DataLoader
def f(data, m: nn.Module, d, xs: list[torch.Tensor], named: dict[str, torch.Tensor], a: torch.Tensor, b: torch.Tensor):
"""


def rebound(body: str) -> dict[ast.Assign, Rebound[ast.AST]]:
    semantics, nodes = marked(HEAD + "".join(f"  {line}\n" for line in body.split("\n")))
    found = semantics.of(ReboundItems).found
    assert [each.value for each in found] == nodes
    return found


@pytest.mark.parametrize(
    ("body", "container", "key", "parameters", "moved"),
    [
        ("for x in xs:\n  x = «x.to(d)»\nreturn xs", "xs", None, False, True),
        ("for i, x in enumerate(xs):\n  x = «x * 2»\nreturn xs", "xs", "i", False, False),
        ("for k, v in named.items():\n  v = «v.cuda()»\nreturn named", "named", "k", False, True),
        ("for v in named.values():\n  v = «torch.relu(v)»\nreturn named", "named", None, False, False),
        ("for p in m.parameters():\n  p = «p.clamp(-1, 1)»", "m.parameters()", None, True, False),
        ("for n, p in m.named_parameters():\n  if 'b' in n:\n    p = «-p»", "m.named_parameters()", None, True, False),
        ("for p in m.parameters():\n  p = «p.half()»", "m.parameters()", None, True, True),
        ("for x in (a, b):\n  x = «x.detach().cpu()»\nreturn a, b", "(a, b)", None, False, True),
        ("for n, p in m.named_parameters():\n  p = «named[n].clone()»", "m.named_parameters()", None, True, False),
        ("for n, p in m.named_parameters():\n  print(p)\n  p = «named[n]»", "m.named_parameters()", None, True, False),
        ("for c in DataLoader(data):\n  for k, v in c.items():\n    v = «v.to(d)»\n  m(**c)", "c", "k", False, True),
    ],
)
def test_what_is_lost(body: str, container: str, key: str | None, parameters: bool, moved: bool) -> None:
    (found,) = rebound(body).values()
    assert ast.unparse(found.container) == container
    assert (ast.unparse(found.key) if found.key is not None else None) == key
    assert (found.parameters, found.moved) == (parameters, moved)


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        ("for x in xs:\n  x = «x.to(d)»\nreturn xs", True),
        ("for x in xs:\n  print(d)\n  x = «x.to(d)»\nreturn xs", False),
        ("for x in xs:\n  x = «x.to(d)»\nelse:\n  print(d)\nreturn xs", False),
    ],
)
def test_whether_the_loop_does_nothing_else(body: str, alone: bool) -> None:
    (found,) = rebound(body).values()
    assert found.alone is alone


@pytest.mark.parametrize(
    "body",
    [
        "for x in xs:\n  x = x.to(d)\n  m(x)\nreturn xs",
        "for x in xs:\n  x = x.to(d)\nreturn x, xs",
        "for x in xs:\n  x = x.to(d)",
        "for x in xs:\n  x = x.mul_(2)\nreturn xs",
        "for x in xs:\n  x = nn.init.zeros_(x)\nreturn xs",
        "for x in xs:\n  x = m(x)\nreturn xs",
        "for x in xs:\n  x = torch.zeros(2)\nreturn xs",
        "for x in xs:\n  y = x.to(d)\nreturn xs",
        "for x in xs:\n  x = x * print(d)\nreturn xs",
        "for x in xs:\n  x = torch.add(x, 1, out=x)\nreturn xs",
        "for x in xs:\n  x += 1\nreturn xs",
        "for x in [a, torch.ones(2)]:\n  x = x.to(d)\nreturn a",
        "for x, y in DataLoader(data):\n  y = y.long()\n  m(x)",
        "for c in m.children():\n  c = c.to(d)",
        "for n in range(3):\n  n = n * 2\nreturn n",
        "for x in data:\n  x = x.to(d)\nreturn data",
        "for x in xs:\n  x = x.to(d)\n  xs = [x]\nreturn xs",
        "for n, x in named.items():\n  x = named[n].clone()\nreturn named",
        "for n, p in m.named_parameters():\n  p = named[n]\n  print(p)",
        "for n, p in m.named_parameters():\n  p = named[n]\nreturn p",
        "for n, p in m.named_parameters():\n  p = named[print(n)]",
        "for n, p in m.named_parameters():\n  p = None",
        "for n, p in m.named_parameters():\n  p = d(n)",
        "xs = None\nfor x in xs or []:\n  x = x.to(d)\nreturn xs",
    ],
)
def test_what_is_read_or_no_tensor(body: str) -> None:
    assert not rebound(body)
