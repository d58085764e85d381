"""Values of layers that go through NumPy and back: of each forward, what is known of the marked call."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from marked import marked
from torchlint.semantics.modules.round_trips import RoundTrips

HEADER = """\
import numpy as np
import torch
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.body, self.head = nn.GRU(8, 8), nn.Linear(8, 8), nn.Linear(8, 2)
"""


def source_of(body: str, method: str = "forward(self, x)") -> str | None:
    """Of what the marked call loses the graph."""
    text = HEADER + f"    def {method}:\n" + indent(dedent(body).strip(), "        ")
    semantics, (call,) = marked(text)
    assert isinstance(call, ast.Call)
    found = semantics.of(RoundTrips).found.get(call)
    return ast.unparse(found.source) if found is not None else None


@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("_, h = self.rnn(x)\nh = «torch.Tensor(h.detach().numpy()[-1])»\nreturn self.head(h)", "h"),
        ("_, h = self.rnn(x)\na = h.data.cpu().numpy()\nb = «torch.from_numpy(a)»\nreturn self.head(b.relu())", "h"),
        ("return self.head(«torch.tensor(self.body(x).tolist())».to(x.device))", "self.body(x)"),
        ("h = self.body(x)\nprint(h.shape)\ny = «torch.tensor(np.array(h.detach().numpy()))» * 2\nreturn self.head(y)", "h"),
    ],
)
def test_layers_lose_their_graph(body: str, source: str) -> None:
    assert source_of(body) == source
    assert source_of(body.replace("self.head(", "list(")) is None
    assert source_of(body.replace("self.body", "np.abs").replace("self.rnn", "np.abs")) is None
    assert source_of(body, "predict(self, x)") is None


@pytest.mark.parametrize(
    "body",
    [
        "h = self.body(x)\ny = «torch.from_numpy(h.detach().numpy())»\nreturn self.head(y) + h",
        "h = self.body(x)\ny = «torch.from_numpy(np.sign(h.detach().numpy()))»\nreturn self.head(y)",
        "h = self.body(x)\nif x is None:\n    y = «torch.from_numpy(h.detach().numpy())»\n    return self.head(y)",
        "with torch.no_grad():\n    return self.head(«torch.from_numpy(self.body(x).numpy())»)",
        "y = «torch.from_numpy(x.detach().numpy())»\nreturn self.head(y)",
        "h = self.body(x)\nreturn self.head(x), «torch.from_numpy(h.detach().numpy())»",
        "self.body.requires_grad_(False)\nreturn self.head(«torch.from_numpy(self.body(x).detach().numpy())»)",
    ],
)
def test_what_may_be_meant_so(body: str) -> None:
    assert source_of(body) is None
