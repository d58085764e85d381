"""Functions that evaluate in the mode in which the training beside them leaves a model, as the files that call both tell."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint

ENGINE = """
    import torch

    def train(model, loader, criterion, optimizer):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()

    def validate(model, loader):
        correct = 0
        with torch.no_grad():
            for x, y in loader:
                correct += (model(x).argmax(1) == y).sum().item()
        return correct
"""
NETS = """
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.1))

        def forward(self, x):
            return self.layers(x)

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, x):
            return self.fc(x)
"""
MAIN = """
    import torch
    from torch import nn
    from engine import train, validate
    from nets import Net, Plain

    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        train(model, loader, nn.CrossEntropyLoss(), optimizer)
        print(validate(model, others))
"""
SAME = ("import torch", "import torch")


def codes(folder: Path, engine: str, main: str, *select: str, others: str = "") -> list[str]:
    """The codes of what is found in ``engine``, beside the classes of models and a file that calls it, or two."""
    for name, text in (("nets", NETS), ("main", main), ("engine", engine), ("others", others)):
        (folder / f"{name}.py").write_text(dedent(text))
    found = lint(dedent(engine), filename=str(folder / "engine.py"), select=select, project_root=str(folder))
    return [each.code for each in found]


@pytest.mark.parametrize(
    ("engine", "main", "others", "expected"),
    [
        (SAME, SAME, "", ["TPL305"]),
        (SAME, ("import train, validate", "import *"), "", ["TPL305"]),
        (SAME, ("train(model", "train(model.cuda()"), "", ["TPL305"]),
        # who calls sets the mode, or may
        (SAME, ("    print(", "    model.eval()\n        print("), "", []),
        (SAME, ("    print(", "    model.train(False)\n        print("), "", []),
        (SAME, ("    print(", "    set_mode(model, 'test')\n        print("), "", []),
        (SAME, ("    print(", "    model.training = False\n        print("), "", []),
        (SAME, SAME, "from engine import validate\nmodel.eval()\nprint(validate(model, loader))", []),
        # the function does, or the file calls it where it does
        (("        correct = 0\n", "        model.eval()\n        correct = 0\n"), SAME, "", []),
        (("        correct = 0\n", "        model.train(False)\n        correct = 0\n"), SAME, "", []),
        (("        correct = 0\n", "        ready_for_it(model)\n        correct = 0\n"), SAME, "", []),
        (SAME, ("print(validate(model, others))", "pass"), "", []),
        # nothing tells that the model was trained, or that its author cares about the mode
        (("model.train()", "pass"), SAME, "", []),
        ((".backward()", ""), SAME, "", []),
        (SAME, ("train(model, loader, nn.CrossEntropyLoss(), optimizer)", "pass"), "", []),
        # the mode does not matter, or is meant
        (SAME, ("= Net()", "= Plain()"), "", []),
        (("def validate", "def update_bn_test"), ("validate", "update_bn_test"), "", []),
        (("def validate", "def sample"), ("validate", "sample"), "", []),
        # another model
        (("model, loader):\n        correct", "net, loader):\n        model, correct = net,"), SAME, "", []),
    ],
)
def test_evaluation_without_autograd(
    tmp_path: Path, engine: tuple[str, str], main: tuple[str, str], others: str, expected: list[str]
) -> None:
    assert engine[0] in ENGINE and main[0] in MAIN
    assert codes(tmp_path, ENGINE.replace(*engine), MAIN.replace(*main), "TPL305", others=others) == expected


@pytest.mark.parametrize(
    ("main", "expected"),
    [
        (SAME, ["TPL320"]),
        (("    print(", "    with torch.no_grad(): print("), []),
        (("    print(", "    model.eval()\n        print("), []),
    ],
)
def test_evaluation_with_autograd(tmp_path: Path, main: tuple[str, str], expected: list[str]) -> None:
    engine = ENGINE.replace("with torch.no_grad():", "if True:")
    assert codes(tmp_path, engine, MAIN.replace(*main), "TPL305", "TPL320") == expected


def test_nothing_is_told_without_the_project(tmp_path: Path) -> None:
    codes(tmp_path, ENGINE, MAIN)
    assert lint(dedent(ENGINE), filename=str(tmp_path / "engine.py"), select=("TPL305",)) == []
