"""Models that differentiate in their forward: of the class of another file, or of any."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.project.topics.forwards import FORWARDS
from torchlint.semantics.summaries.bodies import class_body

ENERGY = """
import torch
from torch import nn

class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 1)
    def flow(self, x):
        {body}
    def forward(self, x):
        return {given}
    def penalty(self, x):
        return torch.autograd.grad(self.net(x).sum(), x)
"""
GRADIENT = "return torch.autograd.grad(self.net(x).sum(), x, create_graph=True)[0]"
TURNED_ON = "with torch.enable_grad():\n            " + GRADIENT


@pytest.mark.parametrize(
    ("body", "given", "expected"),
    [
        (GRADIENT, "self.flow(x)", True),
        (GRADIENT, "self.net(x)", False),
        (TURNED_ON, "self.flow(x)", False),
        ("self.net(x).sum().backward()", "self.flow(x)", True),
        ("return self.net(x)", "self.flow(x)", False),
        ("pass", "torch.autograd.grad(self.net(x).sum(), x)", True),
    ],
)
def test_what_a_forward_comes_to(body: str, given: str, expected: bool) -> None:
    text = ENERGY.format(body=body, given=given)
    owner = ast.parse(text).body[2]
    assert isinstance(owner, ast.ClassDef)
    assert class_body(owner).differentiates is expected


@pytest.mark.parametrize(
    ("topic", "text", "expected"),
    [
        ("modules that differentiate", ENERGY.format(body=GRADIENT, given="self.flow(x)"), True),
        ("modules that differentiate", "import torch\ndef f(y, x):\n    return torch.autograd.grad(y, x)\n", False),
        ("modules that record training alone", "class N:\n    def forward(self, x):\n        return x\n", False),
        (
            "modules that record training alone",
            "class N:\n    def forward(self, x):\n        if self.training:\n            return f(x)\n"
            "        with torch.no_grad():\n            return f(x)\n",
            True,
        ),
        (
            "modules that record training alone",
            "class N:\n    def forward(self, x):\n        return f(x, self.training)\n"
            "    def g(self):\n        with torch.no_grad():\n            pass\n",
            False,
        ),
    ],
)
def test_what_a_project_speaks_of(topic: str, text: str, expected: bool) -> None:
    assert FORWARDS[topic](text.encode()) is expected


EVALUATION = """
import torch
from models import {name}

model = {made}
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        (model(x) - y).pow(2).mean().backward()
        optimizer.step()
    model.eval()
    total = 0.0
    for x, y in test_loader:
        total += (model(x) - y).pow(2).mean().item()
"""
PLAIN = """
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 1)
    def forward(self, x):
        return self.net(x)

class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Energy()
    def forward(self, x):
        return self.inner(x)

MODELS = {"plain": Plain, "energy": Energy}
"""


@pytest.mark.parametrize(
    ("name", "made", "expected"),
    [
        ("Plain", "Plain()", True),
        ("Energy", "Energy()", False),
        ("Around", "Around()", False),
        ("MODELS", "MODELS[option]()", False),
        ("Plain", "torch.nn.DataParallel(Plain())", True),
        ("Around", "torch.nn.DataParallel(Around())", False),
    ],
)
def test_an_evaluation_of_such_a_model_needs_gradients(tmp_path: Path, name: str, made: str, expected: bool) -> None:
    from torchlint import lint

    (tmp_path / ".git").mkdir()
    (tmp_path / "models.py").write_text(ENERGY.format(body=GRADIENT, given="self.flow(x)") + PLAIN)
    script = tmp_path / "train.py"
    script.write_text(EVALUATION.format(name=name, made=made))
    found = lint(script.read_text(), filename=str(script), project_root=str(tmp_path))
    assert ("TPL304" in {each.code for each in found}) is expected
