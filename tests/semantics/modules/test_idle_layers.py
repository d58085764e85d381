"""Layers that a class makes and never runs."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics.summaries.shown.idle_layers import idle_layers

TEXT = """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.dropout = nn.Dropout(0.2)
    def forward(self, x):
        return {run}
{more}
"""


@pytest.mark.parametrize(
    ("run", "more", "is_idle"),
    [
        ("self.layer(x)", "", True),
        ("self.dropout(self.layer(x))", "", False),
        ("nn.Sequential(*self.children())(x)", "", False),
        ("getattr(self, name)(x)", "", False),
        ("self.layer(x)", "class Other(Net):\n    def forward(self, x):\n        return self.dropout(self.layer(x))", False),
        ("self.layer(x)", "net = Net()\nnet.dropout = nn.Identity()", True),
    ],
)
def test_a_layer_is_idle_where_nothing_reads_it(run: str, more: str, is_idle: bool) -> None:
    module = ast.parse(TEXT.format(run=run, more=more))
    net = module.body[1]
    assert isinstance(net, ast.ClassDef)
    assert [ast.unparse(call) for call in idle_layers(net, module)] == (["nn.Dropout(0.2)"] if is_idle else [])
