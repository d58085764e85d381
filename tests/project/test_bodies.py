"""What the code of classes says, which is looked through for those that somebody asks for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.project.files import Files, still_hold
from torchlint.project.told.givens import _may_tell
from torchlint.project.trees import Trees
from torchlint.semantics.summaries.bodies import body_of
from torchlint.semantics.summaries.summary import UNTOLD, ClassBody

NETS = """
import torch.nn as nn

class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout()

class Second(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 2)
"""


def body(text: str, name: str) -> ClassBody:
    return body_of(ast.parse(text), name)


def test_each_class_is_told_by_itself() -> None:
    first, second = body(NETS, "First"), body(NETS, "Second")
    assert first.matters
    assert first.stored == ("nn.Dropout",)
    assert not second.matters
    assert second.stored == ("nn.Linear",)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n",
        "if a:\n    class Net(nn.Module):\n        pass\nelse:\n    class Net(nn.Module):\n        drop = nn.Dropout()\n",
        "def f():\n    class Net(nn.Module):\n        pass\n",
    ],
    ids=["no class", "two classes", "no class of the top level"],
)
def test_nothing_is_told_of_a_class_that_is_not_there_once(text: str) -> None:
    assert body(text, "Net") == UNTOLD


def test_stub_tells_nothing_of_what_a_class_does(tmp_path: Path) -> None:
    (tmp_path / "nets.pyi").write_text(NETS)
    found, _ = Files().bodies.of(str(tmp_path / "nets.pyi"), ("First",))
    assert found == UNTOLD


def test_answer_rests_on_the_class_and_not_on_its_file(tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    file.write_text(NETS)
    reading = Files().reading(str(tmp_path / "main.py"), str(tmp_path))
    assert reading.body(str(file), "Second") == body(NETS, "Second")
    asked = [each for each in reading.answers if "Second" in each[0]]
    assert len(asked) == 1
    file.write_text(NETS.replace("nn.Dropout()", "nn.Identity()"))
    assert still_hold(Files(), str(tmp_path / "main.py"), asked, str(tmp_path))
    file.write_text(NETS.replace("nn.Linear", "nn.LazyLinear"))
    assert not still_hold(Files(), str(tmp_path / "main.py"), asked, str(tmp_path))


def test_only_the_class_that_is_asked_for_is_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    asked: list[str] = []
    plain = Trees.body

    def told(trees: Trees, data: bytes, name: str) -> ClassBody:
        asked.append(name)
        return plain(trees, data, name)

    monkeypatch.setattr(Trees, "body", told)
    files = Files()
    for _ in range(3):
        reading = files.reading(str(tmp_path / "main.py"), str(tmp_path))
        assert reading.summary(str(tmp_path / "nets.py")).names
        reading.body(str(tmp_path / "nets.py"), "Second")
    assert asked == ["Second"]


# --- texts that cannot tell what something gives ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "def model(x): ...",
        "def \\\n model(x): ...",
        "async def model(x): ...",
        "self.model = x",
        "self . model = x",
        "self.model: int",
        "self.model, y = x",
        "[y, self.model] = x",
        "(y, self.model) = x",
        "self.model += x",
        "self.model //= x",
        "self.model **= x",
        "self.model >>= x",
        "self.model @= x",
        "for self.model in x: ...",
        "with x as self.model: ...",
        "with (x as self.model): ...",
        "self.model \\\n = x",
        "class A:\n    model = x",
        "class A:\n    model: int",
        "class A:\n    y = model = x",
        "class A:\n    y, model = x",
        "class A: model = x",
        "self.register_buffer('model', x)",
        'self.register_parameter(name="model", param=x)',
        "del self.model",
        "y = self.model, z = x",
        "x = [self.model, y] = z",
        "for(self.model, y) in x: ...",
        "(\n    self.model,\n    y,\n) = x",
        "f(x)[self.y], self.model = x",
        "x['f('], self.model = 1, 2",
        "with f(x) as self.model:\n    ...",
        "else: self.model = x",
        "self.register_buffer(\n    'model',\n    x,\n)",
        "class A:\n    def f(self): ...\n\n    model = x",
        "class A:\n    x = f(\n        y,\n    )\n    model = x",
        "class A:\n    # this,\n    model = x",
        "class A:\n    y: int; model: int = x",
        "if x:\n    class A:\n        model = x",
    ],
)
def test_text_may_tell(text: str) -> None:
    assert _may_tell(text.encode(), "model")


@pytest.mark.parametrize(
    "text",
    [
        "x.model()",
        "x.model.eval()",
        "x.model[0]",
        "model (x)",
        "a model of it",
        "remodel = models",
        "if x.model == 3: ...",
        "f(x.model)",
        "f(x, x.model, 3)",
        "x = y[self.model]",
        "f(model=model)",
        "\nf(\n    model=self.model,\n    x=3,\n)",
        "f(\n    x,\n    model=model,\n)",
        "def f(x, model: int): ...",
        "def f(\n    x,\n    model: int,\n): ...",
        "def f(\n    x: a.model = None,\n): ...",
        "class A:\n    def f(self):\n        model = x",
        "the size of the model, which is large",
        "x = {'model': 3}",
        "self.register_buffer('x', model)\nx = y['model']",
        "f(self, 'model')",
        "the model's size",
    ],
)
def test_text_that_only_reads_tells_nothing(text: str) -> None:
    assert not _may_tell(text.encode(), "model")


@pytest.mark.parametrize(
    ("text", "matters"),
    [("return x if self.training else y", True), ("return config.training.rate * x", False), ("return x.training()", True)],
)
def test_a_section_of_a_configuration_is_no_mode(text: str, matters: bool) -> None:
    tree = ast.parse(f"class Net:\n    def forward(self, x):\n        {text}\n")
    assert body_of(tree, "Net").matters is matters


@pytest.mark.parametrize(
    ("text", "forgets"),
    [("return x", True), ("self.x = x", False), ("self.xs.append(x)", False), ("xs = []; xs.append(x)", True)],
)
def test_what_the_instances_keep(text: str, forgets: bool) -> None:
    tree = ast.parse(f"class Net:\n    def __init__(self):\n        self.n = 3\n    def forward(self, x):\n        {text}\n")
    assert body_of(tree, "Net").forgets is forgets
