"""Functions that give nothing but what they make with autograd off."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics.summaries.shown.unrecorded import gives_unrecorded


def is_unrecorded(body: str, decorator: str = "") -> bool:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    [function] = ast.parse(f"{decorator}\ndef f(net, x, flag=None):\n{lines}\n").body
    assert isinstance(function, ast.FunctionDef)
    return gives_unrecorded(function)


@pytest.mark.parametrize(
    ("body", "decorator"),
    [
        ("return net(x)", "@torch.no_grad()"),
        ("return net(x), 3", "@inference_mode"),
        ("with torch.no_grad():\n    return net(x)", ""),
        ('"""Runs it."""\nnet.eval()\nwith torch.no_grad():\n    y = net(x)\nreturn y', ""),
        ("with torch.no_grad(), timed():\n    y = net(x)\n    z = y + 1\nreturn [y, (z, None)]", ""),
        ("with torch.inference_mode():\n    y = net(x)\n    if flag:\n        return y['out']\n    return y.logits", ""),
        ("if flag:\n    with torch.no_grad():\n        return net(x)\nwith torch.no_grad():\n    return net(x).sum()", ""),
    ],
)
def test_what_they_give_has_no_graph(body: str, decorator: str) -> None:
    assert is_unrecorded(body, decorator)


@pytest.mark.parametrize(
    ("body", "decorator"),
    [
        ("return net(x)", ""),
        ("return x", "@torch.no_grad()"),
        ("return net(x)", "@torch.enable_grad()"),
        ("with torch.no_grad():\n    return net(x)", "@maybe"),
        ("with torch.no_grad():\n    y = net(x)\nreturn net(y)", ""),
        ("with torch.no_grad():\n    y = net(x)\nreturn y + net.weight", ""),
        ("with torch.no_grad():\n    y = net(x)\ny = net(y)\nreturn y", ""),
        ("with torch.no_grad():\n    y = net(x)\ny += net.weight\nreturn y", ""),
        ("with torch.no_grad():\n    y = net(x)\nif flag:\n    return net(x)\nreturn y", ""),
        ("with torch.no_grad():\n    x = net(x)\nreturn x", ""),  # there may be no such block on the way
        ("with torch.no_grad():\n    return x", ""),
        ("with torch.no_grad():\n    return x['out']", ""),
        ("with torch.no_grad():\n    return net.out", ""),
        ("with torch.set_grad_enabled(flag):\n    return net(x)", ""),
        ("with torch.no_grad():\n    yield net(x)", ""),
        ("with torch.no_grad():\n    net(x)", ""),
    ],
)
def test_what_they_give_may_have_one(body: str, decorator: str) -> None:
    assert not is_unrecorded(body, decorator)
