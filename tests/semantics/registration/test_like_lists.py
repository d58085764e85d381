"""Whether a container that registers is as good as a plain one, and the reason where it may not be."""

from __future__ import annotations

import pytest

from torchlint.fact import Fact
from torchlint.semantics import Semantics
from torchlint.semantics.registration.unregistered import UnregisteredModules
from torchlint.text.source import Source

LIST = "self.a = [nn.Linear(2, 2) for _ in range(3)]"
LOOP = "for layer in self.a:\n            x = layer(x)"


def fact(made: str = LIST, used: str = LOOP, *, start: str = "", end: str = "print(Net()(torch.ones(2)))") -> Fact:
    """What is known of the one collection of a class ``Net`` in a program."""
    text = (
        f"import torch\nfrom torch import nn\n{start}\n\nclass Net(nn.Module):\n    def __init__(self, width=2):\n"
        f"        super().__init__()\n        {made}\n\n    def forward(self, x):\n        {used}\n        return x\n\n{end}\n"
    )
    [found] = Semantics(Source(text).tree).of(UnregisteredModules).kept.values()
    return found.alike


@pytest.mark.parametrize(
    ("made", "used"),
    [
        (LIST, LOOP),
        (LIST, "for i in range(len(self.a)):\n            x = self.a[i](x)"),
        (LIST, "for i, layer in enumerate(self.a):\n            x = layer(x)"),
        (LIST, "for layer in self.a[1:]:\n            x = layer(x)"),
        (LIST, "first, second, third = self.a"),
        ("self.a = []\n        self.a.append(nn.Linear(2, 2))", LOOP),
        ("self.a = []\n        self.a += [nn.Linear(2, 2)]", LOOP),
        ("self.a = {'x': nn.Linear(2, 2)}", "x = self.a['x'](x)"),
        ("self.a = {'x': nn.Linear(2, 2)}", "for key, layer in self.a.items():\n            x = layer(x)"),
        ("self.a = {}\n        for name in ('x', 'y'):\n            self.a[name] = nn.Linear(2, 2)", "x = self.a['x'](x)"),
    ],
)
def test_certain(made: str, used: str) -> None:
    assert fact(made, used).is_certain


@pytest.mark.parametrize(
    ("made", "used", "doubt"),
    [
        (LIST, "self.a[0] = nn.Tanh()", "`self.a[0]` may want a list"),
        (LIST, "self.a.append(nn.Tanh())", "`self.a.append` may want a list"),
        (LIST, "layers = self.a", "`self.a` may want a list"),
        (LIST, "return self.a", "`self.a` may want a list"),
        (LIST, "vars(self)", "`vars` may run any code"),
        (LIST, "getattr(self, 'a').sort()", "`getattr` may run any code"),
        (LIST, "del self.a", "`self.a` may want a list"),
        ("self.a = [nn.Parameter(torch.ones(2))]", "x = torch.stack(self.a)", "`torch.stack(self.a)` may want a list"),
        ("self.a = [nn.Linear(2, 2), width]", LOOP, "`width` may be something else"),
        ("self.a = [Child(self)]", LOOP, "`Child(self)` may be something else"),
        ("self.a = {str(width): nn.Linear(2, 2)}", "x = self.a['2'](x)", "`str(width)` may be no name"),
        ("self.a = {'type': nn.Linear(2, 2)}", "x = self.a['type'](x)", "`'type'` may be no name"),
        ("layers = [nn.Linear(2, 2)]\n        self.a = layers", LOOP, "`layers` may be used under another name"),
    ],
)
def test_what_is_in_it_or_done_with_it(made: str, used: str, doubt: str) -> None:
    child = "class Child(nn.Module):\n    def __init__(self, up):\n        super().__init__()\n        self.w = nn.Linear(2, 2)"
    found = fact(made, used, start=child)
    assert not found.is_certain
    assert doubt in found.doubt


@pytest.mark.parametrize(
    ("start", "end", "doubt"),
    [
        ("", "", "the file may be imported"),
        ("from growing import widen", "print(widen(Net()))", "the code uses `widen` of another file"),
        ("", "net = Net()\nnet.a = []\nprint(net)", "`net.a` may want a list"),
        ("", "net = Net()\nnet.load_state_dict(torch.load('net.pt'))\nprint(net)", "what is saved, or trained by itself"),
    ],
)
def test_who_else_may_use_it(start: str, end: str, doubt: str) -> None:
    found = fact(start=start, end=end)
    assert not found.is_certain
    assert doubt in found.doubt


def test_what_the_class_does_with_its_attributes() -> None:
    own = "def __getattr__(self, name):\n        raise AttributeError(name)"
    assert "`Net.__getattr__` may not find" in fact(f"{LIST}\n\n    {own}").doubt
    deeper = "class Deep(Net):\n    def __setattr__(self, name, value):\n        self.__dict__[name] = value\nprint(Deep())"
    assert not fact(end=deeper).is_certain
