"""Tensors of loops that linger behind them: of each snippet, by the marked name that a loop binds."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.memory.lifetimes import Lifetimes, Lingering

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nmodel = nn.Linear(2, 2)\n"


def lingering(body: str) -> Lingering[ast.AST] | None:
    """What is known of the marked name of a function's body."""
    indented = body.replace("\n", "\n    ")
    semantics, (node,) = marked(f"{HEAD}def f(loader, head: nn.Linear):\n    {indented}")
    assert isinstance(node, ast.Name)
    return semantics.of(Lifetimes).lingering.get(node)


def in_loop(statement: str, behind: str = "model(torch.stack(outs))") -> Lingering[ast.AST] | None:
    """What is known of ``out``, which a loop computes for this statement, with another one behind the loop."""
    loop = f"for x in loader:\n        «out» = model(x)\n        {statement}"
    return lingering(f"with torch.no_grad():\n    outs = []\n    {loop}\n    {behind}")


@pytest.mark.parametrize(
    ("statement", "last"),
    [
        ("outs.append(out.sum())", "outs.append(out.sum())"),
        ("outs.append(F.relu(out))", "outs.append(F.relu(out))"),
        ("outs.append(sum(k * out.sum() for k in range(2)))", "outs.append(sum((k * out.sum() for k in range(2))))"),
        ("s = out * 2\n        outs.append(s.sum())", "s = out * 2"),
        ("outs.append(out.sum())\n        continue", "outs.append(out.sum())"),
    ],
)
def test_the_last_one_is_still_there(statement: str, last: str) -> None:
    found = in_loop(statement)
    assert found is not None
    assert found.last_use is not None
    assert (ast.unparse(found.later), ast.unparse(found.last_use)) == ("model(torch.stack(outs))", last)


@pytest.mark.parametrize(
    "behind", ["head(torch.stack(outs))", "F.relu(torch.stack(outs))", "torch.matmul(torch.stack(outs), torch.stack(outs))"]
)
def test_what_needs_memory_behind_the_loop(behind: str) -> None:
    found = in_loop("outs.append(out.sum())", behind)
    assert found is not None
    assert ast.unparse(found.later) == behind


def test_results_with_another_name() -> None:
    found = in_loop("outs.append(out.sum())", "r = torch.stack(outs)\n    model(r)")
    assert found is not None
    assert ast.unparse(found.later) == "model(r)"


@pytest.mark.parametrize("addition", ["total += out.sum()", "total = total + out.sum()"])
def test_what_is_summed_up(addition: str) -> None:
    loop = f"for x in loader:\n        «out» = model(x)\n        {addition}"
    assert lingering(f"total = 0\nwith torch.no_grad():\n    {loop}\n    model(total)") is not None
    assert lingering(f"total = 0\nif loader:\n    {loop}\n    model(total)") is None  # the graph holds it


def test_a_round_that_ends_with_it_has_no_place_for_a_deletion() -> None:
    found = lingering(
        "total = 0\nwith torch.no_grad():\n    while True:\n        «out» = model(loader)\n        total += out.sum()\n"
        "        if total > 1:\n            break\n    model(total)"
    )
    assert found is not None
    assert found.last_use is not None


@pytest.mark.parametrize(
    "statement",
    [
        "outs.append(out)",
        "outs.append(k * out for k in range(2))",  # which is gone through behind the loop
        "late = (k * out for k in range(2))\n        outs.append(out.sum())",
        "outs.append((out, 1))",
        "outs.append(out.view(-1))",
        "outs.append(out[0])",
        "outs.append(out.cpu())",
        "outs.append(torch.squeeze(out))",
        "outs += [out]",
        "outs += [row for row in out]",
        "outs.extend([*out])",
        "for row in out:\n            outs.append(row)",
        "outs.append(lambda: out)",
        "y = out if x else x\n        outs.append(y.sum())",
    ],
)
def test_what_is_kept_anyway(statement: str) -> None:
    assert in_loop(statement) is None


@pytest.mark.parametrize(
    ("statement", "behind"),
    [
        ("outs.append(out.sum())\n        del out", "model(torch.stack(outs))"),
        ("outs.append(out.sum())", "del out\n    model(torch.stack(outs))"),
        ("outs.append(out.sum())", "out = None\n    model(torch.stack(outs))"),
    ],
)
def test_what_is_gone_in_time(statement: str, behind: str) -> None:
    assert in_loop(statement, behind) is None


@pytest.mark.parametrize(
    "behind", ["print(outs)", "torch.stack(outs)", "model(loader)", "print(out)\n    model(torch.stack(outs))"]
)
def test_nothing_comes_that_needs_the_memory_or_the_tensor_is_needed_too(behind: str) -> None:
    assert in_loop("outs.append(out.sum())", behind) is None


@pytest.mark.parametrize("value", ["nn.MSELoss()(x, x)", "x.sum()", "len(x)", "model(x).item()"])
def test_values_that_are_small(value: str) -> None:
    loop = f"for x in loader:\n        «out» = {value}\n        total += out.sum()"
    assert lingering(f"total = 0\nwith torch.no_grad():\n    {loop}\n    model(total)") is None


def test_functions_that_only_the_text_names() -> None:
    snippet = "result = 0\nfor x in loader:\n    «mid» = {}(x)\n    result += second(mid)\nreturn third(result)"
    assert lingering(snippet.format("first")) is not None
    assert lingering(snippet.format("len")) is None
