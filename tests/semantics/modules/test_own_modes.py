"""Classes whose ``train`` or ``eval`` is about something else than the mode: neither is said to set it, nor advised."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from marked import marked
from torchlint.project.files import Files
from torchlint.semantics import Semantics
from torchlint.semantics.modes.loaded_models import LoadedModels
from torchlint.semantics.modes.training_mode_evaluations import TrainingModeEvaluations
from torchlint.semantics.modules.own_modes import OwnModes

NET = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.Linear(4, 2))

    def forward(self, x):
        return self.body(x)

{method}
"""
USE = """
def run(loader, test_loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(9):
        for x, y in loader:
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            correct = sum(((net(x)).argmax(1) == y).sum() for x, y in test_loader)
        for x, y in test_loader:
            correct += (net(x).argmax(1) == y).sum().item()

def load(x):
    net = Net()
    net.load_state_dict(torch.load("net.pt"))
    print(net(x))
"""
OTHER = [
    "    def train(self, inputs, labels):\n        F.cross_entropy(self(inputs), labels).backward()",
    "    def train(self, epochs=3):\n        for _ in range(epochs):\n            self.optimizer.step()",
    "    def train(self, epochs=3):\n        super().train()\n        self.optimizer.step()",
    "    def train(self):\n        super().train()",  # `eval()` hands it the mode
    "    def train(self, mode, rate):\n        super().train(mode)",
    "    def eval(self, loader):\n        return [self(x) for x in loader]",
    "    def eval(self):\n        return [self(x) for x in self.loader]",
    "    @property\n    def train(self):\n        return self.body.train()",
]
LIKE = [
    "",
    "    def train(self, mode=True):\n        super().train(mode)\n        self.body[1].eval()\n        return self",
    "    def train(self, mode: bool = True):\n        nn.Module.train(self, mode)",
    "    def train(self, *given):\n        super().train(*given)",
    "    def eval(self):\n        self.body.eval()",
    "    def eval(self):\n        self.training = False",
]


@pytest.mark.parametrize(("method", "expected"), [*((each, False) for each in OTHER), *((each, True) for each in LIKE)])
def test_a_method_of_the_class_may_be_about_something_else(method: str, expected: bool) -> None:
    semantics, _ = marked(NET.format(method=method) + USE)
    evaluations = semantics.of(TrainingModeEvaluations)
    assert bool(evaluations.found) is expected
    assert bool(evaluations.recorded) is expected
    assert bool(semantics.of(LoadedModels).run_in_training) is expected


@pytest.mark.parametrize(("method", "expected"), [*((each, False) for each in OTHER), *((each, True) for each in LIKE)])
@pytest.mark.parametrize("derived", [False, True])
def test_a_class_of_another_file(tmp_path: Path, method: str, expected: bool, derived: bool) -> None:
    (tmp_path / "nets.py").write_text(NET.format(method=method))
    text = "from nets import Net\n"
    text += "class Own(Net):\n    pass\nnet = Own()\nnet\n" if derived else "net = Net()\nnet\n"
    reading = Files().reading(str(tmp_path / "main.py"), str(tmp_path))
    module = ast.parse(text)
    semantics = Semantics(module, reading, reading.file)
    (*_, last) = module.body
    assert isinstance(last, ast.Expr)
    assert semantics.of(OwnModes).are_set(last.value) is expected


def test_a_class_of_the_file_that_is_no_module_has_no_such_methods() -> None:
    semantics, (model,) = marked("class Wrapped:\n    def __call__(self, x):\n        return x\n\nmodel = Wrapped()\n«model»\n")
    assert isinstance(model, ast.Name)
    assert not semantics.of(OwnModes).are_set(model)
