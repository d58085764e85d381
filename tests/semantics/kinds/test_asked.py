"""What tests of the code say of a variable: whether the argument of ``ask(…)`` is a tensor there, or may be."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.kinds.asked import AskedTensors

HEAD = "import torch\nfrom torch import Tensor, nn\ndef f(x, y, other=[1]):\n    "


def asked(body: str) -> tuple[AskedTensors, ast.expr]:
    tree = ast.parse(HEAD + body)
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "ask")
    return AskedTensors(Semantics(tree)), call.args[0]


@pytest.mark.parametrize(
    "body",
    [
        "if torch.is_tensor(x): ask(x)",
        "if isinstance(x, torch.Tensor): ask(x)",
        "if isinstance(x, (Tensor, nn.Parameter)):\n        for i in y:\n            ask(x)",
        "if y and isinstance(x, Tensor): ask(x)",
        "if not isinstance(x, Tensor): pass\n    else: ask(x)",
        "if x is None or not torch.is_tensor(x): pass\n    else: ask(x)",
        "if isinstance(x, list): pass\n    elif torch.is_tensor(x): ask(x)",
        "return ask(x) if torch.is_tensor(x) else x",
        "return torch.is_tensor(x) and ask(x)",
        "return not torch.is_tensor(x) or ask(x)",
        "if torch.is_tensor(other): ask(other)",
        "if type(x) is Tensor: ask(x)",
        "if type(x) != Tensor: pass\n    else: ask(x)",
    ],
)
def test_found_to_be_a_tensor(body: str) -> None:
    tensors, node = asked(body)
    assert tensors.are_tensors(node)


@pytest.mark.parametrize(
    "body",
    [
        "ask(x)",
        "if torch.is_tensor(y): ask(x)",
        "if not torch.is_tensor(x): ask(x)",
        "if torch.is_tensor(x): pass\n    else: ask(x)",
        "if y or torch.is_tensor(x): ask(x)",
        "if isinstance(x, (Tensor, list)): ask(x)",
        "if isinstance(x, nn.Module): ask(x)",
        "if torch.is_tensor(x):\n        x = y\n        ask(x)",
        "if torch.is_tensor(x): pass\n    ask(x)",
        "return x if torch.is_tensor(x) else ask(x)",
        "return torch.is_tensor(x) or ask(x)",
        "return ask(x) and torch.is_tensor(x)",
        "if torch.is_tensor(x):\n        def g(x): return ask(x)",
        "if torch.is_tensor(x): ask(x[0])",
    ],
)
def test_not_found_to_be_a_tensor(body: str) -> None:
    tensors, node = asked(body)
    assert not tensors.are_tensors(node)


@pytest.mark.parametrize(
    ("body", "is_none"),
    [
        ("if torch.is_tensor(x): pass\n    else: ask(x)", True),
        ("if not isinstance(x, Tensor): ask(x)", True),
        ("if y and not torch.is_tensor(x): ask(x)", True),
        ("return x if torch.is_tensor(x) else ask(x)", True),
        ("return torch.is_tensor(x) or ask(x)", True),
        ("if isinstance(x, (list, Tensor)): return x\n    ask(x)", True),
        ("if type(x) is not Tensor: ask(x)", True),
        ("if type(x) == torch.Tensor: pass\n    else: ask(x)", True),
        ("if type(x) is torch.Tensor: ask(x)", False),
        ("if not isinstance(x, nn.Parameter): ask(x)", False),
        ("ask(x)\n    if isinstance(x, Tensor): return x", False),
        ("if y or not torch.is_tensor(x): ask(x)", False),
        ("if torch.is_tensor(x): ask(x)", False),
        ("if isinstance(x, list): pass\n    else: ask(x)", False),
        ("if not torch.is_tensor(x):\n        x = y\n        ask(x)", False),
    ],
)
def test_found_to_be_none(body: str, is_none: bool) -> None:
    tensors, node = asked(body)
    assert tensors.are_none(node) == is_none


@pytest.mark.parametrize(
    ("body", "is_read"),
    [
        ("flag = isinstance(x, Tensor)\n    return ask(x), flag", True),
        ("out = ask(x)\n    return out if isinstance(x, Tensor) else out.item()", True),
        ("if torch.is_tensor(x): print(x)\n    ask(x)", True),
        ("ask(x)", False),
        ("flag = isinstance(x, list)\n    ask(x)", False),
        ("if torch.is_tensor(x): return x\n    return ask(x)", False),
        ("if torch.is_tensor(x): x = y\n    return ask(x)", False),
        ("if not torch.is_tensor(x): ask(x)", False),
        ("flag = torch.is_tensor(x)\n    return x if flag else ask(x)", False),
        ("flag = torch.is_tensor(x)\n    return flag or ask(x)", False),
        ("assert not torch.is_tensor(x)\n    return ask(x)", False),
        ("flag = torch.is_tensor(y)\n    return ask(x)", False),
        ("x = y\n    flag = torch.is_tensor(x)\n    return ask(x)", False),
    ],
)
def test_read_whether_it_is_one_or_not(body: str, is_read: bool) -> None:
    tensors, node = asked(body)
    assert tensors.are_read_either_way(node) == is_read


@pytest.mark.parametrize(
    "body",
    [
        "if torch.is_tensor(x): return x\n    ask(x)",
        "if torch.is_tensor(x):\n        y()\n        raise TypeError\n    for i in y:\n        ask(x)",
        "if isinstance(x, list): ask(x)",
        "if isinstance(x, (list, dict)) and y: ask(x)",
        "if isinstance(x, list) or isinstance(x, dict): ask(x)",
        "for i in y:\n        if torch.is_tensor(x): continue\n        ask(x)",
    ],
)
def test_found_to_be_none_by_more_than_the_branch(body: str) -> None:
    tensors, node = asked(body)
    assert tensors.are_none(node)


@pytest.mark.parametrize(
    "body",
    [
        "if torch.is_tensor(x): y()\n    ask(x)",
        "if torch.is_tensor(x) and y: return x\n    ask(x)",
        "if torch.is_tensor(x): return x\n    x = y\n    ask(x)",
        "if isinstance(x, Own): ask(x)",
        "if isinstance(x, (list, Tensor)): ask(x)",
        "if isinstance(x, list): pass\n    else: ask(x)",
        "if isinstance(x, list) or y: ask(x)",
        "for i in y:\n        if torch.is_tensor(x): break\n    ask(x)",
        "ask(x)\n    if torch.is_tensor(x): return x",
    ],
)
def test_not_found_to_be_none(body: str) -> None:
    tensors, node = asked(body)
    assert not tensors.are_none(node)


def test_left_if_it_is_none() -> None:
    tensors, node = asked("if not torch.is_tensor(x): return x\n    ask(x)")
    assert tensors.are_tensors(node)
