"""Calls of containers that have no `forward`."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.modules.containers.called import CalledContainer, CalledContainers

HEAD = "import copy\nimport torch\nimport torch.nn as nn\nfrom torch.nn import ModuleList\nfrom elsewhere import Mixin\n"


def found(code: str) -> list[CalledContainer[ast.AST]]:
    return list(Semantics(ast.parse(HEAD + code)).of(CalledContainers).found.values())


def net(made: str, used: str, more: str = "") -> str:
    """A module that makes ``made`` and runs ``used``."""
    return (
        f"class Net(nn.Module):\n    def __init__(self, xs, n):\n        super().__init__()\n        {made}\n"
        f"    def forward(self, x):\n        {used}\n        return x\n{more}"
    )


@pytest.mark.parametrize(
    ("made", "used"),
    [
        ("self.a = nn.ModuleList([nn.Linear(1, 1)])", "x = self.a(x)"),
        ("self.a = ModuleList(xs)", "x = self.a(x)"),
        ("self.a = torch.nn.modules.container.ModuleList(xs)", "x = self.a(x)"),
        ("self.a = nn.ModuleDict({'b': nn.Linear(1, 1)})", "x = self.a(x)"),
        ("self.a = nn.ParameterList([nn.Parameter(torch.ones(1))])", "x = self.a(x)"),
        ("self.a = nn.ParameterDict({'b': nn.Parameter(torch.ones(1))})", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs).to('cuda')", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs) if n else nn.ModuleDict(xs)", "x = self.a(x)"),
        ("self.a = None\n        if n: self.a = nn.ModuleList(xs)", "x = self.a(x)"),
        ("self.a = nn.ModuleList()\n        self.a.append(nn.Linear(1, 1))", "x = self.a(x)"),
        ("a = nn.ModuleList(xs)\n        self.a = a", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)", "x = self.a[:2](x)"),
        ("self.a = nn.ModuleList(xs)", "for layer in self.a: x = layer(x)\n        x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)", "a = self.a\n        x = a(x)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs), nn.ModuleList(xs)])", "for b in self.a: x = b(x)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs) for _ in range(n)])", "for i, b in enumerate(self.a): x = b(x)"),
        ("self.a = nn.ModuleList(nn.ModuleList(xs) for _ in range(n))", "x = self.a[n](x)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs)])", "for b, y in zip(self.a, x): y = b(y)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs)])", "x = [b(x) for b in self.a]"),
        ("self.a = nn.ModuleDict({'b': nn.ModuleList(xs)})", "for b in self.a.values(): x = b(x)"),
        ("self.a = nn.ModuleDict({k: nn.ModuleList(xs) for k in xs})", "for k, b in self.a.items(): x = b(x)"),
        ("self.a = nn.ModuleDict({'b': nn.ModuleList(xs)})", "x = self.a['b'](x)"),
    ],
)
def test_what_raises(made: str, used: str) -> None:
    assert len(found(net(made, used))) == 1


@pytest.mark.parametrize(
    ("made", "used"),
    [
        ("self.a = nn.Sequential(*xs)", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)", "x = self.a[0](x)"),
        ("self.a = nn.ModuleList(xs)", "for b in self.a: x = b(x)"),
        ("self.a = nn.ModuleList([nn.Linear(1, 1)])", "for b in self.a: x = b(x)"),
        ("self.a = nn.ModuleList(xs)\n        if n: self.a = nn.Sequential(*xs)", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs) if n else nn.Linear(1, 1)", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        self.a = nn.Sequential(*self.a)", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        self.a, self.b = xs", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        setattr(self, 'a', nn.Identity())", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        setattr(self, n, nn.Identity())", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        self.add_module('a', nn.Identity())", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        self._modules['a'] = nn.Identity()", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        self.a.forward = print", "x = self.a(x)"),
        ("self.a = nn.ModuleList()", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        del self.a", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)", "try:\n            x = self.a(x)\n        except NotImplementedError: pass"),
        ("self.a = nn.ModuleList(xs)", "if isinstance(self.a, nn.Sequential): x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)", "if callable(self.a): x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)", "a = self.a if n else nn.Identity()\n        x = a(x)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs), nn.Linear(1, 1)])", "for b in self.a: x = b(x)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs)])\n        self.a[0] = nn.Identity()", "for b in self.a: x = b(x)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs)])\n        b = self.a\n        b[0] = n", "for b in self.a: x = b(x)"),
        ("a = nn.ModuleList([nn.ModuleList(xs)])\n        self.a = a\n        self.a[0] = n", "for b in self.a: x = b(x)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs)])\n        self.a.append(n)", "x = self.a[1](x)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs)])\n        fill(self.a)", "x = self.a[1](x)"),
        ("self.a = nn.ModuleList([nn.ModuleList(xs)])", "for b in self.a:\n            for layer in b: x = layer(x)"),
        ("self.a = nn.ModuleDict({'b': nn.ModuleList(xs)})", "for k in self.a: x = k(x)"),
        ("self.a = nn.ModuleList(xs)", "x = self.b(x)"),
        ("self.a = nn.ModuleList(xs)", "x = x.a(x)"),
    ],
)
def test_what_may_run(made: str, used: str) -> None:
    assert found(net(made, used)) == []


@pytest.mark.parametrize(
    "more",
    [
        "class Wide(Net):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Sequential()",
        "class Wide(Net):\n    @property\n    def a(self): return nn.Identity()",
        "class Wide(Net):\n    a = nn.Identity()",
        "model = Net()\nmodel.a = nn.Sequential(*model.a)",
        "def change(self):\n    self.a = nn.Identity()\nNet.change = change",
        "nn.ModuleList.forward = print",
        "nn.ModuleList.__call__ = print",
        "setattr(nn.ModuleList, 'forward', print)",
        "mock.patch('torch.nn.ModuleList.forward')",
    ],
)
def test_what_is_changed_elsewhere_in_the_file(more: str) -> None:
    assert found(net("self.a = nn.ModuleList(xs)", "x = self.a(x)", more)) == []


@pytest.mark.parametrize(
    ("definition", "raises"),
    [
        ("class Own(nn.ModuleList):\n    pass", True),
        ("class Own(nn.ModuleList):\n    def __init__(self, n):\n        super().__init__([nn.Linear(1, 1)])", True),
        ("class Base(nn.ModuleList):\n    def name(self): return ''\nclass Own(Base):\n    '''Layers.'''", True),
        ("class Own(nn.ModuleList):\n    def forward(self, x): return x", False),
        ("class Own(nn.ModuleList):\n    def __call__(self, x): return x", False),
        ("class Own(nn.ModuleList):\n    forward = run", False),
        ("class Own(nn.ModuleList):\n    if True:\n        def forward(self, x): return x", False),
        ("class Own(nn.ModuleList):\n    def __init__(self):\n        self.forward = print", False),
        ("class Own(Mixin, nn.ModuleList):\n    pass", False),
        ("class Own(nn.ModuleList, nn.Sequential):\n    pass", False),
        ("@fluent\nclass Own(nn.ModuleList):\n    pass", False),
        ("class Base(nn.ModuleList):\n    def forward(self, x): return x\nclass Own(Base):\n    pass", False),
        ("class Own(nn.Sequential):\n    pass", False),
    ],
)
def test_classes_of_the_file(definition: str, raises: bool) -> None:
    assert [each.derived for each in found(f"{definition}\nlayers = Own(3)\nlayers(x)")] == ["Own"] * raises
    if not raises:
        return
    assert found(f"{definition}\nOwn.forward = print\nlayers = Own(3)\nlayers(x)") == []


@pytest.mark.parametrize(
    "code",
    [
        "class ModuleList:\n    def __call__(self, x): return x\nlayers = ModuleList()\nlayers(1)",
        "def f(layers):\n    layers(1)\nf(nn.ModuleList([nn.Linear(1, 1)]))",
        "layers = nn.ModuleList(xs)\nlayers = nn.Sequential(*layers)\nlayers(1)",
        "layers = nn.ModuleList(xs)\nwith pytest.raises(NotImplementedError):\n    layers(1)",
        "layers = nn.ModuleList(xs)\nfor layers in layers:\n    layers(1)",
        "from mine import nn\nlayers = nn.ModuleList(xs)\nlayers(1)",
    ],
)
def test_other_values(code: str) -> None:
    assert found(code) == []


@pytest.mark.parametrize(
    ("made", "used", "can_be"),
    [
        ("self.a = nn.ModuleList([nn.Linear(1, 1)])", "x = self.a(x)", True),
        ("self.a = nn.ModuleList([nn.Linear(1, 1)])", "x = self.a(self.a(x))", True),
        ("self.a = nn.ModuleList(xs)", "x = self.a(x, x)", False),
        ("self.a = nn.ModuleList(xs)", "x = self.a(x=x)", False),
        ("self.a = nn.ModuleList(xs)", "x = self.a(*x)", False),
        ("self.a = nn.ModuleList(xs)", "x = self.a(x)[:len(self.a)]", False),
        ("self.a = nn.ModuleList(xs)\n        self.a.append(1)", "x = self.a(x)", False),
        ("self.a = nn.ModuleDict(xs)", "x = self.a(x)", False),
        ("self.a = nn.ModuleList(xs).to(n)", "x = self.a(x)", False),
    ],
)
def test_what_can_be_a_sequence(made: str, used: str, can_be: bool) -> None:
    assert {each.a_sequence for each in found(net(made, used))} == {can_be}


def test_containers_on_torch() -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(2, 2)
    own = type("Own", (torch.nn.ModuleList,), {})
    for container in (torch.nn.ModuleList([layer]), torch.nn.ModuleDict({"a": layer}), own([layer])):
        with pytest.raises(NotImplementedError):
            container(torch.ones(2))
    for parameters in (torch.nn.ParameterList([layer.bias]), torch.nn.ParameterDict({"a": layer.bias})):
        with pytest.raises(RuntimeError):
            parameters(torch.ones(2))
    assert type(torch.nn.ModuleList([layer])[:1]) is torch.nn.ModuleList
