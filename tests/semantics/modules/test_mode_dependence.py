"""Whether a model's mode makes a difference: parts that are read of an object."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from marked import marked
from torchlint.project.files import Files
from torchlint.semantics import Semantics
from torchlint.semantics.modules.mode_dependence import ModeDependence

TEXT = """
from torch import nn

class Coder(nn.Module):
    def __init__(self, given):
        super().__init__()
        self.inner = nn.Sequential(nn.Flatten(), nn.Linear(4, 2), nn.ReLU())
        self.outer = nn.Sequential(nn.Linear(2, 4), nn.Dropout())
        self.given = given
        self.filled = nn.ModuleList()
        self.either = nn.Sequential(nn.Linear(2, 4))
        if given:
            self.either = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4))

coder = Coder(given)
"""


def depends(text: str) -> bool | None:
    semantics, [model] = marked(TEXT + text)
    return semantics.of(ModeDependence).of(model)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("«coder.inner»", False),
        ("inner = coder.inner\n«inner»", False),
        ("«coder.outer»", True),
        ("outer = coder.outer\n«outer»", True),
        ("«coder.either»", True),
        ("«coder.given»", None),
        ("«coder.filled»", None),
        ("filled = coder.filled\n«filled»", None),
        ("«coder.unknown»", None),
        ("coder.inner = build()\n«coder.inner»", None),
        ("coder.inner = build()\ninner = coder.inner\n«inner»", None),
        ("inner = coder.inner if flag else build()\n«inner»", None),
        ("inner = other.inner\n«inner»", None),
        ("for _ in range(3):\n    coder = coder.inner\n«coder»", None),
        ("made = nn.CrossEntropyLoss(label_smoothing=config.training.smoothing)\n«made»", False),
        ("made = nn.Sequential(nn.Threshold(self.training, 0))\n«made»", True),
    ],
)
def test_a_part_is_what_its_class_makes_it(text: str, expected: bool | None) -> None:
    assert depends(text) is expected


FILLED = """
from torch import nn

class Net(nn.Module):
    def __init__(self, sizes, act=nn.ReLU, norm=None, more=()):
        super().__init__()
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            {fills}
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return self.body(x)

net = Net([1, 2, 3])
«net»
"""


@pytest.mark.parametrize(
    ("fills", "expected"),
    [
        ("layers += [nn.Linear(a, b), act()]", False),
        ("layers.append(nn.Linear(a, b))", False),
        ("layers.extend([nn.Linear(a, b), nn.Dropout(0)])", False),
        ("layers += [nn.Linear(a, b), nn.Dropout(0.1)]", True),
        ("layers.append(norm(b))", None),
        ("layers += more", None),
        ("layers.append(more[a])", None),
        ("fill(layers)\n            layers.append(nn.Linear(a, b))", None),
    ],
)
def test_a_list_that_is_filled_in_sight(fills: str, expected: bool | None) -> None:
    semantics, [model] = marked(FILLED.format(fills=fills))
    assert semantics.of(ModeDependence).of(model) is expected


MADE_BY_METHOD = """
from blocks import build
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = self.make(4)
    def make(self, size):
        {makes}
    def forward(self, x):
        return self.up(x)
"""


@pytest.mark.parametrize(
    ("makes", "expected"),
    [
        ("self.layer = nn.Sequential(nn.Linear(size, size), nn.InstanceNorm1d(size))\n        return self.layer", False),
        ("self.layer = nn.Sequential(nn.Linear(size, size), nn.Dropout())\n        return self.layer", True),
        ("self.layer = build(size)\n        return self.layer", None),
        ("return self.given", None),
        ("if size:\n            return build(size)\n        self.layer = nn.ReLU()\n        return self.layer", None),
    ],
)
def test_a_method_of_a_class_elsewhere_makes_a_part(tmp_path: Path, makes: str, expected: bool | None) -> None:
    (tmp_path / "nets.py").write_text(MADE_BY_METHOD.format(makes=makes))
    reading = Files().reading(str(tmp_path / "main.py"), str(tmp_path))
    module = ast.parse("from nets import Net\nnet = Net()\nnet\n")
    (*_, last) = module.body
    assert isinstance(last, ast.Expr)
    assert Semantics(module, reading, reading.file).of(ModeDependence).of(last.value) is expected
