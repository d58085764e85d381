"""Containers that are given one module several times: of each snippet, the marked list holds it, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.registration.repeated import Repeated, RepeatedModules

HEAD = """\
import copy
import torch
from torch import nn
from blocks import Block, Swish
class Own(nn.Module):
  def __init__(self):
    super().__init__()
    self.fc = nn.Linear(2, 2)
class Scaled(nn.Module):
  def __init__(self):
    super().__init__()
    self.scale = nn.Parameter(torch.ones(1))
class Empty(nn.Module):
  def forward(self, x):
    return x
"""


def repeated(snippet: str) -> list[Repeated[ast.expr]]:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(RepeatedModules).found
    assert list(found) == nodes
    return list(found.values())


@pytest.mark.parametrize(
    ("snippet", "modules", "times", "are_made"),
    [
        ("nn.ModuleList(«[nn.Linear(2, 2)] * 3»)", ["nn.Linear(2, 2)"], "3", True),
        ("nn.ModuleList(«n * [Own()]»)", ["Own()"], "n", True),
        ("nn.ModuleList(«[Scaled()] * n»)", ["Scaled()"], "n", True),
        ("nn.Sequential(*«[Block(2)] * (n - 1)»)", ["Block(2)"], "n - 1", True),
        ("nn.Sequential(*«[nn.Linear(2, 2), nn.ReLU()] * n»)", ["nn.Linear(2, 2)", "nn.ReLU()"], "n", True),
        ("nn.ModuleList(«[nn.TransformerEncoderLayer(8, 2)] * n»)", ["nn.TransformerEncoderLayer(8, 2)"], "n", True),
        ("nn.ModuleList([nn.Linear(1, 2)] + «[nn.Linear(2, 2)] * n»)", ["nn.Linear(2, 2)"], "n", True),
        ("layer = Own()\nnn.ModuleList(«[layer for _ in range(n)]»)", ["layer"], "n", False),
        ("layer = Own()\nnn.ModuleList(«[layer] * n»)", ["layer"], "n", False),
        ("def f(layer, n):\n  return nn.ModuleList(«[layer for i in range(1, n)]»)", ["layer"], "n", False),
        ("def f(layer, n):\n  return nn.Sequential(*«(layer for i in range(n))»)", ["layer"], "n", False),
    ],
)
def test_what_is_repeated(snippet: str, modules: list[str], times: str, are_made: bool) -> None:
    (found,) = repeated(snippet)
    assert [ast.unparse(module) for module in found.modules] == modules
    assert ast.unparse(found.times) == times
    assert found.are_made is are_made


@pytest.mark.parametrize(
    "snippet",
    [
        "nn.ModuleList([nn.Linear(2, 2) for _ in range(n)])",
        "nn.ModuleList([nn.Linear(2, 2)] * 1)",
        "nn.ModuleList([nn.ReLU()] * n)",
        "nn.ModuleList([Swish()] * n)",
        "nn.ModuleList([Empty()] * n)",
        "nn.ModuleList([nn.Sequential(nn.ReLU(), nn.Dropout())] * n)",
        "nn.ModuleList([make()] * n)",
        "nn.ModuleList([None] * n)",
        "layer = nn.ReLU()\nnn.ModuleList([layer for _ in range(n)])",
        "layer = Own()\nnn.ModuleList([copy.deepcopy(layer) for _ in range(n)])",
        "nn.ModuleList([layer for layer in layers])",
        "nn.ModuleList([layer for layer in range(n)])",
        "nn.ModuleList([layer for _ in range(n) if _])",
        "layer = Own()\nnn.ModuleList([layer for _ in range(1)])",
        "if share:\n  layer = Own()\n  nn.ModuleList([layer for _ in range(n)])",
        "tied = Own()\ntied_layers = nn.ModuleList([tied for _ in range(n)])",
        "def f(layer, n):\n  return nn.ModuleList([layer for _ in range(n)] if reuse else [])",
        "class Albert(nn.Module):\n  def __init__(self, layer, n):\n    self.layers = nn.ModuleList([layer for _ in range(n)])",
        "def f(layer, n):\n  if n > 2:\n    return [copy.deepcopy(layer)]\n  return nn.ModuleList([layer for _ in range(n)])",
        "def f(act, n):\n  return nn.ModuleList([act for _ in range(n)])",
        "class ModuleList(list): ...\nModuleList([nn.Linear(2, 2)] * 3)",
        "layers = [nn.Linear(2, 2)] * n\nlayers[0] = nn.Linear(2, 2)\nnn.ModuleList(layers)",
        "layers = [nn.Linear(2, 2)] * n\nif n:\n  layers = []\nnn.ModuleList(layers)",
        "shared = [nn.Linear(2, 2)] * n\nnn.ModuleList(shared)",
        "layers = [nn.ReLU()] * n\nnn.Sequential(*layers)",
    ],
)
def test_what_is_not(snippet: str) -> None:
    assert not repeated(snippet)
