"""Changes of a detached tensor that is used again: of each snippet, whether the marked node makes one."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.aliasing.detached import DetachedAliases, DetachedChange

HEADER = "import torch\nfrom torch import nn\n"


def changes(snippet: str) -> list[DetachedChange[ast.expr]]:
    semantics, (node,) = marked(HEADER + snippet)
    return semantics.of(DetachedAliases).changes.get(node, [])


@pytest.mark.parametrize(
    ("body", "alias"),
    [
        ("out = x.sigmoid()\n    c = out.detach()\n    «c.zero_()»\n    return out", "out.detach()"),
        ("out = x.sigmoid()\n    c = out.detach()\n    «c[0]» = 1\n    return out", "out.detach()"),
        ("out = x.sigmoid()\n    c = out.detach()\n    «c» += 1\n    return out", "out.detach()"),
        ("out = x.sigmoid()\n    c = out.detach()\n    d = c.view(-1)\n    «d.zero_()»\n    return out", "out.detach()"),
        ("out = x.sigmoid()\n    c = out.data.numpy()\n    «c[0]» = 1\n    return out", "out.data.numpy()"),
        ("out = x.sigmoid()\n    «out.detach().numpy()[0]» = 1\n    return out", "out.detach().numpy()"),
        ("c = x.detach()\n    «c.zero_()»", "x.detach()"),
        ("c = self.w.detach()\n    «c.zero_()»\n    print(c)", "self.w.detach()"),
        (
            "out = x.sigmoid()\n    c = out.detach()\n    if x.sum():\n        out = x\n    «c.zero_()»\n    return out",
            "out.detach()",
        ),
        ("x = x.detach()\n    «x.zero_()»", "x.detach()"),
        (
            "layer = nn.Linear(3, 3)\n    w = layer.weight.data.cpu().numpy()\n    «w[0]» = 1\n"
            "    layer.bias.data = torch.from_numpy(w)\n    return layer",
            "layer.weight.data.cpu().numpy()",
        ),
        (
            "n = x.size(0)\n    c = x.cpu().detach().numpy()\n    «c[0]» = n\n    y = torch.from_numpy(c)\n"
            "    return y.cuda() if n else y",
            "x.cpu().detach().numpy()",
        ),
    ],
)
def test_the_tensor_is_used_again(body: str, alias: str) -> None:
    head = "class A(nn.Module):\n  def __init__(self):\n    self.w = nn.Parameter(torch.zeros(3))\n"
    head += "  def f(self, x: torch.Tensor):\n    "
    [found] = changes(head + body)
    assert ast.unparse(found.alias) == alias


@pytest.mark.parametrize(
    "body",
    [
        "out = x.sigmoid()\n    c = out.detach()\n    «c.zero_()»",
        "layer = nn.Linear(3, 3)\n    w = layer.weight.data.cpu().numpy()\n    «w[0]» = 1\n    w[1] = 2\n"
        "    layer.weight.data = torch.from_numpy(w).cuda()\n    return layer",
        "out = x.sigmoid()\n    c = out.detach().clone()\n    «c.zero_()»\n    return out",
        "out = x.sigmoid()\n    c = out.detach().float()\n    «c.zero_()»\n    return out",
        "out = x.sigmoid()\n    c = out.data\n    «c.zero_()»\n    return out",
        "out = x.sigmoid()\n    c = out.detach()\n    out = 1\n    «c.zero_()»\n    return out",
        "c = x\n    for y in unknown:\n        out = y.exp()\n        «c[0]» = 1\n        c = out.detach()\n        print(out)",
        "out = x.sigmoid()\n    c = out.detach()\n    «c.zero_()»\n    return out.shape",
        "out = x.sigmoid().cuda()\n    c = out.detach().cpu()\n    «c.zero_()»\n    return out",
        "x = x.to(device='cuda')\n    out = unknown(x)\n    c = out.detach().cpu().numpy()\n    «c[0]» = 1\n    return out",
        "n = x.size(0)\n    c = x.cpu().detach().numpy()\n    «c[0]» = n\n    return torch.from_numpy(c).cuda()",
        "with torch.no_grad():\n        c = w.detach()\n        «c.zero_()»\n        print(c)",
        "c = w.detach()\n    «c.zero_()»",
        "c = unknown.values()\n    «c.zero_()»\n    return unknown",
    ],
)
def test_it_is_not_or_that_is_not_known(body: str) -> None:
    assert not changes(f"w = nn.Parameter(torch.zeros(3))\ndef f_(x: torch.Tensor, unknown):\n    {body}")


def test_callers_that_pass_new_values_have_nothing_to_lose() -> None:
    snippet = "def f(x: torch.Tensor):\n    c = x.detach()\n    {}\ndef g(y):\n    f({})"
    assert changes(snippet.format("«c.zero_()»", "y"))
    assert not changes(snippet.format("«c.zero_()»", "torch.zeros(3)"))


@pytest.mark.parametrize(
    ("given", "is_shown"),
    [("y = net(x)\n    f(y)\n    return y", True), ("y = net(x)\n    y.sum().backward()\n    f(y)", False)],
)
def test_what_a_caller_goes_on_with(given: str, is_shown: bool) -> None:
    [found] = changes(f"def f(x: torch.Tensor):\n    c = x.detach()\n    «c.zero_()»\ndef g(net, x):\n    {given}")
    assert found.is_shown is is_shown


def test_nobody_is_seen_to_call() -> None:
    [found] = changes("def f(x: torch.Tensor):\n    c = x.detach()\n    «c.zero_()»")
    assert not found.is_shown
    [found] = changes("def f(x: torch.Tensor):\n    c = x.detach()\n    «c.zero_()»\n    return x")
    assert found.is_shown


def test_where_they_share_their_memory_on_the_cpu_only() -> None:
    snippet = "def f(x: torch.Tensor):\n    c = x.detach(){}\n    «c.zero_()»"
    assert [found.on_cpu for found in (*changes(snippet.format("")), *changes(snippet.format(".cpu()")))] == [False, True]


def test_what_has_a_name_and_what_has_none() -> None:
    [named] = changes("def f(x: torch.Tensor):\n    c = x.detach()\n    «c.zero_()»")
    [bare] = changes("def f(x: torch.Tensor):\n    «x.detach().numpy()[0]» = 1")
    assert (named.has_name, bare.has_name) == (True, False)


@pytest.mark.parametrize(
    ("made", "is_copied"),
    [
        ("x = x.cuda()\n    out = net(x)", True),
        ("x = x.cuda()\n    out = net(x, y.cuda())", True),
        ("x = x.cuda()\n    h = net(x)\n    out = net(h)", True),
        ("x = x.to(device)\n    out = net(x)", False),
        ("x = x.cuda() if flag else x\n    out = net(x)", False),
        ("if flag:\n        x = x.cuda()\n    out = net(x)", False),
        ("x = x.cuda()\n    out = net(x).cpu()", False),
        ("x = x.cuda()\n    out = net(x.cpu())", False),
        ("x = x.cuda()\n    out = net(x, y)", False),
        ("x = x.cuda()\n    out = net(3)", False),
    ],
)
def test_what_is_computed_on_the_gpu_is_copied_to_the_cpu(made: str, is_copied: bool) -> None:
    body = f"{made}\n    c = out.detach().cpu().numpy()\n    «c[0]» = 1\n    return out"
    assert (not changes(f"def f(x: torch.Tensor, y, net: nn.Linear, flag, device):\n    {body}")) is is_copied
