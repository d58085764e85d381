"""Functions of a file's own that stand for torch's Variable, and where they are called."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics import Semantics
from torchlint.semantics.apis.variable_wrappers import OwnWrappers
from torchlint.text.source import Source

HEADER = "import torch\nfrom torch import autograd\nfrom torch.autograd import Variable as V\n"


def wrappers(text: str) -> OwnWrappers:
    return Semantics(Source(HEADER + text).tree).of(OwnWrappers)


def lines(found: list[ast.Call]) -> list[int]:
    return [call.lineno - HEADER.count("\n") for call in found]


@pytest.mark.parametrize(
    "definition",
    [
        "wrap = lambda *args, **kwargs: V(*args, **kwargs).cuda()",
        "wrap = lambda *a, **k: autograd.Variable(*a, **k).cuda() if cuda else autograd.Variable(*a, **k)",
        "wrap = lambda x: V(x.cuda())",
        "def wrap(x):\n    return V(x)",
        "def wrap(x, flag=False):\n    if cuda:\n        x = x.cuda()\n    return V(x, requires_grad=flag)",
        "def wrap(x, **k):\n    x = V(x, **k)\n    return x.cuda()",
        "def wrap(x):\n    if cuda:\n        return V(x.float()).cuda()\n    return V(x)",
    ],
)
def test_a_wrapper(definition: str) -> None:
    text = f"{definition}\nprint(wrap(x))\nwrap(y)"
    assert lines(list(wrappers(text).calls)) == [text.count("\n"), text.count("\n") + 1]


@pytest.mark.parametrize(
    "definition",
    [
        "wrap = lambda x: V(torch.zeros(3))",
        "wrap = lambda x, y: V(x) + V(y)",
        "wrap = lambda x: V(x) * 2",
        "def wrap(x):\n    x = x * 2\n    return V(x)",
        "def wrap(x):\n    y = V(x)\n    return model(y)",
        "def wrap(x):\n    if x.is_cuda:\n        return x\n    return V(x)",
        "def wrap(x):\n    return [V(y) for y in x]",
        "def wrap(x):\n    V(x)",
        "wrap = V",
    ],
)
def test_no_wrapper(definition: str) -> None:
    assert not wrappers(f"{definition}\nwrap(x)").calls


@pytest.mark.parametrize(
    ("use", "known"),
    [
        ("wrap(x)", True),
        ("wrap(x, volatile=True)\nwrap(y)", True),
        ("list(map(wrap, xs))", False),
        ("other = wrap", False),
    ],
)
def test_whether_all_its_uses_are_calls(use: str, known: bool) -> None:
    [wrapper] = wrappers(f"wrap = lambda *a, **k: V(*a, **k)\n{use}").all.values()
    assert (wrapper.uses is not None) is known


@pytest.mark.parametrize(
    ("definition", "taken"),
    [
        ("wrap = lambda *a, **k: V(*a, **k)", True),
        ("def wrap(x, volatile=False):\n    return V(x, volatile=volatile)", True),
        ("def wrap(x, volatile=False):\n    return V(x)", True),
        ("def wrap(x, volatile=False):\n    if volatile:\n        count()\n    return V(x)", False),
        ("def wrap(x):\n    return V(x)", False),
    ],
)
def test_who_takes_volatile(definition: str, taken: bool) -> None:
    assert bool(wrappers(f"{definition}\nwrap(x, volatile=True)").taking_volatile) is taken


def test_a_class_derived_from_variable_is_not_initialised() -> None:
    text = """
        from torch.autograd import Variable
        class Mine(Variable):
            def __init__(self, data):
                super().__init__(data.cuda())
        class Plain(Variable):
            pass
        class Own:
            def __init__(self, data):
                self.data = data
        """
    semantics, _ = marked(text)
    assert [owner.name for owner in semantics.of(OwnWrappers).uninitialised] == ["Mine"]
