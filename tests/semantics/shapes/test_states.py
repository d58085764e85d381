"""Which reshapes deal out the last state of a recurrent network, so that rows hold pieces of several samples."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.shapes.shuffles import Shuffle, Shuffles

NET = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, hidden, both, layers):
        super().__init__()
        self.hidden, self.num_directions = hidden, 2
        self.rnn = nn.{made}
    def forward(self, x):
        batch = x.size(0)
        {body}
"""
LSTM = "LSTM(8, hidden, bidirectional=True)"
STATES = "out, (h, c) = self.rnn(x)\n        return {}"


def found(body: str, made: str = LSTM) -> list[Shuffle]:
    semantics, nodes = marked(NET.format(made=made, body=body))
    shuffles = semantics.of(Shuffles).found
    assert list(shuffles) == nodes
    assert all(isinstance(node, ast.Call) for node in nodes)
    return list(shuffles.values())


@pytest.mark.parametrize(
    "view",
    [
        "«h.view(-1, 2 * self.hidden)»",
        "«c.view(-1, self.hidden * 2)»",
        "«h.reshape(-1, self.num_directions * self.hidden)»",
        "«h.view(batch, -1)»",
        "«h.reshape(x.shape[0], 2 * self.hidden)»",
    ],
)
def test_what_mixes_samples(view: str) -> None:
    assert found(STATES.format(view)) == [Shuffle((0, 1), (), suffices=False)]


@pytest.mark.parametrize(
    "made", ["GRU(8, hidden, 2)", "GRU(8, hidden, num_layers=layers)", "RNN(8, hidden, bidirectional=both)"]
)
def test_other_networks(made: str) -> None:
    assert found("out, h = self.rnn(x)\n        return «h.view(-1, 2 * self.hidden)»", made)


@pytest.mark.parametrize(
    ("body", "made"),
    [
        (STATES.format("h.view(-1, self.hidden)"), LSTM),
        (STATES.format("h.view(2, -1)"), LSTM),
        (STATES.format("h.view(h.size(0), -1)"), LSTM),
        (STATES.format("h.view(2, -1, self.hidden)"), LSTM),
        (STATES.format("h.transpose(0, 1).reshape(-1, 2 * self.hidden)"), LSTM),
        (STATES.format("h[-1].view(-1, 2 * self.hidden)"), LSTM),
        (STATES.format("out.reshape(-1, 2 * self.hidden)"), LSTM),
        (STATES.format("h.view(-1, 2 * self.hidden)"), "LSTM(8, hidden)"),
        (STATES.format("h.view(batch, -1)"), "LSTM(8, hidden, 1, bidirectional=False)"),
        (STATES.format("h.view(batch, -1)"), "LSTM(**hidden)"),
        ("out, h = self.rnn(x)\n        h = h.permute(1, 0, 2)\n        return h.reshape(batch, -1)", "GRU(8, hidden, 2)"),
    ],
)
def test_what_does_not(body: str, made: str) -> None:
    assert found(body, made) == []
