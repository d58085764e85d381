"""Layers that nothing uses: whether `self.b` is one in a class whose constructor makes it."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.modules.unused import UnusedModules

CLASS = """\
from torch import nn

class Net({base}):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = {layer}

    def forward(self, x):
        return {result}

{more}
"""


def unused(
    layer: str = "nn.Linear(2, 2)", result: str = "self.a(x)", more: str = "", base: str = "nn.Module"
) -> list[tuple[str, bool]]:
    semantics, _ = marked(CLASS.format(base=base, layer=layer, result=result, more=more))
    return [(each.name, each.may_be_inherited) for each in semantics.of(UnusedModules).found.values()]


@pytest.mark.parametrize("layer", ["nn.Linear(2, 2)", "nn.BatchNorm1d(2)", "nn.Embedding(3, 2)"])
def test_a_layer_is_not_used(layer: str) -> None:
    assert unused(layer) == [("b", False)]


def test_a_module_may_run_itself_and_be_an_abstract_class() -> None:
    assert unused(more="    def fit(self, x):\n        return self(x)") == [("b", False)]
    text = CLASS.format(base="nn.Module, metaclass=abc.ABCMeta", layer="nn.Linear(2, 2)", result="self.a(x)", more="")
    semantics, _ = marked("import abc\n" + text)
    assert [each.name for each in semantics.of(UnusedModules).found.values()] == ["b"]
    assert unused(base="nn.Module, metaclass=Registry") == []


def test_a_class_of_the_file_may_use_it() -> None:
    assert unused(more="class Other(Net):\n    pass") == [("b", True)]


OTHER = (
    "class Other(nn.Module):\n    def __init__(self):\n        self.b = nn.Linear(2, 2)\n    def forward(self, x):\n        "
)


def test_another_class_has_one_of_the_same_name() -> None:
    assert unused(more=OTHER + "return self.b(x)") == [("b", False)]
    assert unused(more=OTHER + "return x") == [("b", False), ("b", False)]
    assert unused(more="class Mixin:\n    def f(self):\n        self.b\nclass Both(Net, Mixin):\n    pass") == []
    assert unused(more=OTHER + "return x.b") == []


@pytest.mark.parametrize(
    "result", ["self.a(self.b(x))", "getattr(self, n)(x)", "[m(x) for m in self.children()]", "run(self, x)", "self._modules"]
)
def test_a_layer_is_used_or_may_be(result: str) -> None:
    assert unused(result=result) == []


@pytest.mark.parametrize(
    "more", ["net.b.weight", "sizes = ['b.weight']", "class Other(Net):\n    def f(self):\n        self.b"]
)
def test_the_file_names_it(more: str) -> None:
    assert unused(more=more) == []


def test_what_has_no_parameters_and_what_has_bases_elsewhere() -> None:
    assert unused("nn.InstanceNorm1d(2, affine=True)") == [("b", False)]
    assert unused("nn.InstanceNorm1d(2)") == unused("nn.BatchNorm1d(2, affine=False)") == []
    assert unused("nn.ReLU()") == unused("make()") == unused(base="Block") == []
