"""Whose methods are called."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.apis.methods import Methods


@pytest.mark.parametrize(
    ("snippet", "is_tensors"),
    [
        ("x = torch.zeros(3)\n«x.add_»(1)", True),
        ("def f(p): «p.data.add»(1)", True),
        ("def f(p): «p.grad.add»(1)", True),
        ("def f(p): «p.addcmul_»(1)", True),
        ("def f(p): «p.add»(1)", False),
        ("x = [1]\n«x.addcmul_»(1)", False),
    ],
)
def test_knows_methods_of_tensors(snippet: str, is_tensors: bool) -> None:
    semantics, [method] = marked("import torch\n" + snippet)
    assert isinstance(method, ast.Attribute)
    assert semantics.of(Methods).is_of_tensor(method) == is_tensors


@pytest.mark.parametrize(
    ("snippet", "is_autograds"),
    [
        ("loss = torch.zeros(3).sum()\n«loss.backward»()", True),
        ("«torch.autograd.backward»(x)", True),
        ("def f(loss): «loss.backward»()", True),
        ("class Net:\n    def backward(self): ...\ndef f(loss): «loss.backward»()", False),
        ("class Net:\n    def backward(self): ...\nloss = torch.zeros(3).sum()\n«loss.backward»()", True),
        ("def f(loss): «loss.forward»()", False),
        ("x = [1]\n«x.backward»()", False),
    ],
)
def test_knows_the_backward_of_autograd(snippet: str, is_autograds: bool) -> None:
    semantics, [function] = marked("import torch\n" + snippet)
    assert semantics.of(Methods).is_backward(function) == is_autograds


@pytest.mark.parametrize(
    ("snippet", "iterates"),
    [
        ("def f(loader): «iter(loader)»", True),
        ("def f(self): «iter(self.train_dl)»", True),
        ("def f(loader):\n    it = iter(loader)\n    «it»", True),
        ("from torch.utils.data import DataLoader\ndata = DataLoader(d)\n«iter(data)»", True),
        ("def f(rows): «iter(rows)»", False),
        ("loader = [1]\n«iter(loader)»", False),
        ("def f(loader, it):\n    if it is None:\n        it = iter(loader)\n    «it»", False),
        ("def f(self):\n    a, b = iter(self.a_loader), iter(self.b_loader)\n    «b»", True),
        ("def f(self):\n    [a, b] = (iter(self.a_loader), iter(self.b_loader))\n    «a»", True),
        ("def f(loader, rows):\n    a, b = iter(loader), iter(rows)\n    «b»", False),
        ("def f(loader, rows):\n    a, b = iter(rows), iter(loader)\n    a, b = b, a\n    «b»", False),
        ("def f(loader, rest):\n    a, b = iter(loader), *rest\n    «b»", False),
        ("def f(loader, rest):\n    *a, b = rest, iter(loader)\n    «a»", False),
        ("def f(loader):\n    a, b = iter(loader)\n    «b»", False),
        ("def f(loader, n):\n    a, b = iter(loader), iter(loader)\n    if n:\n        a = n.cursor()\n    «a»", False),
        ("class C:\n    def f(self, loader):\n        self.a, self.b = iter(loader), 1\n    def g(self): «self.a»", True),
        ("class C:\n    def f(self, loader):\n        self.a, self.b = iter(loader), 1\n    def g(self): «self.b»", False),
        ("«next(x)»", False),
    ],
)
def test_knows_iterators_over_loaders(snippet: str, iterates: bool) -> None:
    semantics, [node] = marked(snippet)
    assert semantics.of(Methods).iterates_over_loader(node) == iterates
