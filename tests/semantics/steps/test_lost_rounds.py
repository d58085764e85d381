"""Accumulation that is undone: of each loop, the step whose gradients the marked call wipes in every round."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from marked import marked
from torchlint.semantics.steps.lost_rounds import LostAccumulation


def step_of(body: str) -> str | None:
    """The step that the marked call takes the gradients of."""
    text = "import torch\ndef train(model, loader, optimizer, other, n):\n    count = 0\n    for i, x in enumerate(loader):\n"
    lines = [f"        {line}" for line in dedent(body).strip().split("\n")]
    semantics, (call,) = marked(text + "\n".join(lines))
    assert isinstance(call, ast.Call)
    found = semantics.of(LostAccumulation).found.get(call)
    return ast.unparse(found.step) if found is not None else None


@pytest.mark.parametrize(
    "condition",
    ["(i + 1) % n == 0", "i % n == n - 1 or x is None", "not i % n", "count % n == 0", "is_last"],
)
def test_a_step_every_few_rounds_needs_the_gradients_of_all(condition: str) -> None:
    body = f"""
        «optimizer.zero_grad()»
        (model(x).mean() / n).backward()
        count += 1
        is_last = i % n == 0
        if {condition}:
            optimizer.step()
    """
    assert step_of(body) == "optimizer.step()"


@pytest.mark.parametrize("condition", ["x is None", "n % 2 == 0", "is_last", "n"])
def test_a_condition_that_counts_no_rounds_is_no_accumulation(condition: str) -> None:
    body = f"""
        «optimizer.zero_grad()»
        (model(x).mean() / n).backward()
        is_last = is_last and n > 3
        if {condition}:
            optimizer.step()
    """
    assert step_of(body) is None


@pytest.mark.parametrize(
    "last",
    [
        "if i % n == 0:\n    optimizer.step()\nelse:\n    other.step()",
        "if i % n == 0:\n    model(x).sum().backward()\n    optimizer.step()",
        "if i % n == 0:\n    optimizer.step()\nother.step()",
        "if x:\n    if i % n == 0:\n        optimizer.step()",
        "if i % 2:\n    if i % n == 0:\n        optimizer.step()",
        "if ready():\n    if i % n == 0:\n        optimizer.step()",
        "if n:\n    if i % n == 0:\n        optimizer.step()\n    optimizer.step()",
        "if n:\n    if i % n == 0:\n        optimizer.step()\nelse:\n    other.step()",
        "if i % n == 0:\n    optimizer.step()\n    other.step()",
        "if i % n == 0:\n    print(x.grad)\n    optimizer.step()",
        "if i % n == 0:\n    optimizer.step()\nother.zero_grad()",
        "if i % n == 0:\n    other.step()",
    ],
)
def test_where_more_is_done_nothing_is_known_to_be_lost(last: str) -> None:
    assert step_of("«optimizer.zero_grad()»\nmodel(x).mean().backward()\n" + last) is None


@pytest.mark.parametrize(
    "last",
    [
        "if n:\n    if i % n == 0:\n        optimizer.step()",
        "if not n:\n    optimizer.step()\nelif i % n == 0:\n    optimizer.step()",
        "if i % n == 0:\n    if n > 3:\n        optimizer.step()\n    else:\n        optimizer.step()",
        "if n > 3:\n    if i % n == 0:\n        optimizer.step()\nelse:\n    if i % n == 0:\n        optimizer.step()",
        "if n > 3:\n    if i % n == 0:\n        optimizer.step()\nelse:\n    optimizer.step()",
    ],
)
def test_other_conditions_may_choose_between_steps(last: str) -> None:
    assert step_of("«optimizer.zero_grad()»\nmodel(x).mean().backward()\n" + last) == "optimizer.step()"


def test_the_rounds_of_a_step_may_be_those_of_a_branch() -> None:
    body = """
        if n > 3:
            «optimizer.zero_grad()»
        if n > 3:
            model(x).mean().backward()
            if i % n == 0:
                optimizer.step()
        else:
            model(x).mean().backward()
            optimizer.step()
    """
    assert step_of(body) == "optimizer.step()"
    assert step_of(body.replace("n > 3", "n < 3", 1)) is None
    assert step_of(body.replace(".backward()", "", 1)) is None


def test_a_call_behind_the_step_comes_in_every_round_too() -> None:
    body = """
        model(x).mean().backward()
        if i % n == 0:
            optimizer.step()
        «optimizer.zero_grad()»
    """
    assert step_of(body) == "optimizer.step()"
    assert step_of(body.replace("        «", "            «")) is None


@pytest.mark.parametrize("skipping", ["(i + 1) % n != 0", "i % n", "count < n", "left > 1"])
def test_rounds_may_pass_the_step_by(skipping: str) -> None:
    body = f"""
        «optimizer.zero_grad()»
        model(x).mean().backward()
        count += 1
        left -= 1
        if {skipping}:
            continue
        optimizer.step()
        print(x.grad.norm())
        count = left = 0
    """
    assert step_of(body) == "optimizer.step()"


@pytest.mark.parametrize(
    "body",
    [
        "«optimizer.zero_grad()»\nif i % n:\n    continue\nmodel(x).mean().backward()\noptimizer.step()",
        "model(x).mean().backward()\nif i % n:\n    continue\noptimizer.step()\n«optimizer.zero_grad()»",
        "«optimizer.zero_grad()»\nmodel(x).mean().backward()\nif x is None:\n    continue\noptimizer.step()",
        "«optimizer.zero_grad()»\nmodel(x).mean().backward()\nkeep(x.grad)\nif i % n:\n    continue\noptimizer.step()",
        "«optimizer.zero_grad()»\nmodel(x).mean().backward()\ncount += 1\nif count < n:\n    continue\noptimizer.step()",
    ],
)
def test_what_is_no_accumulation_is_left_alone(body: str) -> None:
    assert step_of(body) is None


def test_a_count_may_start_again() -> None:
    body = """
        «optimizer.zero_grad()»
        model(x).mean().backward()
        count += 1
        if count == n:
            optimizer.step()
            count = 0
    """
    assert step_of(body) == "optimizer.step()"
    assert step_of(body.replace("count = 0", "print(count)")) is None
