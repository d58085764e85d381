"""Which assignments to a tensor's ``.data`` can be copies into the tensor."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.data.rebinds import DataRebinds, Rebind

HEADER = "import torch\nfrom torch import nn\n"


def rebind(statement: str) -> Rebind[ast.expr] | None:
    """What is assigned to the marked ``.data`` of a statement."""
    semantics, (node,) = marked(f"{HEADER}def f(w: nn.Parameter, v: torch.Tensor, x):\n    {statement}")
    assert isinstance(node, ast.Attribute)
    return semantics.of(DataRebinds).all.get(node)


@pytest.mark.parametrize(
    ("statement", "copied"),
    [
        ("«w.data» = v", "v"),
        ("«w.data» = torch.zeros(3)", "torch.zeros(3)"),
        ("«w.data» = w.data * 2", "w.data * 2"),
        ("«w.data» = w.data.clamp(0, 1)", "w.data.clamp(0, 1)"),
        ("«w.data» = v.half()", "v.half()"),
        ("print(w.data)\n    «w.data» = v", "v"),
        ("v.data = w.data\n    «w.data» = v", "v"),
        ("old = v.data\n    «w.data» = v", "v"),
    ],
)
def test_copies(statement: str, copied: str) -> None:
    found = rebind(statement)
    assert found is not None and found.copied is not None and found.initialiser is None
    assert ast.unparse(found.copied) == copied


@pytest.mark.parametrize(
    "statement",
    [
        "«w.data» = w.data.half()",
        "«w.data» = w.data[0]",
        "«w.data» = w.data.T",
        "«w.data» = v = x",
        "«w.data», v = x",
        "«w.data» @= v",
        "old = w.data\n    «w.data» = v",
        "old = [w.detach()]\n    «w.data» = v",
        "x.append(w.data)\n    «w.data» = v",
        "old = {1: w.data if x else None}\n    «w.data» = v",
    ],
)
def test_no_copies(statement: str) -> None:
    found = rebind(statement)
    assert found is not None and found.copied is None and found.initialiser is None


@pytest.mark.parametrize("value", ["nn.init.normal_(w.data)", "nn.init.normal_(w, 0, 1)"])
def test_initialisers_do_it_all(value: str) -> None:
    found = rebind(f"«w.data» = {value}")
    assert found is not None and found.initialiser is not None and found.copied is None
    assert ast.unparse(found.initialiser) == value


def test_the_initialiser_of_another_tensor_does_not() -> None:
    found = rebind("«w.data» = nn.init.normal_(v)")
    assert found is not None and found.initialiser is None and found.copied is not None


@pytest.mark.parametrize(
    ("value", "reads"),
    [("v.data", ["v.data"]), ("v.data + w.data", ["v.data", "w.data"]), ("g(v.data)", []), ("v.data.cpu()", [])],
)
def test_data_that_a_copy_does_not_need(value: str, reads: list[str]) -> None:
    found = rebind(f"«w.data» = {value}")
    assert found is not None
    assert [ast.unparse(read) for read in found.reads] == reads


@pytest.mark.parametrize("statement", ["print(«w.data»)", "«w.data» += 1", "«x.data» = v.shape"])
def test_what_is_no_assignment_to_a_tensor(statement: str) -> None:
    assert rebind(statement) is None


@pytest.mark.parametrize(
    "statement",
    [
        "«w.data» = w.data.half()",
        "«w.data» = w.data.cuda()",
        "«w.data» = w.data.half().cuda()",
        "«w.data» = w.data.to('cuda', torch.float16)",
        "«w.data» = w.data.to(torch.bfloat16)",
        "«w.data» = w.data.to(dtype=torch.float16).contiguous()",
        "«w.data» = w.detach().float()",
        "«w.data» = w.float()",
        "«w.data» = w.data.type(torch.float16)",
        "y = w.data.view(3)\n    y = nn.functional.interpolate(y, 4)\n    «w.data» = y[0].contiguous()",
        "def init(m): «m.bias.data» = torch.zeros(3)",
        "class M(nn.Module):\n        def __init__(self): self.a = nn.Linear(2, 2); «self.a.bias.data» = torch.zeros(2)",
        "class M(nn.Module):\n        def __init__(self): «self.a.weight.data» = self.b.weight.T.clone()",
        "class M(nn.Module):\n        def __init__(self): self.a = nn.Parameter(x); «self.a.data» = self.a / self.a.norm()",
        "from other import unit\n    «w.data» = unit(w, 3)",
        "from other import unit\n    «w.data» = unit(w.data.T).T",
        "with torch.no_grad(): «w.data» = v",
        "class M(nn.Module):\n        def __init__(self, n): «self.a.bias.data» = torch.Tensor(n)",
        "class M(nn.Module):\n        def __init__(self): «self.a.bias.data» = torch.tensor(weights)",
        "with torch.no_grad():\n        «w.data» = w.data.permute(2, 3, 1, 0)",
    ],
)
def test_is_meant(statement: str) -> None:
    found = rebind(statement)
    assert found is not None and found.is_meant


@pytest.mark.parametrize(
    "statement",
    [
        "«w.data» = v.half()",
        "«w.data» = v.cuda()",
        "«w.data» = w.data.type_as(v)",
        "«w.data» = w.data.clone()",
        "«w.data» = w.data * 2",
        "«w.data» = w.data.view(3)",
        "«w.data» = torch.zeros(3)",
        "«w.data» = nn.functional.interpolate(v, 4)",
        "def init(m): «m.bias.data» = v",
        "def init(m): «m.bias.data» = torch.from_numpy(v)",
        "def step(m): «m.bias.data» = torch.zeros(3)",
        "from other import unit\n    «w.data» = unit(v)",
        "def unit(x): return x / x.norm()\n    «w.data» = unit(w)",
        "class M(nn.Module):\n        def __init__(self): self.a = nn.Parameter(x)\n"
        "        def step(self): «self.a.data» = self.a / self.a.norm()",
        "class M(nn.Module):\n        def __init__(self, v): «self.a.weight.data» = v",
        "class M(nn.Module):\n        def __init__(self, weights): «self.a.weight.data» = torch.Tensor(weights)",
        "v.sum().backward()\n    with torch.no_grad(): «w.data» = v",
        "«w.data» = w.data.permute(2, 3, 1, 0)",
    ],
)
def test_may_be_an_oversight(statement: str) -> None:
    found = rebind(statement)
    assert found is not None and not found.is_meant


def test_does_not_copy_what_was_given_another_size() -> None:
    found = rebind("y = w.data.view(3)\n    y = nn.functional.interpolate(y, 4)\n    «w.data» = y[0]")
    assert found is not None and found.copied is None
