"""Where autograd is off, and what is back-propagated."""

from __future__ import annotations

import pytest

from marked import kind, marked
from torchlint.semantics.autograd.backpropagation import Backpropagated

IMPORT = "import torch\n"


def covered(snippet: str) -> bool:
    semantics, (node,) = marked(IMPORT + snippet)
    return semantics.no_grad.covers(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "with torch.no_grad():\n    «x»",
        "with torch.inference_mode():\n    «x»",
        "def f(): return «x»\nwith torch.no_grad():\n    f()\nm.f()",
        "with torch.inference_mode(True):\n    «x»",
        "with torch.set_grad_enabled(False):\n    «x»",
        "with torch.autograd.no_grad():\n    «x»",
        "from torch import no_grad as off\nwith off():\n    «x»",
        "with open(p) as f, torch.no_grad():\n    «x»",
        "with torch.no_grad(), torch.autocast('cuda'):\n    if c:\n        for i in y: «x»",
        "with torch.enable_grad():\n    with torch.no_grad():\n        «x»",
        "with torch.no_grad():\n    y = [f(«x») for i in z]",
        "@torch.no_grad()\ndef f(): «x»",
        "@torch.no_grad\ndef f(): «x»",
        "@torch.inference_mode()\ndef f(): «x»",
        "class A:\n    @torch.no_grad()\n    def f(self): «x»",
        "import lightning as L\nclass A(L.LightningModule):\n    def validation_step(self, batch): «x»",
        "import pytorch_lightning as pl\nclass A(pl.LightningModule): pass\nclass B(A):\n    def on_test_epoch_end(self): «x»",
        "import pytorch_lightning as pl\nclass A(pl.LightningModule):\n    def validation_end(self, outputs): self.show()\n"
        "    def show(self): «x»",
        "@torch.set_grad_enabled(False)\ndef f(): «x»",
        "torch.set_grad_enabled(False)\n«x»",
        "def f():\n    torch.set_grad_enabled(False)\n    «x»\n    torch.set_grad_enabled(True)",
        "def f():\n    torch.set_grad_enabled(False)\n    if c: «x»",
        "if __name__ == '__main__':\n    torch.set_grad_enabled(False)\n    for i in y: «x»",
        "try:\n    torch.autograd.set_grad_enabled(False)\n    «x»\nfinally: pass",
        "torch.set_grad_enabled(False)\ndef f(): «x»",
        "class A:\n    def __init__(self):\n        torch.set_grad_enabled(False)\n    def f(self): «x»",
        "def f(): return «x»\nwith torch.no_grad():\n    f()",
        "def f(): return «x»\ndef g(): return f()\nwith torch.no_grad():\n    g()",
        "class A:\n    def f(self): return «x»\n    @torch.no_grad()\n    def g(self): return self.f()",
        "class A:\n    def f(self): return «x»\n    @torch.no_grad()\n    def g(self): return self.f()\n"
        "class B:\n    def f(self): return y\n    @torch.no_grad()\n    def g(self): return self.f()",
    ],
)
def test_autograd_is_off(snippet: str) -> None:
    assert covered(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "«x»",
        "with torch.no_grad():\n    pass\n«x»",
        "with torch.enable_grad():\n    «x»",
        "with torch.set_grad_enabled(True):\n    «x»",
        "with torch.set_grad_enabled(train):\n    «x»",
        "with torch.inference_mode(False):\n    «x»",
        "with torch.no_grad():\n    with torch.enable_grad():\n        «x»",
        "with torch.no_grad() as «x»:\n    pass",
        "@torch.no_grad()\ndef f(a=«x»): pass",
        "class A:\n    def f(self): return «x»\n    @torch.no_grad()\n    def g(self): return self.f()\n"
        "class B:\n    def f(self): return y\n    def g(self): return self.f()",  # of an heir of both, perhaps
        "@torch.no_grad()\ndef f(): pass\n«x»",
        "@torch.enable_grad()\ndef f(): «x»",
        "torch.set_grad_enabled(True)\n«x»",
        "torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\n«x»",
        "«x»\ntorch.set_grad_enabled(False)",
        "if c:\n    torch.set_grad_enabled(False)\nelse:\n    «x»",
        "if c:\n    torch.set_grad_enabled(False)\n«x»",
        "torch.set_grad_enabled(False)\ndef f():\n    torch.set_grad_enabled(True)\n    «x»",
        "torch.set_grad_enabled(False)\ndef f(): «x»\ntorch.set_grad_enabled(True)",
        "def f(): «x»\nf()\ntorch.set_grad_enabled(False)",
        "def f():\n    loss.backward()\n    «x»\ntorch.set_grad_enabled(False)",
        "class A:\n    def __init__(self):\n        self.a = «x»\n        torch.set_grad_enabled(False)",
        "class A:\n    def g(self):\n        torch.set_grad_enabled(False)\n    def f(self): «x»",
        "torch.no_grad()\n«x»",
        "import lightning as L\nclass A(L.LightningModule):\n    def training_step(self, batch): «x»",
        "import lightning as L\nclass A(L.LightningModule):\n    def validation_step(self, b): «x»\n"
        "    def training_step(self, b): return self.validation_step(b)",
        "class A(torch.nn.Module):\n    def validation_step(self, batch): «x»",
        "def f(): return «x»\nwith torch.no_grad():\n    f()\nf()",
        "class A:\n    def f(self): return «x»\n    def g(self):\n        with torch.no_grad():\n            self.f()\nm.f()",
        "def f(): return «x»",
        "with torch.no_grad():\n    f = lambda: «x»",
        "def no_grad(): pass\nwith no_grad():\n    «x»",
        "import tensorflow as torch\nwith torch.no_grad():\n    «x»",
    ],
)
def test_autograd_is_on(snippet: str) -> None:
    assert not covered(snippet)


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("with torch.no_grad():\n    y = w * 2\n    «y»", "tensor nograd"),
        ("with torch.no_grad():\n    pass\ny = w * 2\n«y»", "tensor graph"),
        ("with torch.no_grad():\n    y = torch.nn.Linear(1, 1)(w)\n«y»", "tensor nograd"),
        ("with torch.no_grad():\n    «w»", "tensor leaf"),
        ("@torch.no_grad()\ndef f(): return w * 2\ny = «f()»", "tensor nograd"),
        ("@torch.no_grad()\ndef f():\n    with torch.enable_grad():\n        y = w * 2\n    «y»", "tensor graph"),
        ("def f(): return w * 2\nwith torch.no_grad():\n    y = «f()»", "tensor nograd"),
        ("with torch.no_grad():\n    y = torch.nn.functional.mse_loss(w, z)\n«y»", "tensor nograd scalar"),
        ("with torch.no_grad():\n    y = «w.sum()»", "tensor nograd scalar"),
        ("with torch.no_grad():\n    y = «-w»", "tensor nograd"),
    ],
)
def test_the_grad_status_of_what_is_computed_there(snippet: str, expected: str) -> None:
    assert kind(IMPORT + "w = torch.ones(3, requires_grad=True)\n" + snippet) == expected


def backpropagated(snippet: str) -> list[bool]:
    semantics, nodes = marked(IMPORT + snippet)
    return [semantics.of(Backpropagated).name(node) for node in nodes]


@pytest.mark.parametrize(
    "snippet",
    [
        "«x» = f()\n«x».backward()",
        "«x» = f()\nscaler.scale(«x»).backward()",
        "«x» = f()\naccelerator.backward(«x»)",
        "«x» = f()\nself.manual_backward(«x»)",
        "«x» = f()\nwith amp.scale_loss(«x», optimizer) as scaled:\n    scaled.backward()",
        "«x» = f()\nwith apex.amp.scale_loss(«x», optimizer, loss_id=1) as s:\n    torch.autograd.backward(s)",
        "«x» = f()\nfabric.backward(«x»)",
        "«x» = f()\nmodel_engine.backward(«x»)",
        "«x» = f()\ntorch.autograd.backward(«x»)",
        "«x» = f()\ntorch.autograd.grad(«x», p)",
        "«x» = f()\nfrom torch.autograd import grad\ngrad(«x», p)",
        "«x» = f()\n(«x» / n).backward()",
        "«x» = f()\n«x».mean().backward()",
        "«x» = f()\ny = «x» * 2 + 1\ny.backward()",
        "«x» = 0\nfor i in z: «x» += i\n«x».backward()",
        "«x» = 0\nfor i in z: «x» = «x» + i\n«x».backward()",
        "«x» = []\nfor i in z: «x».append(f(i))\ntorch.stack(«x»).sum().backward()",
        "«x» = {}\n«x»['a'] = f()\nsum(«x».values()).backward()",
        "xs = []\nfor i in z:\n    «x» = f(i)\n    xs.append(«x»)\nsum(xs).backward()",
        "losses = {}\n«x» = f()\nlosses['a'] = «x»\nlosses['a'].backward()",
        "def f():\n    «x» = g()\n    return «x»\nloss = f()\nloss.backward()",
        "def f(a):\n    a.backward()\n«x» = g()\nf(«x»)",
        "class A:\n    def f(self):\n        «self.x» = g()\n        «self.x».backward()",
        "class A:\n    def f(self):\n        «self.x» = g()\n    def h(self):\n        self.x.backward()",
        "class A:\n    def f(self, y): self.x += «y»\n    def h(self): «self.x».backward()",
        "class A:\n    def loss(self):\n        «x» = g()\n        return «x»\n    def h(self): self.loss().backward()",
        "class N(torch.nn.Module):\n    def training_step(self, batch, i):\n        «x» = g()\n        return «x»",
        "class N(torch.nn.Module):\n    def training_step(self, batch, i):\n        «x» = g()\n        return {'loss': «x»}",
        "def closure():\n    «x» = g()\n    «x».backward()\n    return «x»\nopt.step(closure)",
        "x = None\ndef closure():\n    global x\n    «x» = g()\n    «x».backward()",
        "def f():\n    x = None\n    def g():\n        nonlocal x\n        «x» = h()\n    opt.step(g)\n    «x».backward()",
    ],
)
def test_what_flows_into_backward(snippet: str) -> None:
    found = backpropagated(snippet)
    assert found and all(found)


@pytest.mark.parametrize(
    "snippet",
    [
        "«x» = f()",
        "«x» = f()\ny = g()\ny.backward()",
        "«x» = 0\nloss = f()\nloss.backward()\n«x» += loss",
        "«x» = f()\ny = «x».item() * 2\ny.backward()",
        "«x» = f()\ny = g(«x».detach())\ny.backward()",
        "«x» = f()\ny = float(«x») * loss\ny.backward()",
        "«x» = f()\n«x» = 1\nx = g()\nx.backward()",
        "«x» = f()\nif «x» > 0: y = g()\ny.backward()",
        "«xs» = []\nloss = f()\nloss.backward()\n«xs».append(loss)",
        "class N(torch.nn.Module):\n    def validation_step(self, b, i):\n        «x» = g()\n        return «x»",
        "def f():\n    «x» = g()\n    return «x»\nloss = f().item()\nloss.backward()",
        "class A:\n    def f(self): «self.x» = g()\nclass B:\n    def f(self): self.x.backward()",
    ],
)
def test_what_does_not(snippet: str) -> None:
    found = backpropagated(snippet)
    assert found and not any(found)


def test_other_contexts_give_something_else_than_they_are_given() -> None:
    assert backpropagated("«x» = f()\nwith open_(«x», y) as z:\n    z.backward()") == [False, False]
    assert backpropagated("«x» = f()\nwith amp.scale_loss(y, «x») as z:\n    z.backward()") == [False, False]
    assert backpropagated("«x» = f()\nwith amp.scale_loss(«x», y) as z:\n    z.item()") == [False, False]
