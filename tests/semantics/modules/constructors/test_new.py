"""What makes a new module or parameter, and whether that has anything to train or to move."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.modules.constructors.new import NewModules

CLASSES = """
import copy
from torchvision import models

class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.fc = nn.Linear(size, size)

class Squared(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.act = nn.ReLU()

class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

class Foreign(Base):
    pass

def make(size):
    return nn.Sequential(nn.Linear(size, size))

def pick(modules):
    return modules[0]

"""


def new_modules(expression: str) -> tuple[NewModules, list[bool]]:
    semantics, nodes = marked(CLASSES + expression)
    found = NewModules(semantics)
    return found, [found.is_module(node) for node in nodes]


@pytest.mark.parametrize(
    "expression",
    [
        "«nn.Linear(2, 2)»",
        "«Block(2)»",
        "«make(3)»",
        "«models.resnet18()»",
        "«nn.Linear(2, 2).to('cuda')»",
        "«copy.deepcopy(nn.Linear(1, 1))»",
        "«nn.utils.weight_norm(nn.Linear(1, 1))»",
        "layer = nn.Linear(1, 1)\nuse(«layer»)",
        "«nn.Linear(1, 1) if x else None»",
        "import torch_geometric\n«torch_geometric.nn.GCNConv(1, 1)»",
    ],
)
def test_makes_a_new_module(expression: str) -> None:
    assert new_modules(expression)[1] == [True]


@pytest.mark.parametrize(
    "expression",
    [
        "«nn.Linear»",
        "«torch.relu»",
        "«Foreign()»",
        "«pick(x)»",
        "«unknown(2)»",
        "def f(layer: nn.Module): return «layer»",
        "for layer in net.children(): use(«layer»)",
        "layer = nn.Linear(1, 1)\nif x: layer = other\nuse(«layer»)",
        "«nn.Linear(1, 1) if x else y»",
        "«nn.Parameter(x)»",
    ],
)
def test_makes_no_new_module(expression: str) -> None:
    assert new_modules(expression)[1] == [False]


def test_makes_a_new_parameter() -> None:
    semantics, nodes = marked("p = nn.Parameter(x)\nuse(«p», «nn.Parameter(y)», «torch.ones(3)»)")
    assert [NewModules(semantics).is_parameter(node) for node in nodes] == [True, True, False]


@pytest.mark.parametrize(
    ("expression", "state"),
    [
        ("«nn.Linear(1, 1)»", True),
        ("«nn.BatchNorm1d(1, affine=False)»", True),
        ("«nn.ReLU()»", False),
        ("«nn.MaxPool2d(2)»", False),
        ("«nn.CrossEntropyLoss()»", False),
        ("«nn.CrossEntropyLoss(weight=w)»", True),
        ("«nn.Sequential(nn.ReLU(), nn.Flatten())»", False),
        ("«nn.Sequential(nn.ReLU(), nn.Linear(1, 1))»", True),
        ("«nn.Sequential(*layers)»", True),
        ("«nn.ModuleList([])»", True),
        ("«Block(2)»", True),
        ("«Squared(2)»", False),
        ("«Child()»", False),
        ("layer = nn.Tanh()\n«layer»", False),
    ],
)
def test_has_state(expression: str, state: bool) -> None:
    semantics, (node,) = marked(CLASSES + expression)
    assert NewModules(semantics).has_state(node) is state


@pytest.mark.parametrize(
    ("expression", "depends"),
    [
        ("«nn.Dropout(0.1)»", True),
        ("«nn.Sequential(nn.ReLU(), nn.Dropout2d())»", True),
        ("drop = nn.Dropout()\n«drop»", True),
        ("«nn.ReLU()»", False),
    ],
)
def test_depends_on_mode(expression: str, depends: bool) -> None:
    semantics, (node,) = marked(expression)
    assert NewModules(semantics).depends_on_mode(node) is depends
