"""Tensors that a forward makes on no device that is said: each marked call makes one, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.devices.placeless import PlacelessTensors

CLASS = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def {method}(self, x: torch.Tensor, y, flag):
        {body}
"""


def placeless(body: str, method: str = "forward") -> list[tuple[str, str | None]]:
    """What the marked tensors meet, and the input that is known to be a tensor."""
    semantics, nodes = marked(CLASS.format(method=method, body=body.replace("\n", "\n        ")))
    found = semantics.of(PlacelessTensors).found
    assert sorted(found, key=lambda call: call.lineno) == nodes
    return [(ast.unparse(each.other), ast.unparse(each.known) if each.known else None) for each in found.values()]


@pytest.mark.parametrize(
    ("body", "met"),
    [
        ("return x + «torch.zeros(2)»", ("x", "x")),
        ("mask = «torch.ones(2, 2)»\nreturn x * mask", ("x", "x")),
        ("steps = «torch.arange(4)»\nreturn x * torch.exp(-steps)", ("x", "x")),
        ("return y + «torch.zeros(x.shape)»", ("y", "y")),
        ("t = «torch.arange(4)»[None]\nreturn torch.cat([x, t])", ("x", "x")),
        ("return self.fc(x) * «torch.tensor([1.0, 2.0])»", ("self.fc(x)", "x")),
        ("return torch.nn.functional.cross_entropy(x, 2 * «torch.arange(2)»)", ("x", "x")),
        ("z = x.relu()\nreturn z @ «torch.eye(2)»", ("z", None)),
    ],
)
def test_what_meets_an_input(body: str, met: tuple[str, str | None]) -> None:
    assert placeless(body) == [met]


@pytest.mark.parametrize(
    "body",
    [
        "return x + torch.zeros(2, device=y)",
        "return x + torch.zeros(2).to(y)",
        "t = torch.zeros(2)\nt = t.cuda()\nreturn x + t",
        "return x + torch.zeros(2, **flag)",
        "return x + torch.tensor(2.0)",
        "a = torch.tensor([x[i] for i in y])\nb = torch.tensor([x[i] for i in flag])\nreturn torch.cat([a, b])",
        "return torch.zeros(len(y)) + torch.ones(x.shape[0])",
        "return x[torch.arange(2)]",
        "if x.is_cuda:\n    t = torch.zeros(2).cuda()\nelse:\n    t = torch.zeros(2)\nreturn x + t",
        "t = torch.zeros(2)\nu = torch.ones(2) - t.expand_as(x)\nif x.is_cuda:\n    u = u.cuda()\nreturn u * x",
        "with torch.device(y):\n    return x + torch.zeros(2)",
        "return torch.zeros(2), x",
        "return x + torch.zeros(())",
        "return torch.zeros(2) + torch.ones(2)",
        "return x + torch.zeros(2), x.numpy()",
        "rows = torch.where(x > 0)[0]\nreturn x + torch.zeros(2), list(rows.numpy())",
        "t = torch.zeros(2)\nreturn torch.cat([t, x]).to(y)",
        "t = torch.zeros(2)\nif flag:\n    t = torch.cat((t, x), 0)\nt = t.to(y)\nreturn t",
    ],
)
def test_what_is_somewhere_or_meets_nothing(body: str) -> None:
    assert placeless(body) == []


def test_an_input_that_may_be_none_has_no_device_for_certain() -> None:
    snippet = CLASS.replace("x: torch.Tensor, y, flag", "x: torch.Tensor, z: torch.Tensor = None")
    semantics, nodes = marked(snippet.format(method="forward", body="return z + «torch.zeros(2)», «torch.ones(2)» + z * x"))
    found = semantics.of(PlacelessTensors).found
    assert list(found) == nodes
    assert [each.known and ast.unparse(each.known) for each in found.values()] == [None, "x"]


def test_methods_that_forward_calls() -> None:
    snippet = CLASS.format(method="forward", body="return self.mask(x)\n\n    def mask(self, x: torch.Tensor):\n        {}")
    semantics, nodes = marked(snippet.format("return x + «torch.zeros(2)»"))
    assert list(semantics.of(PlacelessTensors).found) == nodes
    assert placeless("return x + torch.zeros(2)", "mask") == []


def test_other_methods_and_defaults() -> None:
    assert placeless("return x + torch.zeros(2)", "reset") == []
    assert placeless("torch.set_default_device(y)\nreturn x + torch.zeros(2)") == []


def test_a_parameter_that_is_a_number_by_default() -> None:
    snippet = CLASS.format(
        method="forward", body="return self.mix(x)\n\n    def mix(self, x: torch.Tensor, w: torch.Tensor{}):\n        {}"
    )
    semantics, _ = marked(snippet.format(" = 0.5", "return x, torch.zeros(2) < w"))
    assert not semantics.of(PlacelessTensors).found
    semantics, nodes = marked(snippet.format("", "return x, «torch.zeros(2)» < w"))
    assert list(semantics.of(PlacelessTensors).found) == nodes


@pytest.mark.parametrize(
    "array", ["x.cpu().numpy()", "x.to('cpu').numpy()", "self.y.numpy()", "x.cpu()[0].numpy()", "y.numpy(1)"]
)
def test_arrays_that_are_not_of_an_input_where_it_is(array: str) -> None:
    semantics, nodes = marked(CLASS.format(method="forward", body=f"return x + «torch.zeros(2)», {array}"))
    assert list(semantics.of(PlacelessTensors).found) == nodes


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("t = torch.ones(2, device=x.device)\nreturn x * t + «torch.zeros(2)»", 1),
        ("t = torch.ones(2).to(x.device)\nn = 0.0\nif flag:\n    n = «torch.rand(2)»\nreturn x * t + n", 1),
        ("return x + torch.zeros(2), torch.ones(2, device=flag)", 0),
        ("t = torch.ones(2, device=x.device)\nreturn t, x.to('cpu') + torch.zeros(2)", 0),
    ],
)
def test_other_methods_that_look_after_devices(body: str, count: int) -> None:
    assert len(placeless(body, "sample")) == count


def test_functions_that_look_after_the_device_of_what_is_met() -> None:
    snippet = "import torch\ndef f(x: torch.Tensor, y: torch.Tensor):\n    t = torch.ones(2, device=x.device)\n    return t, {}"
    for text in ("x + «torch.zeros(2)»", "y + torch.zeros(2)"):
        semantics, nodes = marked(snippet.format(text))
        assert list(semantics.of(PlacelessTensors).found) == nodes


HELPED = """\
import torch
from torch import nn

class Drop(nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = torch.linspace(0, 1, 9)

    def rate(self, x: torch.Tensor):
        return {given}

    def forward(self, x: torch.Tensor):
        {body}
"""


@pytest.mark.parametrize(
    ("given", "body", "count"),
    [
        ("self.rates / 2", "return torch.rand(9) < self.rate(x)", 0),
        ("torch.sqrt(self.rates)", "rate = self.rate(x)\n        return torch.rand(9) < rate", 0),
        ("self.rates * x", "return «torch.rand(9)» < self.rate(x)", 1),
        ("self.rates / 2", "return «torch.rand(9)» < x * self.rate(x)", 1),
        ("self.rates / 2", "return torch.rand(9) < self.rates", 0),
    ],
)
def test_what_a_method_gives_may_stay_on_the_cpu(given: str, body: str, count: int) -> None:
    semantics, nodes = marked(HELPED.format(given=given, body=body))
    assert list(semantics.of(PlacelessTensors).found) == nodes
    assert len(nodes) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("keep = (torch.rand(2) < x).float()\nkeep = keep.to(y)\nreturn keep", 0),
        ("keep = (torch.rand(2) < x).float().unsqueeze(0)\nreturn keep.to(y)", 0),
        ("keep = (torch.rand(2) < x).float().to(y)\nreturn keep", 0),
        ("keep = («torch.rand(2)» < x).float()\nreturn keep, y.to(x)", 1),
    ],
)
def test_a_result_that_is_moved_was_on_the_cpu(body: str, count: int) -> None:
    assert len(placeless(body)) == count


NET = """\
import torch
from torch import nn
class N(nn.Module):
    def forward(self, {}):
        return {} + «torch.zeros(2)»
"""
OPTIONAL = "m: torch.Tensor = None"


@pytest.mark.parametrize(
    ("given", "met", "more", "expected"),
    [
        ("x: torch.Tensor", "x", "", False),
        ("x: torch.Tensor", "x", "net = N().cuda()", True),
        ("x: torch.Tensor", "x", "net.to(device)", True),
        ("x: torch.Tensor", "x", "x = net(x).cpu()", False),
        (OPTIONAL, "m", "net = N().cuda()", False),
        (f"x: torch.Tensor, {OPTIONAL}", "m * x", "net = N().cuda()", True),
    ],
)
def test_code_that_speaks_of_no_other_device_stays_on_the_cpu(given: str, met: str, more: str, expected: bool) -> None:
    semantics, (call,) = marked(NET.format(given, met) + more)
    assert isinstance(call, ast.Call)
    assert semantics.of(PlacelessTensors).found[call].leaves_cpu is expected
