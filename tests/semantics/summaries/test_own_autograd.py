"""Files that work with tensors of their own making: nothing is a tensor or module of torch there by what is done with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint

VALUE = """
    import torch
    class Value{base}:
        def __init__(self, data):
            self.data, self.grad = data, 0.0
        def {adds}(self, other):
            return Value(self.data + other.data)
        def {backward}(self):
            self.grad = 1.0
"""
NETWORK = """
    from .value import Value
    class Module:
        def parameters(self):
            return []
    class Net(Module):
        def __call__(self, x):
            return Value(x)
    class Linear(Module):
        def __call__(self, x):
            return Value(x)
"""
TRAINING = """
    import torch
    {imports}
    def train(model, xs, ys, history=[]):
        total = 0
        for x, y in zip(xs, ys):
            out = model(x)
            loss = (out - y) ** 2
            loss.backward()
            for p in model.parameters():
                p.data -= 0.1 * p.grad
            history.append(loss)
            total += loss
            print(loss.data, out.data)
            history.append(out.data)
"""


def found(folder: Path, imports: str, parts: Mapping[str, str] | None = None, *, alone: bool = False) -> list[str]:
    """The codes of what is found in a training that imports from a package of these modules."""
    package = folder / "mygrad"
    package.mkdir()
    value = VALUE.format(**{"base": "", "adds": "__add__", "backward": "backward", **(parts or {})})
    for name, text in (("__init__", "from .value import *\n"), ("value", value), ("nn", NETWORK)):
        (package / f"{name}.py").write_text(dedent(text))
    path = str(folder / "train.py")
    text = dedent(TRAINING).format(imports=dedent(imports))
    return [each.code for each in lint(text, filename=path, project_root=None if alone else str(folder))]


@pytest.mark.parametrize(
    "imports",
    [
        "import mygrad",
        "import mygrad.nn as nn",
        "from mygrad import nn",
        "from mygrad import Value",
        "from mygrad.value import Value",
        "from mygrad.nn import Net",
        VALUE.format(base="", adds="__mul__", backward="backward"),
    ],
)
def test_nothing_is_said_of_tensors_of_their_own(tmp_path: Path, imports: str) -> None:
    assert found(tmp_path, imports) == []


@pytest.mark.parametrize(
    "parts",
    [{"base": "(torch.nn.Module)"}, {"base": "(torch.Tensor)"}, {"adds": "join"}, {"backward": "back"}],
)
def test_other_classes_are_no_such_tensors(tmp_path: Path, parts: dict[str, str]) -> None:
    assert {"TPL001", "TPL002", "TPL004"} <= set(found(tmp_path, "from mygrad.value import Value", parts))


def test_without_a_project_nothing_is_known_of_what_is_imported(tmp_path: Path) -> None:
    assert {"TPL001", "TPL002", "TPL004"} <= set(found(tmp_path, "from mygrad import Value", alone=True))


def test_a_class_with_a_base_that_is_no_module_is_none(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text("class Module:\n    pass\n\nclass Other(Unknown):\n    pass\n")
    text = """
        import torch
        from base import Module, Other
        class Net({base}):
            def forward(self, x):
                return x
        def predict(xs):
            net = Net()
            return [net(x).data for x in xs]
        """
    path = str(tmp_path / "train.py")
    for base, expected in (("Module", []), ("Other", ["TPL002"])):
        findings = lint(dedent(text).format(base=base), filename=path, project_root=str(tmp_path))
        assert [each.code for each in findings] == expected
