"""Models that are run as they were loaded: of each snippet, what runs the model that the marked call loads."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.modes.loaded_models import LoadedModels


def run(snippet: str) -> str | None:
    """The call that runs a model in the mode that it was made in, behind the marked call that loads it."""
    semantics, (load,) = marked(f"import torch\nimport torchvision\nfrom torch import nn\n{snippet}")
    assert isinstance(load, ast.Call)
    found = semantics.of(LoadedModels).run_in_training.get(load)
    return ast.unparse(found) if found is not None else None


MADE = "model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())\n"
LOADED = "«model.load_state_dict(torch.load(path))»\n"


CHANCE = """
def score(net, batches, chance, other):
    if not {set}:
        net.eval()
    for x in batches:
        y = x if {run} else net(x)
        print(y)
"""


@pytest.mark.parametrize(("asked", "run_under", "is_set"), [("chance", "chance", True), ("other", "chance", False)])
def test_what_is_set_and_run_under_the_same_condition_is_set(asked: str, run_under: str, is_set: bool) -> None:
    found = run(CHANCE.format(set=asked, run=run_under) + MADE + LOADED + "score(model, batches, chance, other)")
    assert (found is None) is is_set


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        (MADE + LOADED + "print(model(x))", "model(x)"),
        (MADE + LOADED + "model.half()\nprint(model.forward(x))", "model.forward(x)"),
        ("model = torchvision.models.resnet18().to(device)\n" + LOADED + "y = model(x)", "model(x)"),
        ("model = MyResNet(2)\n" + LOADED + "y = model(x)", "model(x)"),
        (
            f"class Net(nn.Module): pass\nif __name__ == '__main__':\n    {MADE}    {LOADED}    print(model(x))",
            "model(x)",
        ),
        (f"def show(net):\n    print(net(x))\n{MADE}{LOADED}show(model)", "show(model)"),
        (
            "def load():\n    model = nn.Dropout()\n    «model.load_state_dict(state)»\n    return model\n"
            "net = load()\nprint(net(x))",
            "net(x)",
        ),
        (
            "class Predictor:\n    def __init__(self):\n        self.net = nn.Dropout()\n"
            "        «self.net.load_state_dict(state)»\n    def predict(this, x):\n        return this.net(x)",
            "this.net(x)",
        ),
    ],
)
def test_what_is_run_as_it_was_made(snippet: str, expected: str) -> None:
    assert run(snippet) == expected


@pytest.mark.parametrize(
    "snippet",
    [
        MADE + LOADED + "model.eval()\nmodel(x)",
        MADE + LOADED + "model.train()\nmodel(x)",
        MADE + "model.eval()\n" + LOADED + "model(x)",
        MADE + LOADED + "prepare_for_test(model)\nmodel(x)",
        MADE + "model(x)\n" + LOADED,
        MADE + LOADED + "model(x).sum().backward()",
        MADE + "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n" + LOADED + "model(x)",
        "model = nn.Linear(2, 2)\n" + LOADED + "model(x)",
        "model = build()\n" + LOADED + "model(x)",
        "def predict(model):\n    «model.load_state_dict(state)»\n    return model(x)",
        "def test_it():\n    model = nn.Dropout()\n    «model.load_state_dict(state)»\n    model(x)",
        # what is made for others is tried out
        f"class Net(nn.Module): pass\ndef pretrained():\n    {MADE}    {LOADED}    return model\n"
        "if __name__ == '__main__':\n    net = pretrained()\n    net(x)",
        # the target of a policy, which is no model that was saved
        f"import gym\n{MADE}«model.load_state_dict(other.state_dict())»\nmodel(x)",
        "class Net(nn.Module):\n    def __init__(self):\n        self.drop = nn.Dropout()\n"
        "        «self.drop.load_state_dict(state)»\n    def forward(self, x):\n        return self.drop(x)",
    ],
)
def test_what_is_run_in_another_mode_or_one_that_is_not_known(snippet: str) -> None:
    assert run(snippet) is None


EVALUATED = """
from elsewhere import Net

net = {made}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def evaluate(weights, loader):
    net = Net()
    «net.load_state_dict(weights)»
    correct = 0
    with torch.{context}():
        for x, y in loader:
            {line}
    return correct
"""


@pytest.mark.parametrize(
    ("made", "context", "line", "expected"),
    [
        ("Net()", "no_grad", "correct += (net(x).argmax(1) == y).sum()", True),
        ("Net()", "enable_grad", "correct += (net(x).argmax(1) == y).sum()", False),
        ("Other()", "no_grad", "correct += (net(x).argmax(1) == y).sum()", False),
    ],
)
def test_what_is_trained_here_is_evaluated_here(made: str, context: str, line: str, expected: bool) -> None:
    found = run(EVALUATED.format(made=made, context=context, line=line))
    assert (found is not None) is expected


CONSTRUCTED = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.Dropout())
        {made}

    def forward(self, x):
        return self.body(x)

def predict(x):
    net = Net()
    «net.load_state_dict(torch.load("net.pt"))»
    return net(x)
"""


@pytest.mark.parametrize(
    ("made", "expected"), [("self.eval()", False), ("self.train(False)", False), ("self.body.eval()", True), ("pass", True)]
)
def test_a_constructor_may_leave_training_mode(made: str, expected: bool) -> None:
    semantics, (load,) = marked(CONSTRUCTED.format(made=made))
    assert (load in semantics.of(LoadedModels).run_in_training) is expected
