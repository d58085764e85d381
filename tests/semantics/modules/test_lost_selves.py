"""Methods of modules that give nothing where the one of `nn.Module` gives the module."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.modules.lost_selves import GIVE_MODULE, GivesNothing, LostSelves

HEAD = "import functools\nimport torch\nfrom torch import nn\n"


def lost(method: str, base: str = "nn.Module") -> list[GivesNothing[ast.stmt]]:
    text = f"{HEAD}class Net({base}):\n{indent(method, '    ')}\n"
    return list(Semantics(ast.parse(text)).of(LostSelves).found.values())


@pytest.mark.parametrize("name", sorted(GIVE_MODULE))
def test_methods_that_do_the_same_and_give_nothing(name: str) -> None:
    [found] = lost(f"def {name}(self, *args):\n    super().{name}(*args)\n    self.done = True")
    assert (found.owner, found.instance, found.returns, found.falls_off) == ("Net", "self", (), True)


@pytest.mark.parametrize(
    ("method", "returns", "falls_off"),
    [
        ("def train(net, mode=True):\n    if mode:\n        return\n    super().train(mode)", 1, True),
        ("def train(self, mode=True):\n    super(Net, self).train(mode)\n    return None", 1, False),
        ("def eval(self):\n    self.train(False)", 0, True),
        ("def train(self, mode=True):\n    if not mode:\n        super().eval()\n    else:\n        super().train()", 0, True),
        ("def to(self, device):\n    nn.Module.to(self, device)\n    def of(): return 1\n    self.of = of", 0, True),
        ("def to(self, device):\n    if not device:\n        return\n    super().to(device)\n    raise ValueError", 1, False),
        ("def train(self, mode=True):\n    self.training = mode\n    for each in self.children(): each.train(mode)", 0, True),
        ("def cuda(self):\n    self.to('cuda')", 0, True),
        ("def half(self):\n    self._apply(torch.half)", 0, True),
    ],
)
def test_where_they_give_nothing(method: str, returns: int, falls_off: bool) -> None:
    [found] = lost(method)
    assert (len(found.returns), found.falls_off) == (returns, falls_off)


@pytest.mark.parametrize(
    "method",
    [
        "def train(self, mode=True):\n    return super().train(mode)",
        "def train(self, mode=True):\n    super().train(mode)\n    return self",
        "def train(self, mode=True):\n    if mode:\n        return super().train(mode)\n    super().eval()",
        "def train(self, loader):\n    for batch in loader:\n        self.step(batch)",
        "def eval(self, loader):\n    self.head.eval()",
        "def to(self, device):\n    self.head.to(device)",
        "def apply(self, images):\n    self.head(images)",
        "def train(self, mode=True):\n    raise NotImplementedError",
        "def train(self, mode=True):\n    pass",
        "@functools.cache\ndef cuda(self):\n    super().cuda()",
        "async def cuda(self):\n    super().cuda()",
        "def eval(self):\n    super().eval()\n    yield self",
        "def freeze(self):\n    super().eval()",
        "def zero_grad(self):\n    super().zero_grad()",
        "@staticmethod\ndef to():\n    super().to()",
        "def half(self):\n    super().half()\n    raise NotImplementedError",
        "def train(self, loader, optimizer):\n    super().train()\n    optimizer.step()",
        "def train(self, loader):\n    Trainer.train(self, loader)",
        "def train(self, loader, epochs):\n    pass\ndef eval(self):\n    self.train(False)",
        "def train(self, mode=True):\n    super().train(mode)\ntrain = fluent(train)",
        "def to(self, device):\n    super().to(device)\ndef to(self, device):\n    return super().to(device)",
    ],
)
def test_what_gives_something_or_stands_for_nothing(method: str) -> None:
    assert lost(method) == []


@pytest.mark.parametrize("base", ["object", "Unknown", "torch.utils.data.Dataset"])
def test_what_is_no_module(base: str) -> None:
    assert lost("def train(self, mode=True):\n    super().train(mode)", base) == []


def test_the_others_that_give_what_it_gives() -> None:
    train = "def train(self, mode=True):\n    super().train(mode)\n"
    assert [each.others for each in lost(train)] == [("eval",)]
    assert [each.others for each in lost(train + "def eval(self):\n    super().eval()\n    return self")] == [()]
    assert [each.others for each in lost("def _apply(self, fn):\n    super()._apply(fn)")] == [("to", "cuda", "half")]
    assert [each.others for each in lost("def to(self, device):\n    super().to(device)")] == [()]


def test_what_else_stands_in_the_place_of_a_method() -> None:
    method = "def train(self, mode=True):\n    super().train(mode)"
    text = f"{HEAD}class Net(nn.Module):\n{indent(method, '    ')}\n"
    for more in ("Net.train = fluent(Net.train)\n", ""):
        found = Semantics(ast.parse(text + more)).of(LostSelves).found
        assert len(found) == (not more)
    assert not Semantics(ast.parse(text.replace("class", "@fluent\nclass"))).of(LostSelves).found
    assert not Semantics(ast.parse(text.replace("nn.Module", "nn.Module, metaclass=Fluent"))).of(LostSelves).found


def test_a_base_of_the_file_has_a_loop_of_its_own() -> None:
    base = "class Base(nn.Module):\n    def train(self, loader):\n        for batch in loader: self(batch)\n"
    text = f"{HEAD}{base}class Net(Base):\n    def train(self, loader):\n        super().train(loader)\n"
    assert not Semantics(ast.parse(text)).of(LostSelves).found


def test_methods_give_the_module_on_torch() -> None:
    torch = pytest.importorskip("torch")
    given = {"apply": (print,), "_apply": (torch.clone,), "to": ("cpu",), "type": (torch.float32,)}
    for name in GIVE_MODULE - {"cuda", "ipu", "xpu", "mtia"}:  # which need their device
        layer = torch.nn.Identity()
        call = getattr(layer, name)
        assert (call(device="cpu") if name == "to_empty" else call(*given.get(name, ()))) is layer, name
    for name in ("cuda", "ipu", "xpu", "mtia"):
        assert getattr(torch.nn.Identity(), name)() is not None, name
