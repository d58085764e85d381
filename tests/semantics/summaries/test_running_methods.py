"""Methods of modules that run them as their forward does, and those that may do more than that."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from torchlint.semantics.summaries.members import members_of
from torchlint.semantics.summaries.running_methods import running_methods

TEXT = """
class Net(nn.Module):
    def __init__(self, width):
        self.part = nn.Linear(width, width)
        self.betas = torch.ones(width)

    def forward(self, x):
        return self.part(x)

    @staticmethod
    def index(x, step):
        return x[step]

    def loss(self, x):
        return (self(x) - self.index(x, 0)).mean()

    @torch.no_grad()
    def sample(self, x):
        return self(x)

{method}
"""


def running(method: str) -> tuple[str, ...]:
    """The methods of a class to which one is added."""
    [node] = ast.parse(TEXT.format(method=indent(dedent(method), " " * 4))).body
    assert isinstance(node, ast.ClassDef)
    return running_methods(members_of(node))


@pytest.mark.parametrize(
    "value",
    [
        "self(x)",
        "self.forward(x)",
        "self.part(x)",
        "self.loss(x)",
        "[self.part(y) for y in x]",
        "self.part.reverse(x)",
        "self.part.inverse(x)[0]",
        "self.part[0](x)",
    ],
)
def test_what_runs_the_module(value: str) -> None:
    assert running(f"def features(self, x):\n    return {value}\n") == ("loss", "features")


@pytest.mark.parametrize("given", ["self.part", "reversed(self.part)", "enumerate(self.part)", "self.part[::-1]"])
@pytest.mark.parametrize("value", ["layer(x)", "layer.reverse(x)", "layer.forward(x)"])
def test_what_runs_part_by_part(given: str, value: str) -> None:
    target = "i, layer" if given.startswith("enum") else "layer"
    assert running(f"def features(self, x):\n    for {target} in {given}:\n        x = {value}\n    return x\n") == (
        "loss",
        "features",
    )


@pytest.mark.parametrize(
    "body",
    [
        "return self.words.decode(x)",
        "return x.reverse()",
        "for layer in self.part:\n    x = layer.size(x)\nreturn x",
        "for layer in x:\n    x = layer(x)\nreturn x",
        "return x.mean()",
        "return self.state_dict()",
        "return self.unknown(x)",
        "return self.sample(x)",
        "self.eval()\nreturn self(x)",
        "was = self.training\nreturn self(x)",
        "with torch.inference_mode():\n    return self(x)",
        "torch.set_grad_enabled(False)\nreturn self(x)",
    ],
)
def test_what_does_not_or_may_set_a_mode(body: str) -> None:
    assert running(f"def features(self, x):\n{indent(body, '    ')}\n") == ("loss",)


def test_a_class_without_forward_is_not_run() -> None:
    [node] = ast.parse("class Trainer:\n    def run(self, x):\n        return self.model(x)\n").body
    assert isinstance(node, ast.ClassDef)
    assert running_methods(members_of(node)) == ()
