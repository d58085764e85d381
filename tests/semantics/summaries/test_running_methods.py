"""Methods of modules that run them as their forward does, and those that may do more than that."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from torchlint.semantics.code.tree import own_parts
from torchlint.semantics.summaries.members import members_of
from torchlint.semantics.summaries.shown.running_methods import running_methods, runs_of

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


def test_a_class_that_may_be_a_module_is_run_without_forward() -> None:
    text = "class Net(Base):\n    def __init__(self):\n        self.body = made()\n"
    [node] = ast.parse(text + "    def loss(self, x, train=True):\n        return self.body(x) if train else 0\n").body
    assert isinstance(node, ast.ClassDef)
    assert running_methods(members_of(node), is_derived=True) == ("loss",)


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("", "return net(x).argmax(1)", (("net", False),)),
        ("", "for each in x:\n        print(net.forward(each).mean())", (("net", True),)),
        ("", "return sum(net(each) for each in x)", (("net", True),)),
        ("", "return net.encode(x)", ()),
        ("", "with torch.no_grad():\n        return net(x)", ()),
        ("@torch.no_grad()\n", "return net(x)", ()),
        ("", "net.eval()\n    return net(x)", ()),
        ("", "net(x).sum().backward()", ()),
        ("", "return torch.autograd.grad(net(x), x)", ()),
        ("", "x.requires_grad = True\n    return net(x)", ()),
    ],
)
def test_what_functions_run(head: str, body: str, expected: tuple[tuple[str, bool], ...]) -> None:
    [node] = ast.parse(f"{head}def f(net, x):\n    {body}\n").body
    assert isinstance(node, ast.FunctionDef)
    assert runs_of(node, own_parts(node.body), ("net", "x")) == expected
