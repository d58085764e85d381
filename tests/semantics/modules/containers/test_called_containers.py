"""Calls of containers that have no `forward`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.api import lint
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
        ("self.a = nn.ModuleList()\n        for _ in xs: self.a.append(nn.ModuleList(xs))", "for b in self.a: x = b(x)"),
        ("self.a = nn.ModuleList(xs)\n        setattr(self, f'layer{n}', nn.Identity())", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        setattr(self, 'layer' + n, nn.Identity())", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        setattr(self, 'layer%d' % n, nn.Identity())", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        self.set_submodule('b.c', nn.Identity())", "x = self.a(x)"),
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
        (
            "self.a = nn.ModuleList()\n        self.a.append(nn.ModuleList(xs))\n        self.a.append(n)",
            "for b in self.a: x = b(x)",
        ),
        ("self.a = nn.ModuleList(xs)\n        setattr(self, f'{n}', nn.Identity())", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        self.set_submodule('a', nn.Identity())", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)\n        for k in xs: super().__setattr__(k, n)", "x = self.a(x)"),
        ("self.a = nn.ModuleList(xs)", "self.assertRaises(NotImplementedError, lambda: self.a(x))"),
        ("self.a = nn.ModuleList(xs)", "pytest.raises(NotImplementedError, lambda: self.a(x))"),
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
        "for n, m in net.named_children(): setattr(net, n, nn.Sequential(*m))",
        "for n, m in net.named_modules(): net.set_submodule(n, nn.Sequential(*m))",
        "net.__dict__['a'] = nn.Identity()",
        "vars(net)['a'] = nn.Identity()",
        "net.__dict__.update(changes)",
        "nn.ModuleList = Mine",
    ],
)
def test_what_is_changed_elsewhere_in_the_file(more: str) -> None:
    assert found(net("self.a = nn.ModuleList(xs)", "x = self.a(x)", more)) == []


@pytest.mark.parametrize(
    ("decorator", "raises"),
    [("@as_sequence", False), ("@MODELS.register('net')", True), ("@register_model", True), ("@torch.compile", False)],
)
def test_a_class_that_is_decorated(decorator: str, raises: bool) -> None:
    assert bool(found(f"{decorator}\n" + net("self.a = nn.ModuleList(xs)", "x = self.a(x)"))) is raises


@pytest.mark.parametrize(
    "more",
    [
        "for n, m in net.named_children():\n    m[0] = nn.Identity()",
        "child = net.get_submodule('a')\nchild[0] = nn.Identity()",
        "for n, m in net.named_modules(): setattr(parent(m), n, nn.Identity())",
    ],
)
def test_items_that_are_changed_through_the_module_around(more: str) -> None:
    items = net("self.a = nn.ModuleList([nn.ModuleList(xs)])", "for b in self.a: x = b(x)", more)
    assert len(found(items.replace(more, ""))) == 1
    assert found(items) == []


@pytest.mark.parametrize(
    ("code", "raises"),
    [
        ("def make(n):\n    return nn.ModuleList([nn.Linear(1, 1)])\nm = make(2)\nm(1)", True),
        ("def make(n):\n    if n: return nn.Identity()\n    return nn.ModuleList([nn.Linear(1, 1)])\nm = make(2)\nm(1)", False),
        ("@run\ndef make(n):\n    return nn.ModuleList([nn.Linear(1, 1)])\nm = make(2)\nm(1)", False),
        ("def make(n):\n    yield 1\n    return nn.ModuleList([nn.Linear(1, 1)])\nm = make(2)\nm(1)", False),
        ("async def make(n):\n    return nn.ModuleList([nn.Linear(1, 1)])\nm = make(2)\nm(1)", False),
    ],
)
def test_what_a_function_of_the_file_makes(code: str, raises: bool) -> None:
    assert bool(found(code)) is raises


@pytest.mark.parametrize(
    ("imports", "raises"),
    [
        ("from torch.nn import *", True),
        ("from torch.nn import *\nfrom own import *", False),
        ("from torch.nn import *\nfrom .nn import *", False),
        ("try:\n    from own import ModuleList\nexcept ImportError:\n    from torch.nn import ModuleList", False),
        ("if new:\n    from torch.nn import ModuleList\nelse:\n    from torch.nn.modules import ModuleList", False),
    ],
)
def test_where_the_name_is_from(imports: str, raises: bool) -> None:
    code = f"{imports}\nm = ModuleList([1])\nm(1)"
    assert bool(Semantics(ast.parse(code)).of(CalledContainers).found) is raises


def test_arguments_that_are_named() -> None:
    assert [each.names for each in found("m = nn.ModuleList(xs)\nm(x)\nm(x, mask=None)\nm(**x)")] == [False, True, False]


NET = "import torch.nn as nn\nfrom base import Base\n" + net(
    "self.layers = nn.ModuleList([nn.Linear(1, 1)])", "x = self.layers(x)"
)
DEEP = NET.replace("nn.Linear(1, 1)", "nn.ModuleList([nn.Linear(1, 1)])").replace("x = self.layers(x)", "x = self.layers[0](x)")


@pytest.mark.parametrize(
    ("text", "other", "raises"),
    [
        (NET, "class Sub(Net):\n    def __init__(self):\n        self.layers = nn.Sequential()", False),
        (NET, "class Sub(Net):\n    def __init__(self):\n        self.others = nn.Sequential()", True),
        (NET, "class Other:\n    def __init__(self):\n        self.layers = nn.Sequential()", True),
        (NET, "net = Net()\nnet.layers = nn.Sequential(*net.layers)", False),
        (NET, "if net.layers == 3: pass", True),
        (NET, "setattr(net, 'layers', nn.Sequential())", False),
        (NET, "nn.ModuleList.forward = run", False),
        (NET.replace("nn.Module)", "Base)"), "", False),
        (NET, "", True),
        (DEEP, "net.layers[0] = nn.Linear(1, 1)", False),
        (DEEP, "net.layers[0].bias = 1", True),
    ],
)
def test_what_other_files_replace(tmp_path: Path, text: str, other: str, raises: bool) -> None:
    (tmp_path / "use.py").write_text("import torch.nn as nn\nfrom net import Net\n" + other)
    (tmp_path / "base.py").write_text(
        "import torch.nn as nn\nclass Base(nn.Module):\n    def close(self):\n        self.layers = nn.Sequential()\n"
    )
    (tmp_path / "net.py").write_text(text)
    path = str(tmp_path / "net.py")
    assert bool(lint(text, filename=path, select=["TPL331"], project_root=str(tmp_path))) is raises
    assert lint(text, filename=path, select=["TPL331"]), "without the project nobody is asked"


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
        ("self.a = nn.ModuleList(*xs)", "x = self.a(x)", False),
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
